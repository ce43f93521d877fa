import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { nullable } from '../../../api/schema.ts'
import { PipelineDetail, type PipelineDetailRow } from '../../ci/index.ts'
import type { RenderedTexts } from '../../planning/index.ts'
import { basicFields, basicOf, type MergeRequestShown, renderMergeRequests } from './entity.ts'

/** One merge request with fields that come from other tables or from git. */
export type MergeRequestDetailRow = MergeRequestShown & {
  /** Newest pipeline of the head; `undefined` without one, or if the caller may not read it. */
  readonly pipeline:
    | { readonly pipeline: PipelineDetailRow; readonly project: { readonly id: number; readonly full_path: string } }
    | undefined
  /** By role and branch protection. */
  readonly canMerge: boolean
  /** Only if requested. */
  readonly withRebasing?: boolean
}

export const detailFields = {
  ...basicFields,
  merge_error: nullable(Type.String({ description: 'Error of the last merge' })),
  user: Type.Object(
    { can_merge: Type.Boolean({ description: 'True if the caller may merge into the target branch' }) },
    { description: 'Permissions of the caller' },
  ),
  head_pipeline: nullable(PipelineDetail.schema, { description: 'Newest pipeline of the head with details' }),
  rebase_in_progress: Type.Optional(Type.Boolean({ description: 'Present on request' })),
}

/** The values of `detailFields`. */
export const detailOf = (row: MergeRequestDetailRow, ctx: Ctx, html?: RenderedTexts) => ({
  ...basicOf(row, ctx, row.pipeline, html),
  merge_error: row.mergeRequest.merge_error,
  user: { can_merge: row.canMerge },
  head_pipeline: row.pipeline ? PipelineDetail.present(row.pipeline, ctx, undefined) : null,
  ...(row.withRebasing && { rebase_in_progress: row.mergeRequest.rebasing }),
})

/** One merge request. */
export const MergeRequestDetail = entity({
  name: 'MergeRequestDetail',
  schema: Type.Object(detailFields),
  gather: (rows: readonly MergeRequestDetailRow[], ctx) => renderMergeRequests(ctx, rows),
  present: detailOf,
})
