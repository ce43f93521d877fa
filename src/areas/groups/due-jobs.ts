import { Type } from 'typebox'
import { job } from '../../jobs/job.ts'
import { lockAccess } from '../access-index/service.ts'
import { removeHeld } from './removal.ts'
import { groupsDueForRemoval, lockDueGroup } from './removal-queries.ts'

/** Removes groups that were put away long enough ago. */
export const removeMarkedGroups = job({
  name: 'remove_marked_groups',
  input: Type.Object({}),
  key: () => 'remove_marked_groups',
  attempts: 3,
  every: { cron: '40 * * * *', input: {} },
  async run(_input, ctx) {
    const days = ctx.settings.deletion_adjourned_period
    for (const id of await groupsDueForRemoval(ctx.db, days))
      await ctx.transaction(async (tx) => {
        await lockAccess(tx)
        // Restored meanwhile, or removed with the group above, it needs nothing.
        const held = await lockDueGroup(tx, id, days)
        if (held) await removeHeld(tx, held, null)
      })
  },
})
