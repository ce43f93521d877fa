import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { deleteEndedOauthTokens } from './queries.ts'
import { refreshDays } from './service.ts'

/** Deletes tokens that are too old to be refreshed. */
export const purgeEndedOauthTokens = job({
  name: 'purge_ended_oauth_tokens',
  input: Type.Object({}),
  key: () => 'purge_ended_oauth_tokens',
  attempts: 3,
  every: { cron: '30 0 * * *', input: {} },
  run: async (_input, ctx) => void (await deleteEndedOauthTokens(ctx.db, refreshDays)),
})
