/** The lines of a text, each with its line break; the last may have none. */
export const linesIn = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []
