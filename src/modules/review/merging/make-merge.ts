import type { Ctx } from '../../../api/ctx.ts'
import { emptyTreeOid, type Oid } from '../../../git/format/oid.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { mergeCommits } from '../../../git/merge/merge-commits.ts'
import { cacheCommit, parseCommit, readCommits } from '../../../git/objects/commits.ts'
import {
  commitObject,
  type NewObject,
  type NewSignature,
  treeObject,
  writeObjects,
} from '../../../git/objects/objects.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { callerSignature } from '../../accounts/index.ts'
import { mergeMessage, squashMessage } from './messages.ts'
import type { MergeOptions, MergingRow } from './queries.ts'

/** Commits that are made, and how they are stored. */
export type MadeMerge = {
  /** Where the target branch is to go. */
  readonly to: Oid
  /** Null where none was needed. */
  readonly mergeCommit: Oid | null
  readonly squashCommit: Oid | null
  store(): Promise<void>
}

/** A squash reads no more than these, the oldest, for something to say. */
const readForMessage = 100

/**
 * Whether the way in which a project merges allows it at all: two of them want the source to have all of the target.
 */
export const isAbreast = async (
  repo: Repository,
  row: MergingRow,
  heads: { source: Oid; target: Oid },
): Promise<boolean> => row.target.merge_method === 'merge' || isAncestor(repo, heads.target, heads.source)

/**
 * Makes the commits of a merge, without moving a branch; `conflict` when there are none. Whoever calls commits; `author` wrote what a
 * squash puts together. One `merge-tree` process unless one side has all of the other.
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
  const objects: NewObject[] = tree === emptyTreeOid ? [treeObject([])] : []
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

/** `undefined` when there is but one commit, which nobody wants to say something else: it is taken as it is. */
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
