import { Type } from 'typebox'
import type { JobDeclaration } from '../../../jobs/job.ts'

const input = Type.Object({ userId: Type.Integer() })

/**
 * What follows when somebody is known to own his address: queue it in the transaction in which that is confirmed.
 * Invitations wait for it, and run it (modules/groups/invitations/jobs.ts).
 */
export const addressConfirmed: JobDeclaration<typeof input> = {
  name: 'accept_invitations',
  input,
  key: ({ userId }) => `accept_invitations:${userId}`,
  attempts: 10,
}
