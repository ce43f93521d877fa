import { invalid } from '../../../kernel/failure.ts'
import { nameGlob } from '../../../kernel/glob.ts'

/** Text to search for in code, and in which files. */
export type CodeQuery = {
  /** One line; empty if the query has filters only, which then finds every file that they select. */
  readonly text: string
  /** Patterns of whole paths in lower case, all of which must match; `*` matches any text. */
  readonly like: readonly string[]
  /** Whether all patterns match a path. */
  readonly accepts: (path: string) => boolean
}

/** Maximum filters of one search: each found path is compared with all. */
const maxFilters = 20

/** Turns the value of each filter into a pattern of whole paths. */
const filters: Readonly<Record<string, (value: string) => string>> = {
  filename: (value) => `*${value}`,
  path: (value) => `*${value}*`,
  extension: (value) => `*.${value.replace(/^\./, '')}`,
}

/**
 * Parses `text filename:readme* path:docs/ extension:md`: words with these prefixes, in any case, are filters; the
 * other words, joined by single blanks, are the text. Throws `invalid` for too many filters.
 */
export function parseCodeQuery(search: string): CodeQuery {
  const words: string[] = []
  const like: string[] = []
  for (const word of search.trim().split(/\s+/)) {
    const [, name, value] = /^(filename|path|extension):(.+)$/.exec(word) ?? []
    if (name === undefined || value === undefined) words.push(word)
    else like.push(filters[name]!(value).toLowerCase().replaceAll(/\*+/g, '*'))
  }
  if (like.length > maxFilters) throw invalid(`search has too many filters of files (at most ${maxFilters})`)
  const globs = like.map(nameGlob)
  const accepts = (path: string) => {
    const lower = path.toLowerCase()
    return globs.every((matches) => matches(lower))
  }
  return { text: words.join(' '), like, accepts }
}
