import { Type } from 'typebox'
import { pureEntity } from '../../../api/pure-entity.ts'
import type { RecordView } from '../../../api/record-view.ts'
import { nullable } from '../../../api/schema.ts'
import { PipelineDetail, type PipelineDetailRow, pipelineDetail } from '../../ci/index.ts'
import type { RenderedTexts } from '../../planning/index.ts'
import { basicFields, basicInputs, basicOf, type MergeRequestShown, renderMergeRequests } from './entity.ts'

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

/** What the record of one merge request shows. */
type DetailInputs = Omit<MergeRequestDetailRow, 'labelDetails' | 'renderHtml'> & { readonly html?: RenderedTexts }

/** The values of `detailFields`. */
export const detailOf = (inputs: DetailInputs, view: RecordView) => ({
  ...basicOf(inputs, view),
  merge_error: inputs.mergeRequest.merge_error,
  user: { can_merge: inputs.canMerge },
  head_pipeline: inputs.pipeline ? pipelineDetail(inputs.pipeline, view) : null,
  ...(inputs.withRebasing && { rebase_in_progress: inputs.mergeRequest.rebasing }),
})

/** One merge request. */
export const MergeRequestDetail = pureEntity({
  name: 'MergeRequestDetail',
  schema: Type.Object(detailFields),
  async inputs(rows: readonly MergeRequestDetailRow[], ctx) {
    const html = await renderMergeRequests(ctx, rows)
    return rows.map((row, index) => ({
      ...basicInputs(row),
      pipeline: row.pipeline,
      canMerge: row.canMerge,
      ...(row.withRebasing && { withRebasing: true }),
      html: html[index]!,
    }))
  },
  present: detailOf,
})
