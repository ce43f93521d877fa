import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { deleteEndedInvitations } from './queries.ts'
import { acceptInvitations } from './service.ts'

/** Turns invitations into memberships after a user has confirmed an e-mail address (src/reactions.ts). */
export const acceptInvitationsLater = job({
  name: 'accept_invitations',
  input: Type.Object({ userId: Type.Integer() }),
  key: ({ userId }) => `accept_invitations:${userId}`,
  attempts: 10,
  run: ({ userId }, ctx) => acceptInvitations(ctx, userId),
})

/** Deletes expired invitations. They are invalid from their expiry date on; the job keeps the table small. */
export const purgeEndedInvitations = job({
  name: 'purge_ended_invitations',
  input: Type.Object({}),
  key: () => 'purge_ended_invitations',
  attempts: 3,
  every: { cron: '15 0 * * *', input: {} },
  run: async (_input, ctx) => void (await deleteEndedInvitations(ctx.db)),
})
