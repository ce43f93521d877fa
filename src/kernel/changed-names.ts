import { isDeepStrictEqual } from 'node:util'

type Values = Readonly<Record<string, unknown>>

/** Names of the given values that differ from those before. An absent one changes nothing. */
export const changedNames = (before: Values, given: Values): string[] =>
  Object.keys(given).filter((name) => given[name] !== undefined && !isDeepStrictEqual(given[name], before[name]))
