import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { deleteEndedSessions } from './queries.ts'

/** Deletes expired sessions. They are invalid from their end on; the job keeps the table small. */
export const purgeEndedSessions = job({
  name: 'purge_ended_sessions',
  input: Type.Object({}),
  key: () => 'purge_ended_sessions',
  attempts: 3,
  every: { cron: '25 0 * * *', input: {} },
  run: async (_input, ctx) => void (await deleteEndedSessions(ctx.db, ctx.settings.session_expire_delay)),
})
