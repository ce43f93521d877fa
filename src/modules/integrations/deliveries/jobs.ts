import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { deleteHookEventsOfGone, deleteOldHookEvents } from './log-queries.ts'

/** Days after which events of hooks are deleted, sent or not. Source: supplement to the API documents, "Delivery". */
export const retentionDays = 7

/** Deletes old events of hooks with their deliveries. */
export const endOldHookEvents = job({
  name: 'end_old_hook_events',
  input: Type.Object({}),
  key: () => 'end_old_hook_events',
  attempts: 3,
  every: { cron: '25 * * * *', input: {} },
  async run(_input, { db }) {
    await inBatches((size) => deleteOldHookEvents(db, retentionDays, size))
    await inBatches((size) => deleteHookEventsOfGone(db, size))
  },
})
