import { matchesPattern } from '../../pushes/index.ts'

/** What is searched for in code, and in which files. */
export type CodeQuery = {
  /** One line; empty when there were filters only. */
  readonly text: string
  /** Patterns of whole paths, in lower case, all of which must fit: `*` stands for any text. */
  readonly like: readonly string[]
}

/** How each filter reads as a pattern of whole paths. */
const filters: Readonly<Record<string, (value: string) => string>> = {
  filename: (value) => `*${value}`,
  path: (value) => `*${value}*`,
  extension: (value) => `*.${value.replace(/^\./, '')}`,
}

/**
 * `text filename:readme* path:docs/ extension:md`: words that begin so are filters, in any case, and the others are the text,
 * blanks between them squeezed.
 */
export function parseCodeQuery(search: string): CodeQuery {
  const words: string[] = []
  const like: string[] = []
  for (const word of search.trim().split(/\s+/)) {
    const [, name, value] = /^(filename|path|extension):(.+)$/.exec(word) ?? []
    if (name === undefined || value === undefined) words.push(word)
    else like.push(filters[name]!(value).toLowerCase().replaceAll(/\*+/g, '*'))
  }
  return { text: words.join(' '), like }
}

export const fits = ({ like }: CodeQuery, path: string): boolean => {
  const lower = path.toLowerCase()
  return like.every((pattern) => matchesPattern(pattern, lower))
}
