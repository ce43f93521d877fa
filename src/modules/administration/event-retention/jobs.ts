import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { deleteOldAudit, deleteOldEvents } from '../../../events/retention.ts'
import { job } from '../../../jobs/job.ts'

/** Deletes events and audit rows past their retention, daily. */
export const endOldEvents = job({
  name: 'end_old_events',
  input: Type.Object({}),
  key: () => 'end_old_events',
  attempts: 3,
  every: { cron: '40 2 * * *', input: {} },
  async run(_input, ctx) {
    const { event_retention_days: days, audit_event_retention_days: auditDays } = ctx.settings
    await inBatches((size) => deleteOldEvents(ctx.db, days, size))
    if (auditDays > 0) await inBatches((size) => ctx.transaction((tx) => deleteOldAudit(tx, auditDays, size)))
  },
})
