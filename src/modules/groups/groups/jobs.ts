import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { removeProject } from '../../projects/index.ts'
import { deleteGroupRows, projectsToRemove } from './removal-queries.ts'

/** Takes away what a removed group had: its projects one by one, then the groups themselves. */
export const removeGroup = job({
  name: 'remove_group',
  input: Type.Object({ groupId: Type.Integer() }),
  key: ({ groupId }) => `remove_group:${groupId}`,
  attempts: 10,
  async run({ groupId }, ctx) {
    for (const projectId of await projectsToRemove(ctx.db, groupId)) await removeProject.run({ projectId }, ctx)
    await ctx.transaction((tx) => deleteGroupRows(tx, groupId))
  },
})
