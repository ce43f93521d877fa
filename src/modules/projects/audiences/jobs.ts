import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { eachByItself } from '../../../kernel/each-by-itself.ts'
import { followingTables, projectsAbove, restoreAudience } from './queries.ts'

/** Restores the audience of issues and merge requests that `lowerAudiencesAhead` lowered for a change that failed. */
export const restoreAudiences = job({
  name: 'restore_audiences',
  input: Type.Object({
    place: Type.Union([Type.Object({ projectId: Type.Integer() }), Type.Object({ namespaceId: Type.Integer() })]),
  }),
  key: ({ place }) =>
    `restore_audiences:${'projectId' in place ? `project ${place.projectId}` : `namespace ${place.namespaceId}`}`,
  attempts: 10,
  async run({ place }, ctx) {
    await eachByItself(await projectsAbove(ctx.db, place, 0), async (projectId) => {
      for (const table of followingTables)
        await inBatches((size) => ctx.transaction((tx) => restoreAudience(tx, table, projectId, size)))
    })
  },
})
