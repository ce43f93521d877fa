/** The lines of a text, each with its line break; the last may have none. */
export const linesIn = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? []

/** Text as it is stored: bytes that are no UTF-8, and characters that the database cannot store, become replacement characters. */
export const storable = (text: Buffer): string => text.toString('utf8').replaceAll('\0', '\uFFFD')
