import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { followingTables, restoreAudience } from './queries.ts'

/** Rows that are restored at once. */
const size = 1000

/** Restores the audience of issues and merge requests that was lowered for a change that failed, or that left their project as it is. */
export const restoreAudiences = job({
  name: 'restore_audiences',
  /** `hasFailed`: the change is known to have failed, or to have left the project as it is. Another job with false waits in case that its process ends. */
  input: Type.Object({ projectId: Type.Integer(), hasFailed: Type.Boolean() }),
  key: ({ projectId, hasFailed }) => `restore_audiences:${projectId}${hasFailed ? ':failed' : ''}`,
  attempts: 10,
  async run({ projectId }, ctx) {
    for (const table of followingTables) {
      // Fewer than `size` may be written although more are left: some may have been deleted meanwhile.
      while ((await ctx.transaction((tx) => restoreAudience(tx, table, projectId, size))) > 0);
    }
  },
})
