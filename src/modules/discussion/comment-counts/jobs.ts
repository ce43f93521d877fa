import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { addUpCounts } from './queries.ts'

/** Keeps `comment_counts` short, every hour: only the statistics of the installation read it. */
export const addUpComments = job({
  name: 'add_up_comments',
  input: Type.Object({}),
  key: () => 'add_up_comments',
  attempts: 1,
  every: { cron: '23 * * * *', input: {} },
  run: async (_input, ctx) => {
    await ctx.transaction(addUpCounts)
  },
})
