import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { deleteExpiredLinks } from './link-queries.ts'

/** Deletes expired links. */
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
