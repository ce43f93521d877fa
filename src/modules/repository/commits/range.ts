import type { Oid } from '../../../git/format/oid.ts'
import { mergeBases } from '../../../git/history/ancestry.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { findCommitId } from './revision.ts'

/** Whose histories are meant, and whose are left out. */
export type Range = { readonly from: readonly Oid[]; readonly excluding: readonly Oid[] }

/**
 * Reads `a`, `a..b` (of b, not of a) and `a...b` (of either, not of both); a side left empty is `unnamed`. `undefined` when
 * some name stands for nothing. One round trip.
 */
export async function findRange(repo: Repository, text: string, unnamed: string): Promise<Range | undefined> {
  // No ref holds two dots, so there is nothing to mistake.
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
