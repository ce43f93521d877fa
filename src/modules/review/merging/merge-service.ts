import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { conflict, rowNotFound, unauthenticated } from '../../../kernel/failure.ts'
import { canMergeInto, loadProtections } from '../../pushes/index.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { awaitPipeline } from './auto-merge.ts'
import { checkNow } from './check.ts'
import { type Heads, readHeads, targetRepository } from './heads.ts'
import { isAbreast } from './make-merge.ts'
import { mergeHead } from './merge-head.ts'
import {
  conflicting,
  headPipeline,
  isActive,
  isKnownAs,
  isPassing,
  notMergeable,
  requireMergeable,
} from './mergeable.ts'
import { findMerging, type MergeOptions, type MergingRow } from './queries.ts'
import { catchUp } from './update.ts'

/** How somebody asks for a merge. */
export type MergeWish = MergeOptions & {
  /** Where he saw the source branch. */
  readonly sha?: string
  readonly merge_when_pipeline_succeeds: boolean
}

/** Fails, as clients know it, unless role and protection let the caller merge into the target branch. One statement. */
async function requireMergeAccess(ctx: Ctx, { project, target_branch }: MergeRequestSubject): Promise<void> {
  if (!canMergeInto(ctx, project, await loadProtections(ctx, project), target_branch)) throw unauthenticated()
}

/**
 * Merges a merge request for the caller, or has it merged once its pipeline has succeeded. What refuses it, in order: access (401),
 * its state (405), its branches (406), another head than the caller saw (409). A refusal by the rules on pushes is kept as
 * `merge_error`, as clients know it. Of two at once, one merges. Source: supplement to the API documents, "Merge".
 */
export async function merge(ctx: Ctx, subject: MergeRequestSubject, wish: MergeWish): Promise<void> {
  await requireMergeAccess(ctx, subject)
  await catchUp(ctx, subject.id)
  const row = await getMerging(ctx, subject.id)
  const heads = await readHeads(ctx, row)
  const pipeline = await headPipeline(ctx, row)
  await requireMergeable(ctx, row, heads, wish.merge_when_pipeline_succeeds ? 'awaited' : pipeline)
  const source = await requireClean(ctx, row, heads)
  if (wish.sha !== undefined && wish.sha !== source)
    throw conflict(`SHA does not match HEAD of source branch: ${source}`)
  if (!wish.merge_when_pipeline_succeeds || (pipeline && isPassing(pipeline))) return mergeHead(ctx, row, source, wish)
  if (!pipeline || !isActive(pipeline)) throw notMergeable()
  await awaitPipeline(ctx, row, source, wish)
}

async function getMerging(ctx: Ctx, id: number): Promise<MergingRow> {
  const row = await findMerging(ctx.db, id)
  if (!row) throw rowNotFound()
  return row
}

/** Fails when the branches cannot be merged, or not in the way in which the project merges. Returns the source's head. */
async function requireClean(ctx: Ctx, row: MergingRow, { source, target }: Heads): Promise<Oid> {
  // A push since then is another version, of which nobody has said that it may be merged.
  if (!source || !target || source !== row.head_oid) throw notMergeable()
  const merges = isKnownAs('can_be_merged', row, { source, target }) || (await checkNow(ctx, row.id))
  // Somebody else was faster.
  if (merges === undefined) throw notMergeable()
  if (!merges) throw conflicting()
  if (!(await isAbreast(targetRepository(ctx, row), row, { source, target }))) throw conflicting()
  return source
}
