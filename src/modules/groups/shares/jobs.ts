import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { clearEndedAccess, lockAccess } from '../../namespaces/index.ts'
import { deleteEndedGroupShares, deleteEndedProjectShares } from './queries.ts'

/** Deletes expired shares. They give no access from their expiry date on; the job removes them from records too. */
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
          // Serialised with new shares: they lock the project's row, which deleting a share updates
          // (0024_shares_endings_and_commit_addresses.sql).
          await lockAccess(tx)
          return deleteEnded(tx, size)
        }),
      )
    await clearEndedAccess(ctx.db)
  },
})
