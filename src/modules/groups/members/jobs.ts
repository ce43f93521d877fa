import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { clearEndedAccess } from '../../namespaces/index.ts'
import { removeEndedMembers } from './service.ts'

/** Memberships that end in one transaction, each with an event. */
const atOnce = 100

/** Deletes expired memberships. They give no access from their expiry date on; the job keeps lists and tables short. */
export const purgeExpiredMembers = job({
  name: 'purge_expired_members',
  input: Type.Object({}),
  key: () => 'purge_expired_members',
  attempts: 3,
  every: { cron: '5 0 * * *', input: {} },
  async run(_input, ctx) {
    await inBatches((size) => removeEndedMembers(ctx, size), atOnce)
    await clearEndedAccess(ctx.db)
  },
})
