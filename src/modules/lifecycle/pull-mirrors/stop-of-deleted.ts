import type { Reaction } from '../../../events/reaction.ts'
import { stopMirrorsOf } from './queries.ts'

/** Stops the pull mirrors that have the rights of a deleted user. */
export const stopPullMirrorsOfDeleted: Reaction<'user_deleted'> = (tx, { payload }) =>
  stopMirrorsOf(tx, payload.user_id, 'The user of the mirror was deleted.')
