import { Type } from 'typebox'
import { job } from '../../jobs/job.ts'
import { lockAccess } from '../access-index/service.ts'
import { closeAccount } from '../user-removal/service.ts'
import { findIdleBots } from './queries.ts'

/** Removes bots whose tokens have ended, or whose project or group is gone. They can do nothing from that day on. */
export const removeIdleBots = job({
  name: 'remove_idle_bots',
  input: Type.Object({}),
  key: () => 'remove_idle_bots',
  attempts: 3,
  every: { cron: '40 0 * * *', input: {} },
  async run(_input, ctx) {
    // Each is blocked by that, so that none is found twice.
    for (;;) {
      const idle = await findIdleBots(ctx.db)
      if (idle.length === 0) return
      for (const userId of idle)
        await ctx.transaction(async (tx) => {
          await lockAccess(tx)
          await closeAccount(tx, userId, false)
        })
    }
  },
})
