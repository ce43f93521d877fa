import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { copyQueue, fillFromProject } from '../imports/copy.ts'

/** Fills a fork with the repository of its source. */
export const copySource = job({
  name: 'copy_source',
  slow: true,
  input: Type.Object({ projectId: Type.Integer(), storage: Type.String(), sourceId: Type.Integer() }),
  key: ({ projectId }) => `copy_source:${projectId}`,
  queue: () => copyQueue,
  attempts: 10,
  run: ({ sourceId, ...place }, ctx) => fillFromProject(ctx, place, { sourceId, ability: 'fork_project' }),
})
