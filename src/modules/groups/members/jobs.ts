import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { clearEndedAccess } from '../../namespaces/index.ts'
import { deleteEndedMembers } from './queries.ts'

/** Deletes expired memberships. They give no access from their expiry date on; the job keeps lists and tables short. */
export const purgeExpiredMembers = job({
  name: 'purge_expired_members',
  input: Type.Object({}),
  key: () => 'purge_expired_members',
  attempts: 3,
  every: { cron: '5 0 * * *', input: {} },
  async run(_input, { db }) {
    await inBatches((size) => deleteEndedMembers(db, size))
    await clearEndedAccess(db)
  },
})
