import { Type } from 'typebox'
import { job } from '../../../jobs/job.ts'
import { findProject, housekeep, openRepository, saveRepositoryFacts } from '../../projects/index.ts'
import { packingLimits } from '../pushes/jobs.ts'
import { repositoryFacts } from '../pushes/repository-facts.ts'

/** Packs and cleans a repository on request, whatever the settings, and measures it. */
export const housekeepRepository = job({
  name: 'housekeep_repository',
  slow: true,
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `housekeep_repository:${projectId}`,
  alone: ({ projectId }) => `repository:${projectId}`,
  limits: packingLimits,
  attempts: 3,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    if (!(await repo.exists())) return
    await housekeep(ctx, projectId, repo, 'gc')
    await saveRepositoryFacts(ctx.db, projectId, await repositoryFacts(repo, project.default_branch))
  },
})
