import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { Reaction } from '../../../events/reaction.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { Failure, unauthenticated } from '../../../kernel/failure.ts'
import { lockCommit } from '../../ci/index.ts'
import { addSystemNote, finishTodos } from '../../discussion/index.ts'
import { canMergeInto, loadProtections } from '../../pushes/index.ts'
import { emitMergeRequest } from '../merge-requests/events.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { requireMergeAccessNow } from './merge-access.ts'
import { notMergeable } from './mergeable.ts'
import {
  beginAutoMerge,
  endAutoMerge,
  endAutoMergesOf,
  lockMerging,
  type MergeOptions,
  type MergingRow,
} from './queries.ts'

/** Merges a merge request for the caller once the pipeline of its head succeeds, which may be the case already. */
export async function awaitPipeline(ctx: Ctx, row: MergingRow, head: Oid, options: MergeOptions): Promise<void> {
  const userId = ctx.actor!.id
  const { merge_commit_message, squash_commit_message, should_remove_source_branch, squash } = options
  const kept = { merge_commit_message, squash_commit_message, should_remove_source_branch, squash } as MergeOptions
  await ctx.transaction(async (tx) => {
    // A status of the commit is either committed before this, and seen here, or reported after it, and merges.
    await lockCommit(tx, row.source_project_id!, head)
    const now = await lockMerging(tx, row.id)
    if (now?.state !== 'opened' || now.head_oid !== head) throw notMergeable()
    await requireMergeAccessNow(ctx, tx, now)
    await beginAutoMerge(tx, row.id, { userId, oid: head, options: kept })
    if (now.auto_merge_oid !== head) {
      const sha = head.slice(0, 8)
      await addSystemNote(
        tx,
        asNoteable(row),
        userId,
        `enabled an automatic merge when the pipeline for ${sha} succeeds`,
      )
      await emitMergeRequest(tx, row.id, {
        kind: 'merge_request_updated',
        actorId: userId,
        changes: { merge_when_pipeline_succeeds: [now.auto_merge_oid !== null, true] },
      })
    }
    await finishTodos(tx, userId, asNoteable(row))
    await emit(tx, {
      kind: 'merge_request_auto_merge_enabled',
      projectId: row.project_id,
      actorId: userId,
      payload: { merge_request_id: row.id, iid: row.iid, sha: head },
      facts: { source_project_id: row.source_project_id!, source_branch: row.source_branch },
    })
  })
}

/**
 * Cancels the automatic merge. Compat: fails with 401 if the caller may not, or if it is not open; also if no automatic merge is
 * enabled.
 */
export async function cancelAutoMerge(ctx: Ctx, subject: MergeRequestSubject): Promise<void> {
  const { project, target_branch } = subject
  const mayCancel =
    subject.author_id === ctx.actor!.id ||
    canMergeInto(ctx, project, await loadProtections(ctx, project), target_branch)
  if (!mayCancel) throw unauthenticated()
  await ctx.transaction(async (tx) => {
    const row = await lockMerging(tx, subject.id)
    if (subject.author_id === ctx.actor!.id) await tx.requirePermission?.()
    else await requireMergeAccessNow(ctx, tx, subject)
    if (row?.state !== 'opened') throw unauthenticated()
    if (row.auto_merge_oid === null) throw new Failure('not_acceptable', "Can't cancel the automatic merge")
    await endAutoMerge(tx, row.id)
    await recordEnd(tx, row, ctx.actor!.id)
  })
}

async function recordEnd(tx: Tx, row: { readonly id: number; readonly project_id: number }, actorId: number) {
  await addSystemNote(tx, asNoteable(row), actorId, 'canceled the automatic merge')
  await emitMergeRequest(tx, row.id, {
    kind: 'merge_request_updated',
    actorId,
    changes: { merge_when_pipeline_succeeds: [true, false] },
  })
}

/** Cancels the automatic merges of a deleted user, as the administrator who deleted it: the user for whom they would run is gone. */
export const endAutoMergesOfDeleted: Reaction<'user_deleted'> = async (tx, { actorId, payload }) => {
  const ended = await endAutoMergesOf(tx, payload.user_id)
  if (actorId !== null) for (const row of ended) await recordEnd(tx, row, actorId)
}
