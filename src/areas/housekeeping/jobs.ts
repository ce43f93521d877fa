import { Type } from 'typebox'
import { job } from '../../jobs/job.ts'
import { findProject } from '../projects/queries.ts'
import { saveRepositoryFacts } from '../pushes/queries.ts'
import { repositoryFacts } from '../pushes/repository-facts.ts'
import { housekeep } from '../repositories/housekeeping.ts'
import { removeLeftovers } from '../repositories/leftovers.ts'
import { openRepository } from '../repositories/open.ts'

/** Packs and cleans a repository because somebody asked, whatever the settings, and measures it. */
export const housekeepRepository = job({
  name: 'housekeep_repository',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `housekeep_repository:${projectId}`,
  queue: ({ projectId }) => `repository:${projectId}`,
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

/** Longer than making or removing any repository takes. */
const graceMs = 60 * 60_000

/** Takes away repositories that were half made, or half removed, when the service was killed. */
export const removeRepositoryLeftovers = job({
  name: 'remove_repository_leftovers',
  input: Type.Object({}),
  key: () => 'remove_repository_leftovers',
  attempts: 3,
  every: { cron: '50 3 * * *', input: {} },
  async run(_input, ctx) {
    const removed = await removeLeftovers(ctx.repositoriesDir, new Date(Date.now() - graceMs))
    if (removed > 0) ctx.log.info({ removed }, 'removed what a crash left beside repositories')
  },
})
