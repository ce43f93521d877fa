import { Type } from 'typebox'
import { job } from '../../jobs/job.ts'
import { lockAccess, namespacePlaced, projectPlaced } from '../access-index/service.ts'
import { deleteEndedGroupShare, deleteEndedProjectShare, endedGroupShares, endedProjectShares } from './queries.ts'

/** Clears away shares that ended. They give no access from their day on; this takes them out of the records, too. */
export const purgeEndedShares = job({
  name: 'purge_ended_shares',
  input: Type.Object({}),
  key: () => 'purge_ended_shares',
  attempts: 3,
  every: { cron: '10 0 * * *', input: {} },
  async run(_input, ctx) {
    for (const { id, project_id } of await endedProjectShares(ctx.db))
      await ctx.transaction(async (tx) => {
        await lockAccess(tx)
        if (await deleteEndedProjectShare(tx, id)) await projectPlaced(tx, project_id)
      })
    for (const { id, shared_group_id } of await endedGroupShares(ctx.db))
      await ctx.transaction(async (tx) => {
        await lockAccess(tx)
        if (await deleteEndedGroupShare(tx, id)) await namespacePlaced(tx, shared_group_id)
      })
  },
})
