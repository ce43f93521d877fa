/** Text that PostgreSQL stores: NUL and lone surrogates become replacement characters. */
export const storable = (text: string): string => text.replaceAll('\0', '\ufffd').toWellFormed()
