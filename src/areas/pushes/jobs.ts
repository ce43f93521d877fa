import { Type } from 'typebox'
import type { Ctx } from '../../api/ctx.ts'
import { packRefs, writeCommitGraph } from '../../git/maintenance.ts'
import { countLooseRefs } from '../../git/ref-files.ts'
import type { Repository } from '../../git/repository.ts'
import { enqueue, job } from '../../jobs/job.ts'
import { findProject } from '../projects/queries.ts'
import { repositoryRefreshDue } from '../projects/refresh-due.ts'
import { housekeepWhenDue } from '../repositories/housekeeping.ts'
import { openRepository } from '../repositories/open.ts'
import { saveRepositoryFacts } from './queries.ts'
import { repositoryFacts } from './repository-facts.ts'

/** More files of refs than this make lists of them slow. */
const looseRefs = 500

/** What housekeeping was put off, because it had been done a moment before. */
export const housekeepLater = job({
  name: 'housekeep_later',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `housekeep_later:${projectId}`,
  queue: ({ projectId }) => `repository:${projectId}`,
  attempts: 5,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (project) await housekeepNowOrLater(ctx, projectId, openRepository(ctx, project))
  },
})

async function housekeepNowOrLater(ctx: Ctx, projectId: number, repo: Repository): Promise<void> {
  const laterMs = await housekeepWhenDue(ctx, projectId, repo)
  if (laterMs !== undefined) await ctx.transaction((tx) => enqueue(tx, housekeepLater, { projectId }, laterMs))
}

/** After pushes: keeps the commit-graph fresh, packs when that is due, and counts what records show. */
export const refreshRepository = job({
  ...repositoryRefreshDue,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    if (!(await repo.exists())) return
    await housekeepNowOrLater(ctx, projectId, repo)
    if ((await countLooseRefs(repo)) > looseRefs) await packRefs(repo)
    await writeCommitGraph(repo)
    await saveRepositoryFacts(ctx.db, projectId, await repositoryFacts(repo, project.default_branch))
  },
})
