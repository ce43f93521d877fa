import { emptyTreeOid } from '../../../git/format/oid.ts'
import type { PatchLimits } from '../../../git/history/patch-reader.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { findLine, type Place, type WantedLine } from '../../discussion/index.ts'
import { changedFiles } from './changed-line.ts'

/**
 * The requested position, or `undefined` if the diff of the commit against its first parent does not show it. Costs as
 * much as the diff of the commit.
 */
export async function findPlace(
  repo: Repository,
  commit: Commit,
  wanted: WantedLine,
  limits: PatchLimits,
): Promise<Place | undefined> {
  const base = commit.parents[0] ?? emptyTreeOid
  if (wanted.head_sha !== commit.oid || wanted.base_sha !== base || wanted.start_sha !== base) return undefined
  return findLine(await changedFiles(repo, commit, limits), wanted)
}
