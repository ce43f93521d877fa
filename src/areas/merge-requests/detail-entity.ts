import { Type } from 'typebox'
import type { Ctx } from '../../api/ctx.ts'
import { entity } from '../../api/entity.ts'
import { nullable, timestamp } from '../../api/schema.ts'
import { PipelineDetail, PipelineReferenceSchema, pipelineReference } from '../pipelines/entity.ts'
import type { PipelineDetailRow } from '../pipelines/queries.ts'
import { basicFields, basicOf, type MergeRequestShown } from './entity.ts'
import type { MergeRequestRecordRow } from './record-queries.ts'

/** One merge request with what is asked of more than its own tables. */
export type MergeRequestDetailRow = MergeRequestShown & {
  readonly mergeRequest: MergeRequestRecordRow & { readonly subscribed: boolean }
  /** The newest of its head; `undefined` when there is none, or none that the caller may read. */
  readonly pipeline:
    | { readonly pipeline: PipelineDetailRow; readonly project: { readonly id: number; readonly full_path: string } }
    | undefined
  /** By role and protection. */
  readonly canMerge: boolean
  /** Only when asked for. */
  readonly divergedCommits?: number
  readonly withRebasing?: boolean
}

export const detailFields = {
  ...basicFields,
  subscribed: Type.Boolean({ description: 'The caller is told of what happens to it' }),
  changes_count: nullable(Type.String(), { description: 'Files; `1000+` when there are more than are shown' }),
  merge_error: nullable(Type.String({ description: 'Why the last merge did not come to be' })),
  user: Type.Object({ can_merge: Type.Boolean() }),
  pipeline: nullable(PipelineReferenceSchema, { description: 'The newest of its head' }),
  head_pipeline: nullable(PipelineDetail.schema, { description: 'The same, whole' }),
  latest_build_started_at: nullable(timestamp()),
  latest_build_finished_at: nullable(timestamp()),
  first_deployed_to_production_at: nullable(timestamp('There are no deployments')),
  diff_refs: nullable(
    Type.Object({
      base_sha: nullable(Type.String(), { description: 'Null when the histories have nothing in common' }),
      head_sha: Type.String(),
      start_sha: Type.String(),
    }),
    { description: 'Null while a branch is missing' },
  ),
  diverged_commits_count: Type.Optional(
    Type.Integer({ description: 'Commits of the target branch that the source lacks, when asked for' }),
  ),
  rebase_in_progress: Type.Optional(Type.Boolean({ description: 'When asked for' })),
}

/** The values of `detailFields`. */
export function detailOf(row: MergeRequestDetailRow, ctx: Ctx) {
  const { mergeRequest, pipeline: found, divergedCommits, withRebasing } = row
  const { head_oid, start_oid, base_oid, files, overflow } = mergeRequest
  return {
    ...basicOf(row, ctx),
    subscribed: mergeRequest.subscribed,
    changes_count: files === 0 ? null : `${files}${overflow ? '+' : ''}`,
    merge_error: mergeRequest.merge_error,
    user: { can_merge: row.canMerge },
    pipeline: found ? pipelineReference(found.pipeline, found.project, ctx.site) : null,
    head_pipeline: found ? PipelineDetail.present(found, ctx, undefined) : null,
    latest_build_started_at: found?.pipeline.started_at ?? null,
    latest_build_finished_at: found?.pipeline.finished_at ?? null,
    first_deployed_to_production_at: null,
    diff_refs:
      head_oid && start_oid
        ? { base_sha: base_oid as string | null, head_sha: head_oid as string, start_sha: start_oid as string }
        : null,
    ...(divergedCommits !== undefined && { diverged_commits_count: divergedCommits }),
    ...(withRebasing && { rebase_in_progress: mergeRequest.rebasing }),
  }
}

/** One merge request. */
export const MergeRequestDetail = entity({
  name: 'MergeRequestDetail',
  schema: Type.Object(detailFields),
  present: detailOf,
})
