import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { mergeCommits } from '../../../git/merge/merge-commits.ts'
import { readCommitsWithin } from '../../../git/objects/commits.ts'
import type { NewSignature } from '../../../git/objects/objects.ts'
import { prepareCommit } from '../../../git/objects/prepare-commit.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { callerSignature } from '../../accounts/index.ts'
import { mergeMessage, squashMessage } from './messages.ts'
import type { MergeOptions, MergingRow } from './queries.ts'

/** Created commits, and how they are stored. */
export type MadeMerge = {
  /** New head of the target branch. */
  readonly to: Oid
  /** Null if none was needed. */
  readonly mergeCommit: Oid | null
  readonly squashCommit: Oid | null
  store(): Promise<void>
}

/** Maximum commits that a squash reads for its message; the oldest ones. */
const readForMessage = 100

/** Maximum characters of the messages that a squash reads, in total: two of the largest that a commit can have. */
const maxMessageCharacters = 16 * 1024 * 1024

/**
 * Whether the merge method of the project allows the merge at all: two methods require that the source contains all of the target.
 */
export const satisfiesMergeMethod = async (
  repo: Repository,
  row: MergingRow,
  heads: { source: Oid; target: Oid },
): Promise<boolean> => row.target.merge_method === 'merge' || isAncestor(repo, heads.target, heads.source)

/**
 * Creates the commits of a merge without moving a branch; fails with `conflict` on conflicts. The caller is the committer; `author`
 * is the author of a squash commit. One `merge-tree` process unless one side contains the other.
 */
export async function makeMerge(
  ctx: Ctx,
  repo: Repository,
  row: MergingRow,
  { source, target }: { source: Oid; target: Oid },
  options: MergeOptions & { readonly squash: boolean; readonly author: NewSignature },
): Promise<MadeMerge | 'conflict'> {
  const tree = await mergeCommits(repo, target, source)
  if (tree === 'conflict') return 'conflict'
  const committer = callerSignature(ctx)
  const message = options.squash ? await messageOfSquash(repo, row, { source, target }, options) : undefined
  const author = { ...options.author, at: committer.at }
  const squash =
    message === undefined ? undefined : prepareCommit(repo, { tree, parents: [target], author, committer, message })
  const head = squash?.commit.oid ?? source
  const merge =
    row.target.merge_method === 'ff'
      ? undefined
      : prepareCommit(
          repo,
          {
            tree,
            parents: [target, head],
            author: committer,
            committer,
            message: options.merge_commit_message || mergeMessage(row),
          },
          squash?.objects,
        )
  const last = merge ?? squash
  return {
    to: merge?.commit.oid ?? head,
    mergeCommit: merge?.commit.oid ?? null,
    squashCommit: squash?.commit.oid ?? null,
    store: async () => last?.store(),
  }
}

/** The squash commit; `undefined` for a single commit without a requested message, which is used as it is. */
async function messageOfSquash(
  repo: Repository,
  row: MergingRow,
  { source, target }: { source: Oid; target: Oid },
  { squash_commit_message }: MergeOptions,
): Promise<string | undefined> {
  if (squash_commit_message) return squash_commit_message
  const range = { from: [source], excluding: [target] }
  const oids = await listCommitIds(repo, range, { order: 'topo', limit: row.commits + 1 })
  if (oids.length < 2) return undefined
  const oldest = oids.reverse().slice(0, readForMessage)
  return squashMessage(row, (await readCommitsWithin(repo, oldest, maxMessageCharacters)).commits)
}
