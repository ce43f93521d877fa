import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { deleteEndedCounters } from '../../../settings/queries.ts'

/** Deletes the counters of rate limits whose period has ended, daily: there is one for each address that has sent a request. */
export const endOldRateCounters = job({
  name: 'end_old_rate_counters',
  input: Type.Object({}),
  key: () => 'end_old_rate_counters',
  attempts: 3,
  every: { cron: '50 2 * * *', input: {} },
  run: (_input, ctx) => inBatches((size) => deleteEndedCounters(ctx.db, size)),
})
