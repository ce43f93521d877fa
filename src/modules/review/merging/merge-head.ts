import { randomUUID } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { branchRef, type RefName } from '../../../git/format/ref-name.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import type { NewSignature } from '../../../git/objects/objects.ts'
import { readRef } from '../../../git/refs/refs.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { conflict, type Failure, forbidden } from '../../../kernel/failure.ts'
import { actorOf, callerSignature, findAccount } from '../../accounts/index.ts'
import { inTurn, moveRefs, retryWhileStale } from '../../pushes/index.ts'
import { updateClosingIssues } from '../closing/close.ts'
import { targetRepository } from './heads.ts'
import { bringLargeFiles } from './large-files.ts'
import { makeMerge, satisfiesMergeMethod } from './make-merge.ts'
import { requireMergeAccessNow } from './merge-access.ts'
import { conflicting, notMergeable, requireMergeableNow } from './mergeable.ts'
import {
  type BegunRow,
  beginMerging,
  findMerging,
  lockMerging,
  type MergeOptions,
  type Merging,
  type MergingRow,
  noteMergeCommit,
} from './queries.ts'
import { abandonMerge, completeMerge, settleMerge } from './settle.ts'
import { syncWithBranches } from './update.ts'

/** The outcome: the target branch moved, already contained the head, or the push rules refused the move. */
type Outcome = 'moved' | 'already_merged' | { readonly refused: string }

/** The option of the project wins over the request, and the request over the merge request. */
const squashes = ({ squash, target }: MergingRow, requested: MergeOptions): boolean =>
  target.squash_option === 'always' || (target.squash_option !== 'never' && (requested.squash ?? squash))

const wentWrong = 'Something went wrong during merge'

/**
 * Merges the head of an open merge request. The caller is already authorised. The row has the state `locked` meanwhile, which is
 * always released. Fails if the merge request cannot be merged any more (`requireMergeableNow`), or conflicts with a merge made meanwhile.
 */
export function mergeHead(ctx: Ctx, row: MergingRow, source: Oid, options: MergeOptions): Promise<void> {
  ctx.outside?.prepare()
  const repo = targetRepository(ctx, row)
  const ref = branchRef(row.target_branch)!
  return inTurn(repo, ref, async () => {
    // For messages that name the issues which it closes: the job that stores these runs after the change of a text.
    const hasMessages =
      options.merge_commit_message && (options.squash_commit_message || !row.target.squash_commit_template)
    if (!hasMessages) await updateClosingIssues(ctx, row.id)
    const begun = await begin(ctx, row, source, options)
    try {
      const outcome = await moveTarget(ctx, { row: begun, repo, ref }, options)
      if (outcome === 'moved') return
      const error = outcome === 'already_merged' ? null : `${wentWrong} pre-receive hook. ${outcome.refused}`
      await abandonMerge(ctx, begun, error)
      if (outcome === 'already_merged') await syncWithBranches(ctx, row.id)
    } catch (error) {
      // The branch may have moved all the same.
      await settleMerge(ctx, row.id, { release: true })
      if ((await findMerging(ctx.db, row.id))?.state !== 'merged') throw error
    }
  })
}

/**
 * Locks the merge request, and asks again whether it may be merged: meanwhile other merges had their turn, and branches were checked.
 * Resolves to the merge request as it is then, by which its commits are made.
 */
const begin = (ctx: Ctx, row: MergingRow, source: Oid, options: MergeOptions): Promise<BegunRow> =>
  ctx.transaction(async (tx) => {
    await lockMerging(tx, row.id)
    await requireMergeAccessNow(ctx, tx, row)
    // Read after the lock, for which the statement that takes it may wait.
    const now = await findMerging(tx, row.id)
    if (now?.diff_id !== row.diff_id || now.target_branch !== row.target_branch) throw notMergeable()
    await requireMergeableNow(ctx, tx, now)
    const merging: Merging = {
      token: randomUUID(),
      user_id: ctx.actor!.id,
      since: new Date().toISOString(),
      source_oid: source,
      squash: squashes(now, options),
      should_remove_source_branch: options.should_remove_source_branch ?? null,
    }
    await beginMerging(tx, row.id, merging)
    return { ...now, merging }
  })

/** A merge whose row is locked, and the branch that it moves. */
type Begun = {
  readonly row: BegunRow
  readonly repo: Repository
  readonly ref: RefName
}

async function moveTarget(ctx: Ctx, begun: Begun, options: MergeOptions): Promise<Outcome> {
  const { row } = begun
  const author = row.merging.squash ? await signatureOf(ctx, row.author_id) : callerSignature(ctx)
  return retryWhileStale(
    () => tryToMove(ctx, begun, { ...options, author }),
    () => conflict(`Could not update branch ${row.target_branch}. Please refresh and try again.`),
  )
}

async function tryToMove(
  ctx: Ctx,
  { row, repo, ref: name }: Begun,
  options: MergeOptions & { readonly author: NewSignature },
): Promise<Outcome | 'stale'> {
  const target = await readRef(repo, name)
  if (!target) throw notMergeable()
  const { merging } = row
  const source = merging.source_oid
  if (await isAncestor(repo, source, target)) return 'already_merged'
  if (!(await satisfiesMergeMethod(repo, row, { source, target }))) throw conflicting()
  const made = await makeMerge(ctx, repo, row, { source, target }, { ...options, squash: merging.squash })
  if (made === 'conflict') throw conflicting()
  const commits = { to: made.to, merge_commit_oid: made.mergeCommit, squash_commit_oid: made.squashCommit }
  if (!(await noteMergeCommit(ctx.db, row.id, merging.token, commits))) throw notMergeable()
  let refused: string | undefined
  const refusal = (reason: string): Failure => forbidden((refused = reason))
  try {
    const change = { name, from: target, to: made.to }
    const outcome = await moveRefs(ctx, row.project_id, repo, [change], {
      merges: true,
      makes: 'all',
      refusal,
      store: made.store,
      link: () => bringLargeFiles(ctx, row, { source, target }),
    })
    if (outcome === 'stale') return outcome
  } catch (error) {
    if (refused === undefined) throw error
    return { refused }
  }
  await completeMerge(ctx, { ...row, merging: { ...merging, ...commits } })
  return 'moved'
}

/** A user as the author of commits, whether or not they can still act. One statement. */
async function signatureOf(ctx: Ctx, userId: number): Promise<NewSignature> {
  const account = await findAccount(ctx.db, String(userId))
  return callerSignature(account ? { ...ctx, actor: actorOf(account) } : ctx)
}
