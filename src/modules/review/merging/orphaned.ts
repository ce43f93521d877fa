import { Type } from 'typebox'
import type { Tx } from '../../../db/db.ts'
import { enqueueEach, job } from '../../../jobs/job.ts'
import { findAccount } from '../../accounts/index.ts'
import { closeInJob } from './close-in-job.ts'
import { openFromDeleted } from './queries.ts'

/** Closes a merge request whose source project is deleted, as the user who deleted it if the account still exists. */
export const closeOrphaned = job({
  name: 'close_orphaned_merge_request',
  input: Type.Object({ mergeRequestId: Type.Integer(), actorId: Type.Union([Type.Integer(), Type.Null()]) }),
  key: ({ mergeRequestId }) => `close_orphaned_merge_request:${mergeRequestId}`,
  attempts: 10,
  async run({ mergeRequestId, actorId }, ctx) {
    const actor = actorId === null ? undefined : await findAccount(ctx.db, String(actorId))
    await closeInJob(ctx, mergeRequestId, actor?.user_id ?? null, ({ source }) => !source)
  },
})

/** Queues that for all open merge requests from projects that are being deleted, alone, or with their group or owner. */
export async function closeMergeRequestsOfDeleted(
  tx: Tx,
  { actorId }: { readonly actorId: number | null },
): Promise<void> {
  const inputs = (await openFromDeleted(tx)).map((mergeRequestId) => ({ mergeRequestId, actorId }))
  if (inputs.length > 0) await enqueueEach(tx, closeOrphaned, inputs)
}
