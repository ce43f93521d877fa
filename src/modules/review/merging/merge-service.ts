import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { conflict, Failure, rowNotFound } from '../../../kernel/failure.ts'
import { isActive, isPassing } from '../../ci/index.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { awaitPipeline } from './auto-merge.ts'
import { checkNow } from './check.ts'
import { type Heads, readHeads, targetRepository } from './heads.ts'
import { satisfiesMergeMethod } from './make-merge.ts'
import { requireMergeAccess } from './merge-access.ts'
import { mergeHead } from './merge-head.ts'
import { conflicting, headPipeline, isKnownAs, notMergeable, requireMergeable } from './mergeable.ts'
import { findMerging, type MergeOptions, type MergingRow } from './queries.ts'
import { syncWithBranches } from './update.ts'

/** Options of a merge. */
export type MergeWish = MergeOptions & {
  /** Expected head of the source branch. */
  readonly sha?: string
  readonly merge_when_pipeline_succeeds: boolean
}

/**
 * Merges a merge request for the caller, or enables an automatic merge. Checked in this order: permission (401), state (405),
 * branches (406), expected head (409). If the push rules refuse it, the reason is stored as `merge_error`. Of two concurrent calls
 * one merges. Source: supplement to the API documents, "Merge".
 */
export async function merge(ctx: Ctx, subject: MergeRequestSubject, wish: MergeWish): Promise<void> {
  await requireMergeAccess(ctx, subject)
  const { row, heads } = await getCurrent(ctx, subject.id, wish)
  const pipeline = await headPipeline(ctx, row)
  await requireMergeable(ctx, row, heads, wish.merge_when_pipeline_succeeds ? 'awaited' : pipeline)
  const mergesNow = !wish.merge_when_pipeline_succeeds || (pipeline && isPassing(pipeline.status))
  try {
    const source = await requireClean(ctx, row, heads, wish)
    if (wish.sha !== undefined && wish.sha !== source) throw anotherHead(source)
    if (!mergesNow && !(pipeline && isActive(pipeline.status))) throw notMergeable()
    await (mergesNow ? mergeHead : awaitPipeline)(ctx, row, source, wish)
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'wrong_state') throw error
    throw (await pushedMeanwhile(ctx, row.id, wish)) ?? error
  }
}

const anotherHead = (head: Oid): Failure => conflict(`SHA does not match HEAD of source branch: ${head}`)

/** The failure for callers who expect a head, if a push has replaced it since. */
async function pushedMeanwhile(ctx: Ctx, id: number, wish: MergeWish): Promise<Failure | undefined> {
  if (wish.sha === undefined) return undefined
  const row = await getMerging(ctx, id)
  const head = (await readHeads(ctx, row)).source
  return row.state === 'opened' && head && head !== wish.sha ? anotherHead(head) : undefined
}

/** The merge request with its heads, updated again if a push to the expected head has just ended. */
async function getCurrent(ctx: Ctx, id: number, wish: MergeWish): Promise<{ row: MergingRow; heads: Heads }> {
  for (let again = true; ; again = false) {
    await syncWithBranches(ctx, id)
    const row = await getMerging(ctx, id)
    const heads = await readHeads(ctx, row)
    if (!again || heads.source === row.head_oid || heads.source !== wish.sha) return { row, heads }
  }
}

/**
 * Merges a merge request for the caller once the pipeline of its head succeeds, which may not exist yet. Fails as `merge` does if
 * the caller may not merge, or if something else than the pipeline prevents it.
 */
export async function mergeOncePipelineSucceeds(ctx: Ctx, subject: MergeRequestSubject): Promise<void> {
  await requireMergeAccess(ctx, subject)
  await syncWithBranches(ctx, subject.id)
  const row = await getMerging(ctx, subject.id)
  const heads = await readHeads(ctx, row)
  await requireMergeable(ctx, row, heads, 'awaited')
  await awaitPipeline(ctx, row, await requireClean(ctx, row, heads, {}), {})
}

async function getMerging(ctx: Ctx, id: number): Promise<MergingRow> {
  const row = await findMerging(ctx.db, id)
  if (!row) throw rowNotFound()
  return row
}

/** Fails if the branches cannot be merged, or not with the merge method of the project. Returns the head of the source. */
async function requireClean(
  ctx: Ctx,
  row: MergingRow,
  { source, target }: Heads,
  wish: { readonly sha?: string | undefined },
): Promise<Oid> {
  if (!source || !target) throw notMergeable()
  // A push since then makes another version, which the caller has not approved for merging.
  if (source !== row.head_oid)
    throw wish.sha === undefined || wish.sha === source ? notMergeable() : anotherHead(source)
  const merges = isKnownAs('can_be_merged', row, { source, target }) || (await checkNow(ctx, row.id))
  // A concurrent merge was faster.
  if (merges === undefined) throw notMergeable()
  if (!merges) throw conflicting()
  if (!(await satisfiesMergeMethod(targetRepository(ctx, row), row, { source, target }))) throw conflicting()
  return source
}
