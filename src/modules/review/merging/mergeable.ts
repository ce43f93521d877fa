import type { Ctx } from '../../../api/ctx.ts'
import { Failure } from '../../../kernel/failure.ts'
import { findNewestPipeline, type PipelineRow, type Status } from '../../ci/index.ts'
import { hasUnresolved } from '../../discussion/index.ts'
import { isApproved } from '../approvals/queries.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import type { MergeStatus } from '../merge-requests/queries.ts'
import { isDraft } from '../merge-requests/title.ts'
import type { Heads } from './heads.ts'
import type { MergingRow } from './queries.ts'

export const notMergeable = (): Failure => new Failure('wrong_state', 'The merge request cannot be merged now')
export const conflicting = (): Failure => new Failure('not_acceptable', 'Branch cannot be merged')

/** The newest pipeline of the head of the source branch. One statement. */
export const headPipeline = async (ctx: Ctx, row: MergingRow): Promise<PipelineRow | undefined> =>
  row.source_project_id === null || row.head_oid === null
    ? undefined
    : findNewestPipeline(ctx.db, row.source_project_id, row.head_oid, row.source_branch)

/** The pipeline is not finished. */
const active: ReadonlySet<Status> = new Set(['created', 'preparing', 'pending', 'running', 'scheduled'])
export const isActive = (pipeline: PipelineRow): boolean => active.has(pipeline.status)

/** Pipeline states that satisfy a project where the pipeline must succeed. */
const passing: ReadonlySet<Status> = new Set(['success', 'skipped'])
export const isPassing = (pipeline: PipelineRow): boolean => passing.has(pipeline.status)

/**
 * Fails unless the state of a merge request allows a merge, for every caller and regardless of the branches; the `pipeline` is not
 * checked for an automatic merge, which waits for it. Source: supplement to the API documents, "Merge".
 */
export async function requireMergeable(
  ctx: Ctx,
  row: MergingRow,
  heads: Heads,
  pipeline: PipelineRow | undefined | 'awaited',
): Promise<void> {
  const isPlain = row.state === 'opened' && !isDraft(row.title) && row.commits > 0 && heads.source && heads.target
  if (!isPlain || isKnownAs('cannot_be_merged', row, heads)) throw notMergeable()
  if (row.target.needs_pipeline && pipeline !== 'awaited' && pipeline && !isPassing(pipeline)) throw notMergeable()
  if (row.target.needs_resolution && (await hasUnresolved(ctx.db, asNoteable(row)))) throw notMergeable()
  if (!(await isApproved(ctx.db, row.id, ctx.plan))) throw notMergeable()
}

/** Whether this result is valid for the current heads. */
export const isKnownAs = (status: MergeStatus, row: MergingRow, { source, target }: Heads): boolean =>
  row.merge_status === status && row.merge_status_source_oid === source && row.merge_status_target_oid === target
