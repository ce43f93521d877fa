import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { inBatches } from '../../../db/batches.ts'
import { deleteEventsOfGroups } from '../../../events/retention.ts'
import { job } from '../../../jobs/job.ts'
import { eachByItself } from '../../../kernel/each-by-itself.ts'
import { removeProject } from '../../projects/index.ts'
import { deleteGroupRows, groupsToRemove, projectsToRemove } from './removal-queries.ts'

/** Deletes the data of a deleted group: its projects one by one, then the groups. */
export const removeGroup = job({
  name: 'remove_group',
  input: Type.Object({ groupId: Type.Integer() }),
  key: ({ groupId }) => `remove_group:${groupId}`,
  attempts: 10,
  async run({ groupId }, ctx) {
    await removeContents(ctx, groupId)
    await ctx.transaction(async (tx) => {
      await tx.allowLongStatements()
      await deleteGroupRows(tx, groupId)
    })
  },
})

/** Deletes what is in a deleted namespace: all but the rows of it and of its subgroups. */
export async function removeContents(ctx: Ctx, groupId: number): Promise<void> {
  await eachByItself(await projectsToRemove(ctx.db, groupId), (projectId) => removeProject.run({ projectId }, ctx))
  const groupIds = await groupsToRemove(ctx.db, groupId)
  await inBatches((size) => deleteEventsOfGroups(ctx.db, groupIds, size))
}
