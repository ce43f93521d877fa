import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { emitEnd } from './events.ts'
import { readBranch, targetRepository } from './heads.ts'
import { type BegunRow, completeMerging, endMerging, findMerging, longMerging, type Merging } from './queries.ts'
import { removeMergedBranch } from './remove-branch.ts'

/*
 * A merge is first recorded (`locked`, with the new head of the target branch), then the branch moves, then one transaction
 * completes it. After a crash in between, the target branch shows which steps were done. So no commit is merged without its merge
 * request being `merged`, and the reverse.
 */

/** Longer than any merge takes: an older one was interrupted. If it was not, it notices that it was abandoned. */
const interruptedAfterSeconds = 120

/** Completes a merge whose commits are in the target branch; its consequences are written once. */
export async function completeMerge(ctx: Ctx, row: BegunRow): Promise<void> {
  const { merging } = row
  await ctx.transaction(async (tx) => {
    const completed = await completeMerging(tx, row.id, merging)
    if (!completed) return
    await emitEnd(tx, row, 'merge_request_merged', completed.merged_by_id)
    const [actorId, otherwiseId] = removersOf(row, merging)
    if (actorId !== undefined)
      await enqueue(tx, removeMergedBranch, {
        mergeRequestId: row.id,
        actorId,
        ...(otherwiseId !== undefined && { otherwiseId }),
        oid: merging.source_oid,
      })
  })
}

/**
 * The users in whose name the source branch is removed, if it is: the first of them who may. If the merge asks, the one who merged; if the
 * merge request does, its author, who may delete branches of a fork, where those who merge have no rights, or else the one who merged.
 */
function removersOf(
  { force_remove_source_branch, author_id }: BegunRow,
  { should_remove_source_branch, user_id }: Merging,
): number[] {
  if (should_remove_source_branch === false) return []
  if (force_remove_source_branch) return should_remove_source_branch ? [user_id, author_id] : [author_id, user_id]
  return should_remove_source_branch ? [user_id] : []
}

/** Reopens it, with the reason why it was not merged. */
export const abandonMerge = (ctx: Ctx, row: BegunRow, error: string | null): Promise<void> =>
  ctx.transaction(async (tx) => {
    if (!(await endMerging(tx, row.id, row.merging.token, error))) return
    await emit(tx, {
      kind: 'merge_request_merge_failed',
      projectId: row.project_id,
      actorId: row.merging.user_id,
      payload: { merge_request_id: row.id, iid: row.iid },
      facts: { source_project_id: row.source_project_id },
    })
  })

/**
 * Settles a merge that may have been interrupted: completes it if the target branch has its commits, otherwise abandons it, if
 * `release` is set; without it the merging process may still be about to move the branch.
 */
export async function settleMerge(ctx: Ctx, id: number, { release }: { release: boolean }): Promise<void> {
  const row = await findMerging(ctx.db, id)
  if (!row?.merging || row.state !== 'locked') return
  const begun = { ...row, merging: row.merging }
  if (await hasArrived(ctx, begun)) await completeMerge(ctx, begun)
  else if (release) await abandonMerge(ctx, begun, null)
}

async function hasArrived(ctx: Ctx, row: BegunRow): Promise<boolean> {
  const { to } = row.merging
  const repo = targetRepository(ctx, row)
  const target = await readBranch(repo, row.target_branch)
  // The commit may not even have been stored.
  return target !== undefined && to !== undefined && !!(await readCommit(repo, to)) && isAncestor(repo, to, target)
}

/**
 * Settles merges that a crash interrupted; with 0, all of them, at a start. Those that fail are logged and tried again the next
 * time.
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
  run: (_input, ctx) => recoverMerges(ctx, interruptedAfterSeconds),
})
