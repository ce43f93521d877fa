import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { mergeCommits } from '../../../git/merge/merge-commits.ts'
import { cacheCommit, parseCommit, readCommits } from '../../../git/objects/commits.ts'
import { commitObject, emptyTreeFor, type NewSignature, writeObjects } from '../../../git/objects/objects.ts'
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
  const objects = emptyTreeFor(tree)
  const add = (parents: readonly Oid[], message: string, author: NewSignature): Oid => {
    const object = commitObject({ tree, parents, author, committer, message })
    objects.push(object)
    return object.oid
  }
  const squashed = options.squash ? await messageOfSquash(repo, row, { source, target }, options) : undefined
  const squashCommit = squashed === undefined ? null : add([target], squashed, { ...options.author, at: committer.at })
  const head = squashCommit ?? source
  const mergeCommit =
    row.target.merge_method === 'ff'
      ? null
      : add([target, head], options.merge_commit_message || mergeMessage(row), committer)
  return {
    to: mergeCommit ?? head,
    mergeCommit,
    squashCommit,
    async store() {
      await writeObjects(repo, objects)
      for (const { oid, type, content } of objects) if (type === 'commit') cacheCommit(repo, parseCommit(oid, content))
    },
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
  const oldest = await readCommits(repo, oids.reverse().slice(0, readForMessage))
  return squashMessage(
    row,
    oldest.filter((commit) => commit !== undefined),
  )
}
