import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { Failure, unauthenticated } from '../../../kernel/failure.ts'
import { findNewestPipeline, lockCommit } from '../../ci/index.ts'
import { canMergeInto, loadProtections } from '../../pushes/index.ts'
import { tellMergeRequest } from '../merge-requests/events.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { addSystemNote } from '../notes/service.ts'
import { finishTodos } from '../todos/service.ts'
import { mergeAwaitedLater } from './auto-merge-due.ts'
import { isPassing, notMergeable } from './mergeable.ts'
import { beginAutoMerge, endAutoMerge, lockMerging, type MergeOptions, type MergingRow } from './queries.ts'

/** Marks it as to be merged, for the caller, once the pipeline of its head has succeeded; it may have while this was being said. */
export async function awaitPipeline(ctx: Ctx, row: MergingRow, head: Oid, options: MergeOptions): Promise<void> {
  const userId = ctx.actor!.id
  const { merge_commit_message, squash_commit_message, should_remove_source_branch, squash } = options
  const kept = { merge_commit_message, squash_commit_message, should_remove_source_branch, squash } as MergeOptions
  await ctx.transaction(async (tx) => {
    // Whoever reports on the commit does so before this, and is seen, or after it, and sees it.
    await lockCommit(tx, row.source_project_id!, head)
    const now = await lockMerging(tx, row.id)
    if (now?.state !== 'opened' || now.head_oid !== head) throw notMergeable()
    await beginAutoMerge(tx, row.id, { userId, oid: head, options: kept })
    if (now.auto_merge_oid !== head) {
      const sha = head.slice(0, 8)
      await addSystemNote(tx, row, userId, `enabled an automatic merge when the pipeline for ${sha} succeeds`)
      await tellMergeRequest(tx, row.id, {
        kind: 'merge_request_updated',
        actorId: userId,
        changes: { merge_when_pipeline_succeeds: [now.auto_merge_oid !== null, true] },
      })
    }
    await finishTodos(tx, userId, row.id)
    const pipeline = await findNewestPipeline(tx, row.source_project_id!, head, row.source_branch)
    if (pipeline && isPassing(pipeline)) await mergeAwaitedLater(tx, pipeline)
  })
}

/** Takes that back. Fails with 401, as clients know it, for who may not, or when it is not open; and when nothing was to be merged. */
export async function cancelAutoMerge(ctx: Ctx, subject: MergeRequestSubject): Promise<void> {
  const { project, target_branch } = subject
  const mayCancel =
    subject.author_id === ctx.actor!.id ||
    canMergeInto(ctx, project, await loadProtections(ctx, project), target_branch)
  if (!mayCancel) throw unauthenticated()
  await ctx.transaction(async (tx) => {
    const row = await lockMerging(tx, subject.id)
    if (row?.state !== 'opened') throw unauthenticated()
    if (row.auto_merge_oid === null) throw new Failure('not_acceptable', "Can't cancel the automatic merge")
    await endAutoMerge(tx, row.id)
    await addSystemNote(tx, row, ctx.actor!.id, 'canceled the automatic merge')
    await tellMergeRequest(tx, row.id, {
      kind: 'merge_request_updated',
      actorId: ctx.actor!.id,
      changes: { merge_when_pipeline_succeeds: [true, false] },
    })
  })
}
