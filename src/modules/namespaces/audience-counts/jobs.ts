import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { addUpNumbers } from './queries.ts'

/** Keeps `audience_counts` short, every minute. */
export const addUpAudiences = job({
  name: 'add_up_audiences',
  input: Type.Object({}),
  key: () => 'add_up_audiences',
  attempts: 1,
  every: { cron: '* * * * *', input: {} },
  run: async (_input, ctx) => {
    await ctx.transaction(addUpNumbers)
  },
})
