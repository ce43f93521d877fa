import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { tellEnd } from './events.ts'
import { readBranch, targetRepository } from './heads.ts'
import { completeMerging, endMerging, findMerging, longMerging, type MergingRow } from './queries.ts'
import { removeMergedBranch } from './remove-branch.ts'

/*
 * A merge is first written down (`locked`, with the commit to which the target branch is to go), then that branch moves, then
 * one transaction completes it. After a crash in between, the target branch tells which of the two it is. So nothing is in a branch
 * whose merge request does not say so, and nothing says so that is not there.
 */

/** A merge takes less; what is on its way for longer was cut off. Should it not have been, it notices that it was given up. */
const cutOffAfterSeconds = 120

/** Completes a merge whose commits are in the target branch: what follows is written once. */
export async function completeMerge(ctx: Ctx, row: MergingRow): Promise<void> {
  const { merging } = row
  if (!merging) return
  await ctx.transaction(async (tx) => {
    const completed = await completeMerging(tx, row.id, merging)
    if (!completed) return
    await tellEnd(tx, row, 'merge_request_merged', completed.merged_by_id)
    if (merging.should_remove_source_branch ?? row.force_remove_source_branch)
      await enqueue(tx, removeMergedBranch, {
        mergeRequestId: row.id,
        actorId: merging.user_id,
        oid: merging.source_oid,
      })
  })
}

/** Opens it again, with the reason why it was not merged. */
export const giveUpMerge = (ctx: Ctx, row: MergingRow, token: string, error: string | null): Promise<void> =>
  ctx.transaction(async (tx) => {
    if (!(await endMerging(tx, row.id, token, error))) return
    await emit(tx, {
      kind: 'merge_request_merge_failed',
      projectId: row.project_id,
      actorId: row.merging?.user_id ?? null,
      payload: { merge_request_id: row.id, iid: row.iid },
      facts: { source_project_id: row.source_project_id },
    })
  })

/**
 * Ends a merge that may have been cut off: completes it when the target branch has its commits. When not, gives it up, with
 * `release`; else somebody may still be about to move the branch.
 */
export async function settleMerge(ctx: Ctx, id: number, { release }: { release: boolean }): Promise<void> {
  const row = await findMerging(ctx.db, id)
  if (!row?.merging || row.state !== 'locked') return
  if (await hasArrived(ctx, row)) await completeMerge(ctx, row)
  else if (release) await giveUpMerge(ctx, row, row.merging.token, null)
}

async function hasArrived(ctx: Ctx, row: MergingRow): Promise<boolean> {
  const to = row.merging?.to
  const repo = targetRepository(ctx, row)
  const target = await readBranch(repo, row.target_branch)
  // The commit may not even have been stored.
  return target !== undefined && to !== undefined && !!(await readCommit(repo, to)) && isAncestor(repo, to, target)
}

/**
 * Settles merges that a crash cut off. With 0, all there are: for a start. One that cannot be settled is told to the log, and tried
 * again next time.
 */
export async function recoverMerges(ctx: Ctx, olderThanSeconds: number): Promise<void> {
  for (const id of await longMerging(ctx.db, olderThanSeconds)) {
    try {
      await settleMerge(ctx, id, { release: true })
    } catch (error) {
      ctx.log.error({ err: error, merge_request_id: id }, 'a merge cannot be settled')
    }
  }
}

export const settleCutOffMerges = job({
  name: 'settle_cut_off_merges',
  input: Type.Object({}),
  key: () => 'settle_cut_off_merges',
  attempts: 3,
  every: { cron: '* * * * *', input: {} },
  run: (_input, ctx) => recoverMerges(ctx, cutOffAfterSeconds),
})
