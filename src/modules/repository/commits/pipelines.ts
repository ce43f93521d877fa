import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { newestPipelines, type PipelineRow } from '../../ci/index.ts'
import type { ProjectSubject } from '../../projects/index.ts'

type CommitOfProject = {
  readonly commit: { readonly oid: Oid }
  readonly project: Pick<ProjectSubject, 'id' | 'facts'>
}

/** The newest pipeline of a commit, for any ref; `undefined` without one. */
export type LastPipelines = (row: CommitOfProject) => PipelineRow | undefined

const keyOf = (projectId: number, sha: string): string => `${projectId} ${sha}`

/** Loads them for a whole page; none where the caller may not read pipelines. One statement. */
export async function lastPipelines(ctx: Ctx, rows: readonly CommitOfProject[]): Promise<LastPipelines> {
  const readable = rows.filter(({ project }) => allows(projectPolicy.read_pipeline, ctx.actor, project.facts))
  const commits = readable.map(({ project, commit }) => ({ projectId: project.id, sha: commit.oid }))
  const found = commits.length === 0 ? [] : await newestPipelines(ctx.db, commits)
  const known = new Map(found.map((pipeline) => [keyOf(pipeline.project_id, pipeline.sha), pipeline]))
  return ({ project, commit }) => known.get(keyOf(project.id, commit.oid))
}
