import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { clearEndedAccess } from '../../namespaces/index.ts'
import { removeEndedGroupShares, removeEndedProjectShares } from './service.ts'

/** Shares that end in one transaction, each with an event. */
const atOnce = 100

/** Deletes expired shares. They give no access from their expiry date on; the job removes them from records too. */
export const purgeEndedShares = job({
  name: 'purge_ended_shares',
  input: Type.Object({}),
  key: () => 'purge_ended_shares',
  attempts: 3,
  every: { cron: '10 0 * * *', input: {} },
  async run(_input, ctx) {
    await inBatches((size) => removeEndedProjectShares(ctx, size), atOnce)
    await inBatches((size) => removeEndedGroupShares(ctx, size), atOnce)
    await clearEndedAccess(ctx.db)
  },
})
