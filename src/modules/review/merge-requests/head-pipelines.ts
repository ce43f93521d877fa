import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { newestPipelinesOfRefs, type PipelineRow } from '../../ci/index.ts'
import { findProjects, projectFacts } from '../../projects/index.ts'

/** The source of a merge request, from its row. */
type Head = {
  readonly source_project_id: number | null
  readonly head_oid: Oid | null
  readonly source_branch: string
}

/** A pipeline with its project. */
export type HeadPipeline = {
  readonly pipeline: PipelineRow
  readonly project: { readonly id: number; readonly full_path: string }
}

/** The newest pipeline of a head on its branch in the source project; `undefined` without one that the caller may read. */
export type HeadPipelines = (head: Head) => HeadPipeline | undefined

const keyOf = (projectId: number | null, sha: string | null, ref: string): string => `${projectId} ${sha} ${ref}`

/** Loads them for a whole page. One statement, and one more if there are pipelines. */
export async function headPipelines(ctx: Ctx, heads: readonly Head[]): Promise<HeadPipelines> {
  const wanted = heads.flatMap(({ source_project_id: projectId, head_oid: sha, source_branch: ref }) =>
    projectId === null || sha === null ? [] : [{ projectId, sha, ref }],
  )
  const pipelines = wanted.length === 0 ? [] : await newestPipelinesOfRefs(ctx.db, wanted)
  const ids = [...new Set(pipelines.map(({ project_id }) => project_id))]
  const projects = ids.length === 0 ? [] : await findProjects(ctx.db, ctx.actor, ids)
  const readable = new Map(
    projects
      .filter((project) => allows(projectPolicy.read_pipeline, ctx.actor, projectFacts(project)))
      .map((project) => [project.id, project]),
  )
  const known = new Map<string, HeadPipeline>()
  for (const pipeline of pipelines) {
    const project = readable.get(pipeline.project_id)
    if (!project) continue
    const { id, full_path } = project
    known.set(keyOf(pipeline.project_id, pipeline.sha, pipeline.ref), { pipeline, project: { id, full_path } })
  }
  return ({ source_project_id, head_oid, source_branch }) =>
    known.get(keyOf(source_project_id, head_oid, source_branch))
}
