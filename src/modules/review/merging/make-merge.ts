import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { mergeCommits } from '../../../git/merge/merge-commits.ts'
import type { NewSignature } from '../../../git/objects/objects.ts'
import { prepareCommit } from '../../../git/objects/prepare-commit.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { callerSignature } from '../../accounts/index.ts'
import { mergeMessage, squashMessage } from './messages.ts'
import type { MergeOptions, MergingRow } from './queries.ts'
import { type SourceCommits, sourceCommits } from './source-commits.ts'
import { templatedMessage } from './templated-message.ts'

type Heads = { readonly source: Oid; readonly target: Oid }

/** Created commits, and how they are stored. */
export type MadeMerge = {
  /** New head of the target branch. */
  readonly to: Oid
  /** Null if none was needed. */
  readonly mergeCommit: Oid | null
  readonly squashCommit: Oid | null
  store(): Promise<void>
}

/**
 * Whether the merge method of the project allows the merge at all: two methods require that the source contains all of the target.
 */
export const satisfiesMergeMethod = async (repo: Repository, row: MergingRow, heads: Heads): Promise<boolean> =>
  row.target.merge_method === 'merge' || isAncestor(repo, heads.target, heads.source)

/**
 * Creates the commits of a merge without moving a branch; fails with `conflict` on conflicts. The caller is the committer; `author`
 * is the author of a squash commit. One `merge-tree` process unless one side contains the other.
 */
export async function makeMerge(
  ctx: Ctx,
  repo: Repository,
  row: MergingRow,
  heads: Heads,
  options: MergeOptions & { readonly squash: boolean; readonly author: NewSignature },
): Promise<MadeMerge | 'conflict'> {
  const { source, target } = heads
  const tree = await mergeCommits(repo, target, source)
  if (tree === 'conflict') return 'conflict'
  const committer = callerSignature(ctx)
  let found: Promise<SourceCommits> | undefined
  const commits = () => (found ??= sourceCommits(repo, row, heads))
  const message = options.squash ? await messageOfSquash(ctx, row, commits, options) : undefined
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
            message: await messageOfMerge(ctx, row, commits, options),
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

async function messageOfMerge(
  ctx: Ctx,
  row: MergingRow,
  found: () => Promise<SourceCommits>,
  { merge_commit_message }: MergeOptions,
): Promise<string> {
  if (merge_commit_message) return merge_commit_message
  const template = row.target.merge_commit_template
  if (!template) return mergeMessage(row)
  const commits = async () => (await found()).oldest()
  return (await templatedMessage(ctx, row, template, { author: callerSignature(ctx), commits })) || mergeMessage(row)
}

/** Undefined if there is a single commit that would stay as it is, which is used itself. */
async function messageOfSquash(
  ctx: Ctx,
  row: MergingRow,
  found: () => Promise<SourceCommits>,
  { squash_commit_message, author }: MergeOptions & { readonly author: NewSignature },
): Promise<string | undefined> {
  if (squash_commit_message) return squash_commit_message
  const { count, oldest } = await found()
  const template = row.target.squash_commit_template
  const wanted = template && (await templatedMessage(ctx, row, template, { author, commits: oldest }))
  if (count < 2 && (!wanted || (await oldest())[0]?.message.trim() === wanted)) return undefined
  return wanted || squashMessage(row, await oldest())
}
