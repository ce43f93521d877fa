import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { closeAccounts } from '../user-removal/service.ts'
import { findIdleBots } from './queries.ts'

/** Closing one account takes more than a row. */
const batchSize = 200

/** Removes bots whose tokens have ended, or whose project or group is gone. They can do nothing from that day on. */
export const removeIdleBots = job({
  name: 'remove_idle_bots',
  input: Type.Object({}),
  key: () => 'remove_idle_bots',
  attempts: 3,
  every: { cron: '40 0 * * *', input: {} },
  async run(_input, ctx) {
    await inBatches(
      (size) =>
        ctx.transaction(async (tx) => {
          await lockAccess(tx)
          // Each is blocked by that, so that none is found twice.
          const idle = await findIdleBots(tx, size)
          await closeAccounts(tx, idle, false)
          return idle.length
        }),
      batchSize,
    )
  },
})
