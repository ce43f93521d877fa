import type { Oid } from '../../../git/format/oid.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { type Commit, readCommitsWithin } from '../../../git/objects/commits.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import type { MergingRow } from './queries.ts'

/** Maximum commits that are read for a message; the oldest ones. */
const readForMessage = 100

/** Maximum characters of their messages, in total: two of the largest that a commit can have. */
const maxMessageCharacters = 16 * 1024 * 1024

/** The number of commits that the source has and the target has not, and the first of them, oldest first. */
export type SourceCommits = { readonly count: number; readonly oldest: () => Promise<readonly Commit[]> }

export async function sourceCommits(
  repo: Repository,
  row: Pick<MergingRow, 'commits'>,
  { source, target }: { readonly source: Oid; readonly target: Oid },
): Promise<SourceCommits> {
  const range = { from: [source], excluding: [target] }
  const oids = await listCommitIds(repo, range, { order: 'topo', limit: row.commits + 1 })
  const first = oids.reverse().slice(0, readForMessage)
  return {
    count: oids.length,
    oldest: async () => (await readCommitsWithin(repo, first, maxMessageCharacters)).commits,
  }
}
