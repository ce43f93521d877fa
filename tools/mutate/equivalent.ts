/** Mutants that behave like the original, by name, each with the reason. */
export const equivalent: Readonly<Record<string, string>> = {}
