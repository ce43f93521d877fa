import { job } from '../../jobs/job.ts'
import { addressConfirmed } from '../users/address-confirmed.ts'
import { acceptInvitations } from './service.ts'

/** Invitations become memberships when somebody is known to own the address. */
export const acceptInvitationsLater = job({
  ...addressConfirmed,
  run: ({ userId }, ctx) => acceptInvitations(ctx, userId),
})
