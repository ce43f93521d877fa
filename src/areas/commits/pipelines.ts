import { allows } from '../../access/policy.ts'
import { projectPolicy } from '../../access/project-policy.ts'
import type { Ctx } from '../../api/ctx.ts'
import type { Oid } from '../../git/oid.ts'
import { newestPipelines, type PipelineRow } from '../pipelines/queries.ts'
import type { ProjectSubject } from '../projects/subject.ts'

/**
 * The newest pipeline of each commit, whatever its ref; commits without one are left out, and all of them for a caller
 * who may not read pipelines. One statement.
 */
export async function lastPipelines(
  ctx: Ctx,
  project: Pick<ProjectSubject, 'id' | 'facts'>,
  commits: readonly Oid[],
): Promise<ReadonlyMap<Oid, PipelineRow>> {
  if (!allows(projectPolicy.read_pipeline, ctx.actor, project.facts)) return new Map()
  const found = await newestPipelines(ctx.db, project.id, commits)
  return new Map(found.map((pipeline) => [pipeline.sha, pipeline]))
}
