import type { Oid } from '../../../git/format/oid.ts'
import { mergeBases } from '../../../git/history/ancestry.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { findCommitId } from './revision.ts'

/** Commits whose history is included and excluded. */
export type Range = { readonly from: readonly Oid[]; readonly excluding: readonly Oid[] }

/**
 * Parses `a`, `a..b` (in b, not in a) and `a...b` (in one, not in both); an empty side means `unnamed`. `undefined` if
 * a name does not exist. One round trip.
 */
export async function findRange(repo: Repository, text: string, unnamed: string): Promise<Range | undefined> {
  // Refs contain no two dots, so this is unambiguous.
  const parts = /^(.*?)(\.{2,3})(.*)$/s.exec(text)
  if (!parts) {
    const commit = await findCommitId(repo, text)
    return commit && { from: [commit], excluding: [] }
  }
  const [left, right] = await Promise.all([
    findCommitId(repo, parts[1] || unnamed),
    findCommitId(repo, parts[3] || unnamed),
  ])
  if (!left || !right) return undefined
  if (parts[2] === '..') return { from: [right], excluding: [left] }
  return { from: [left, right], excluding: await mergeBases(repo, left, right) }
}
