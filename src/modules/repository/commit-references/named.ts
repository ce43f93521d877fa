import { scanReferences } from '../../../markdown/references.ts'
import { escaped, maxReferences, prose } from '../../discussion/index.ts'

/** A commit that a text names. */
export type NamedCommit = {
  /** Path of its project, as written. Without a slash, the project is in the group of the text's project. Absent for the text's project. */
  readonly path?: string
  /** At least seven digits. */
  readonly hash: string
}

/** Whether a text may name a commit, as a regular expression of PostgreSQL. */
export const mayNameCommit = '[0-9a-f]{7}'

/** The page of a commit. */
const linked = (siteUrl: string): RegExp =>
  new RegExp(String.raw`${escaped(siteUrl)}/((?:[\w.-]{1,255}/){1,20})-/commit/([0-9a-f]{7,40})(?!\w)`, 'g')

/** The commits that a text names, outside of code, without duplicates: by hash, after a path and `@`, or by URL. At most 100. */
export function namedCommits(text: string, siteUrl: string): NamedCommit[] {
  const shown = prose(text)
  const found = new Map<string, NamedCommit>()
  const add = (path: string | undefined, hash: string): void => {
    const key = `${path?.toLowerCase() ?? ''} ${hash}`
    if (found.size < maxReferences && !found.has(key)) found.set(key, { ...(path !== undefined && { path }), hash })
  }
  for (const [, path, hash] of shown.matchAll(linked(siteUrl))) add(path!.slice(0, -1), hash!)
  for (const { target } of scanReferences(shown))
    if (target.kind === 'commit' && target.name.length <= 40) add(target.path, target.name)
  return [...found.values()]
}
