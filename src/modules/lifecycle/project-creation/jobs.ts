import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { copyQueue, fillFromProject } from '../imports/copy.ts'

/** Fills a new project with the repository of its template. */
export const copyTemplate = job({
  name: 'copy_template',
  slow: true,
  input: Type.Object({
    projectId: Type.Integer(),
    storage: Type.String(),
    templateId: Type.Integer(),
    defaultBranch: Type.Optional(Type.String({ description: 'Requested default branch, used if it exists' })),
  }),
  key: ({ projectId }) => `copy_template:${projectId}`,
  queue: () => copyQueue,
  attempts: 10,
  run: ({ templateId, defaultBranch, ...place }, ctx) =>
    fillFromProject(ctx, place, { sourceId: templateId, ability: 'read_code', defaultBranch }),
})
