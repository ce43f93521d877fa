/** Classes of errors about values: data exceptions, integrity constraints, and texts that are too large for an index. */
const ofValues = /^(22|23|54)/

/** A sentence about an error of the database that values of an archive caused; undefined for other errors. */
export function databaseRefusal(error: unknown): string | undefined {
  const { code, constraint, table } = error as { code?: unknown; constraint?: string; table?: string }
  if (typeof code !== 'string' || code.length !== 5 || !ofValues.test(code)) return undefined
  // References are ids of ours: a user was deleted meanwhile, and another attempt finds it gone.
  if (code === '23503') return undefined
  const where = [table, constraint].filter((name) => name !== undefined).join(', ')
  return `A record of the archive contradicts the rules of the database${where === '' ? '' : ` (${where})`}`
}
