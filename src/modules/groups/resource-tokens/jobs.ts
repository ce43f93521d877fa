import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { emitAllRemoved } from '../members/service.ts'
import { closeAccounts } from '../user-removal/service.ts'
import { findIdleBots } from './queries.ts'

/** Closing an account takes several statements. */
const batchSize = 200

/** Deletes bots whose tokens have expired, or whose project or group is gone. They cannot act from that day on. */
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
          // This marks them, so that the next batch does not find them again.
          const idle = await findIdleBots(tx, size)
          await emitAllRemoved(tx, await closeAccounts(tx, idle, false), { actorId: null, isExpired: true, bot: true })
          return idle.length
        }),
      batchSize,
    )
  },
})
