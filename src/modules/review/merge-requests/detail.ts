import { allows } from '../../../access/policy.ts'
import { projectPolicy } from '../../../access/project-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { rowNotFound } from '../../../kernel/failure.ts'
import { findPipeline } from '../../ci/index.ts'
import type { Within } from '../../discussion/index.ts'
import { loadProject, type ProjectSubject } from '../../projects/index.ts'
import { canMergeInto, loadProtections } from '../../pushes/index.ts'
import type { MergeRequestDetailRow } from './detail-entity.ts'
import { countDiverged } from './diverged.ts'
import { findRecord } from './record-queries.ts'

export type DetailOptions = {
  /** The project from which references are written; the target project if absent. */
  readonly within?: Within
  readonly divergedCommits?: boolean
  readonly rebasing?: boolean
  readonly renderHtml?: boolean
}

/**
 * Loads what the record of one merge request shows, given its target project. Two statements, and one more each if it has a
 * pipeline and if the source is another project; all are cached until something is committed.
 */
export async function getDetail(
  ctx: Ctx,
  project: ProjectSubject,
  id: number,
  { within = { of: 'project', id: project.id, full_path: project.full_path }, ...wanted }: DetailOptions = {},
): Promise<MergeRequestDetailRow> {
  const [mergeRequest, protections] = await Promise.all([
    findRecord(ctx.db, ctx.actor, id),
    loadProtections(ctx, project),
  ])
  if (!mergeRequest) throw rowNotFound()
  const [pipeline, divergedCommits] = await Promise.all([
    headPipeline(ctx, project, mergeRequest),
    wanted.divergedCommits ? countDiverged(ctx, mergeRequest) : undefined,
  ])
  return {
    mergeRequest,
    within,
    pipeline,
    canMerge: canMergeInto(ctx, project, protections, mergeRequest.target_branch),
    ...(divergedCommits !== undefined && { divergedCommits }),
    ...(wanted.rebasing && { withRebasing: true }),
    ...(wanted.renderHtml && { renderHtml: true }),
  }
}

/** The newest pipeline of the head in the source project, if the caller may read it. */
async function headPipeline(
  ctx: Ctx,
  target: ProjectSubject,
  {
    source_project_id: sourceId,
    head_pipeline_id: pipelineId,
  }: { readonly source_project_id: number | null; readonly head_pipeline_id: number | null },
) {
  if (sourceId === null || pipelineId === null) return undefined
  const project = sourceId === target.id ? target : await loadProject(String(sourceId), ctx)
  if (!project || !allows(projectPolicy.read_pipeline, ctx.actor, project.facts)) return undefined
  const pipeline = await findPipeline(ctx.db, project.id, pipelineId)
  return pipeline && { pipeline, project: { id: project.id, full_path: project.full_path } }
}
