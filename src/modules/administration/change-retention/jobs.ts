import { Type } from 'typebox'
import { deleteOldChanges } from '../../../db/changes-retention.ts'
import { job } from '../../../jobs/job.ts'

/** Deletes what the row caches of all processes have learnt, every minute. */
export const endOldChanges = job({
  name: 'end_old_changes',
  input: Type.Object({}),
  key: () => 'end_old_changes',
  attempts: 1,
  every: { cron: '* * * * *', input: {} },
  run: (_input, ctx) => ctx.transaction(deleteOldChanges),
})
