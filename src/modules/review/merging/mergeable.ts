import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { Failure } from '../../../kernel/failure.ts'
import { findNewestPipeline, type PipelineRow } from '../../ci/index.ts'
import { hasUnresolved } from '../../discussion/index.ts'
import { isApproved } from '../approvals/queries.ts'
import { type DetailedMergeStatus, detailedMergeStatus, type MergeFacts } from '../merge-requests/mergeability.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import type { MergeStatus } from '../merge-requests/states.ts'
import type { Heads } from './heads.ts'
import type { MergingRow } from './queries.ts'

export const notMergeable = (): Failure => new Failure('wrong_state', 'The merge request cannot be merged now')
export const conflicting = (): Failure => new Failure('not_acceptable', 'Branch cannot be merged')

/** The newest pipeline of the head of the source branch. One statement. */
export const headPipeline = async (ctx: Ctx, row: MergingRow): Promise<PipelineRow | undefined> =>
  row.source_project_id === null || row.head_oid === null
    ? undefined
    : findNewestPipeline(ctx.db, row.source_project_id, row.head_oid, row.source_branch)

/** Nothing but the check of the branches can prevent the merge. */
const beforeCheck: ReadonlySet<DetailedMergeStatus> = new Set(['mergeable', 'checking', 'unchecked'])

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
  await requireStatus(ctx, row, pipeline, {
    hasCommits: row.commits > 0 && heads.source !== undefined && heads.target !== undefined,
    mergeStatus: isKnownAs(row.merge_status, row, heads) ? row.merge_status : 'unchecked',
  })
}

/**
 * The same for a merge that waited for its turn and has just locked the merge request, with all that may have changed since; the branches
 * are left to the merge itself. Three statements.
 */
export async function requireMergeableNow(ctx: Ctx, tx: Tx, row: MergingRow): Promise<void> {
  const now = { ...ctx, db: tx }
  const pipeline = row.target.needs_pipeline ? await headPipeline(now, row) : undefined
  await requireStatus(now, row, pipeline, { hasCommits: true, mergeStatus: 'unchecked' })
}

async function requireStatus(
  ctx: Ctx,
  row: MergingRow,
  pipeline: PipelineRow | undefined | 'awaited',
  ofBranches: Pick<MergeFacts, 'hasCommits' | 'mergeStatus'>,
): Promise<void> {
  const { needs_pipeline, needs_resolution } = row.target
  const status = detailedMergeStatus({
    ...row,
    ...ofBranches,
    // Known only once the branches are checked.
    needsRebase: false,
    pipeline: (needs_pipeline && pipeline !== 'awaited' && pipeline?.status) || null,
    isUnresolved: needs_resolution && (await hasUnresolved(ctx.db, asNoteable(row))),
    isApproved: await isApproved(ctx.db, row.id, ctx.plan),
  })
  if (!beforeCheck.has(status)) throw notMergeable()
}

/** Whether this result is valid for the current heads. */
export const isKnownAs = (status: MergeStatus, row: MergingRow, { source, target }: Heads): boolean =>
  row.merge_status === status && row.merge_status_source_oid === source && row.merge_status_target_oid === target
