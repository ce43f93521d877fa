import { Type } from 'typebox'
import type { Tx } from '../../../db/db.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueueEach, job } from '../../../jobs/job.ts'
import { deleteEndedInvitations, invitedUsers } from './queries.ts'
import { acceptInvitations } from './service.ts'

/** Turns invitations into memberships after a user has confirmed an e-mail address (src/reactions.ts). */
export const acceptInvitationsLater = job({
  name: 'accept_invitations',
  input: Type.Object({ userId: Type.Integer() }),
  key: ({ userId }) => `accept_invitations:${userId}`,
  attempts: 10,
  run: ({ userId }, ctx) => acceptInvitations(ctx, userId),
})

const acceptInvitationsTo = async (tx: Tx, where: Parameters<typeof invitedUsers>[1]): Promise<number> =>
  enqueueEach(
    tx,
    acceptInvitationsLater,
    (await invitedUsers(tx, where)).map((userId) => ({ userId })),
  )

/** Invitations to projects of a group stayed open while it locked its members. */
export const acceptInvitationsOfUnlocked: Reaction<'group_updated'> = async (tx, { groupId, payload }) => {
  if (payload.changed.includes('membership_lock')) await acceptInvitationsTo(tx, { groupId })
}

/** Invitations to the project stayed open while it was in a group that locks its members. */
export const acceptInvitationsOfMoved: Reaction<'project_transferred'> = (tx, { projectId }) =>
  acceptInvitationsTo(tx, { projectId })

/** Deletes expired invitations. They are invalid from their expiry date on; the job keeps the table small. */
export const purgeEndedInvitations = job({
  name: 'purge_ended_invitations',
  input: Type.Object({}),
  key: () => 'purge_ended_invitations',
  attempts: 3,
  every: { cron: '15 0 * * *', input: {} },
  run: async (_input, ctx) => void (await deleteEndedInvitations(ctx.db)),
})
