import { Type } from 'typebox'
import { visibilities } from '../../../access/levels.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import { eachByItself } from '../../../kernel/each-by-itself.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { withAudiencesLowered } from '../../projects/index.ts'
import { removeGroup } from './jobs.ts'
import { removeHeld } from './removal.ts'
import { groupsBeingRemoved, groupsDueForRemoval, lockDueGroup } from './removal-queries.ts'

/** Deletes groups whose deletion period is over. */
export const removeMarkedGroups = job({
  name: 'remove_marked_groups',
  input: Type.Object({}),
  key: () => 'remove_marked_groups',
  attempts: 3,
  every: { cron: '40 * * * *', input: {} },
  async run(_input, ctx) {
    const days = ctx.settings.deletion_adjourned_period
    await eachByItself(await groupsDueForRemoval(ctx.db, days), (id) =>
      withAudiencesLowered(ctx, [{ namespaceId: id }], visibilities.private, () =>
        ctx.transaction(async (tx) => {
          await lockAccess(tx)
          // A group that was restored, or deleted with its parent, is skipped.
          const held = await lockDueGroup(tx, id, days)
          if (held) await removeHeld(tx, held, null)
        }),
      ),
    )
  },
})

/** Restarts deletions whose job failed on every attempt. */
export const resumeGroupRemovals = job({
  name: 'resume_group_removals',
  input: Type.Object({}),
  key: () => 'resume_group_removals',
  attempts: 3,
  every: { cron: '35 3 * * *', input: {} },
  async run(_input, ctx) {
    for (const groupId of await groupsBeingRemoved(ctx.db))
      await ctx.transaction((tx) => enqueue(tx, removeGroup, { groupId }))
  },
})
