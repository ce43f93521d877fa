import type { Ctx } from '../../../api/ctx.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { deleteMergeRequest } from './edit-queries.ts'
import { emitMergeRequest } from './events.ts'
import { lockMergeRequest } from './queries.ts'
import type { MergeRequestSubject } from './subject.ts'

/** Deletes a merge request with its notes; branches stay. A job deletes its refs. */
export async function removeMergeRequest(ctx: Ctx, { id }: MergeRequestSubject): Promise<void> {
  await ctx.transaction(async (tx) => {
    if (!(await lockMergeRequest(tx, id))) throw rowNotFound()
    await emitMergeRequest(tx, id, { kind: 'merge_request_deleted', actorId: ctx.actor!.id })
    await deleteMergeRequest(tx, id)
  })
}
