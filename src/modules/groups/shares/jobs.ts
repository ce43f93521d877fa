import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { clearEndedAccess, lockAccess } from '../../namespaces/index.ts'
import { deleteEndedGroupShares, deleteEndedProjectShares } from './queries.ts'

/** Clears away shares that ended. They give no access from their day on; this takes them out of the records, too. */
export const purgeEndedShares = job({
  name: 'purge_ended_shares',
  input: Type.Object({}),
  key: () => 'purge_ended_shares',
  attempts: 3,
  every: { cron: '10 0 * * *', input: {} },
  async run(_input, ctx) {
    for (const deleteEnded of [deleteEndedProjectShares, deleteEndedGroupShares])
      await inBatches((size) =>
        ctx.transaction(async (tx) => {
          // In turn with who shares anew: he holds the project's row, which the share's end writes (0024_shares_endings_and_commit_addresses.sql).
          await lockAccess(tx)
          return deleteEnded(tx, size)
        }),
      )
    await clearEndedAccess(ctx.db)
  },
})
