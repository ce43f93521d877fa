import { Type } from 'typebox'
import { writeSketches } from '../../../git/likeness/sketches.ts'
import { job } from '../../../jobs/job.ts'
import { findProject } from '../projects/queries.ts'
import { openRepository } from '../repositories/open.ts'

/**
 * Writes the sketches of a repository that grew, with which the origin of a new file is found in milliseconds. One repository at
 * a time, because it reads every new file.
 */
export const refreshSketches = job({
  name: 'refresh_sketches',
  slow: true,
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `refresh_sketches:${projectId}`,
  queue: () => 'sketches',
  throttled: true,
  attempts: 3,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    if (await repo.exists()) await writeSketches(repo)
  },
})
