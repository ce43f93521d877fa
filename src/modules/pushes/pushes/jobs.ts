import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { needsSketches } from '../../../git/likeness/sketches.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { needsGraph } from '../../../git/transfer/graph-need.ts'
import { writeCommitGraph } from '../../../git/transfer/maintenance.ts'
import { enqueue, job } from '../../../jobs/job.ts'
import type { JobLimits } from '../../../jobs/limits.ts'
import {
  findProject,
  housekeepingDueIn,
  housekeepWhenDue,
  openRepository,
  refreshSketches,
  saveRepositoryFacts,
} from '../../projects/index.ts'
import { packManyRefs } from './loose-refs.ts'
import { repositoryFacts } from './repository-facts.ts'

/** Of jobs that pack a repository, which may take minutes: maximum at once, and of them those that one user caused. Two users leave one. */
const [packedAtOnce, packedOfOne] = [4, 2]

export const packingLimits = async (_input: object, _ctx: Ctx, share: string | undefined): Promise<JobLimits> => ({
  packing: packedAtOnce,
  ...(share !== undefined && { [`packing: ${share}`]: { atMost: packedOfOne, of: ['packing'] } }),
})

/** Packs a repository after enough pushes. */
export const housekeepAfterPushes = job({
  name: 'housekeep_after_pushes',
  slow: true,
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `housekeep_after_pushes:${projectId}`,
  alone: ({ projectId }) => `repository:${projectId}`,
  limits: packingLimits,
  attempts: 5,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    await housekeepWhenDue(ctx, projectId, repo)
    await planHousekeeping(ctx, projectId, repo)
  },
})

async function planHousekeeping(ctx: Ctx, projectId: number, repo: Repository): Promise<void> {
  const dueMs = await housekeepingDueIn(ctx, projectId, repo)
  if (dueMs !== undefined) await ctx.transaction((tx) => enqueue(tx, housekeepAfterPushes, { projectId }, dueMs))
}

/** Runs after pushes (src/reactions.ts): updates the commit-graph and the counts in records. */
export const refreshRepository = job({
  name: 'refresh_repository',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `refresh_repository:${projectId}`,
  alone: ({ projectId }) => `repository:${projectId}`,
  throttled: true,
  // Retries for over four minutes, so that records are updated after a short outage of the database.
  attempts: 6,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    if (!(await repo.exists())) return
    await packManyRefs(repo)
    if (await needsGraph(repo)) await writeCommitGraph(repo)
    await saveRepositoryFacts(ctx.db, projectId, await repositoryFacts(repo, project.default_branch))
    if (await needsSketches(repo)) await ctx.transaction((tx) => enqueue(tx, refreshSketches, { projectId }))
    await planHousekeeping(ctx, projectId, repo)
  },
})
