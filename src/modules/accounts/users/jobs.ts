import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { deleteExpiredLinks } from './link-queries.ts'

/** Clears away the secrets of mails that are good no longer. */
export const purgeExpiredLinks = job({
  name: 'purge_expired_links',
  input: Type.Object({}),
  key: () => 'purge_expired_links',
  attempts: 3,
  every: { cron: '25 0 * * *', input: {} },
  async run(_input, ctx) {
    await deleteExpiredLinks(ctx.db)
  },
})
