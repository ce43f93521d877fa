import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { namesOfUser, renameInSystemNotes } from './name-queries.ts'

/** System notes name the assignees of a merge request by username. They must not name a user who was deleted. */
export const forgetNameInNotes = job({
  name: 'forget_name_in_notes',
  input: Type.Object({ userId: Type.Integer(), usernames: Type.Array(Type.String(), { minItems: 1 }) }),
  key: ({ userId }) => `forget_name_in_notes:${userId}`,
  attempts: 10,
  run: ({ usernames }, ctx) => inBatches((size) => renameInSystemNotes(ctx.db, usernames, size)),
})

/** Queues that with the names that the user has had: once the account is gone, the database does not have them. */
export const forgetNameAfterDeletion: Reaction<'user_deleted'> = async (tx, { payload: { user_id: userId } }) =>
  enqueue(tx, forgetNameInNotes, { userId, usernames: await namesOfUser(tx, userId) })
