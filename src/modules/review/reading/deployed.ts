import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { ancestorsAmong } from '../../../git/history/ancestry.ts'
import { findPreviousCommit, type getDeployment } from '../../ci/index.ts'
import { openRepository, type ProjectSubject } from '../../projects/index.ts'
import { newestMerges } from './deployed-queries.ts'

/** Merge requests of a project that are looked for in a deployment: those that were merged last. */
export const maxCandidates = 1000

/** The ids of the merge requests that a successful deployment brought to its environment. At most two walks of the history. */
export async function findDeployed(
  ctx: Ctx,
  project: ProjectSubject,
  deployment: Awaited<ReturnType<typeof getDeployment>>,
): Promise<readonly number[]> {
  if (deployment.status !== 'success') return []
  const merges = await newestMerges(ctx.db, project.id, maxCandidates)
  if (merges.length === 0) return []
  const repo = openRepository(ctx, project)
  const commits = merges.map(({ oid }) => oid)
  const now = await ancestorsAmong(repo, deployment.sha as Oid, commits)
  const previous = await findPreviousCommit(ctx.db, deployment)
  const before = previous === undefined ? new Set<Oid>() : await ancestorsAmong(repo, previous, [...now])
  return merges.filter(({ oid }) => now.has(oid) && !before.has(oid)).map(({ id }) => id)
}
