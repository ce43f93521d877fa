import type { Ctx } from '../../../api/ctx.ts'
import { as, type Variant } from '../../../api/endpoint.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import { type NoteablePlace, withinOf } from '../../planning/index.ts'
import { countDiverged } from '../merge-requests/diverged.ts'
import { MergeRequest, type MergeRequestShown, MergeRequestSimple } from '../merge-requests/entity.ts'
import { lostChecks } from '../merge-requests/merge-status-queries.ts'
import { type MergeRequestRecordRow, mergeRequestRecordRow } from '../merge-requests/record-queries.ts'
import type { MergeStatus } from '../merge-requests/states.ts'
import { checkLater } from '../merging/check.ts'
import { filtersOf, type ListInput, orderOf } from './list-params.ts'
import { listMergeRequests, type MergeRequestFilters, type MergeRequestOrder } from './list-queries.ts'

/** A page of a list, in the requested view. */
export async function mergeRequestsPage(
  ctx: Ctx,
  place: NoteablePlace,
  input: ListInput,
  page: Page,
): Promise<Variant> {
  const asked = { filters: filtersOf(input, ctx.plan), order: orderOf(input) }
  const found = await findMergeRequests(ctx, place, asked, page)
  if (input.view === 'simple') return as(MergeRequestSimple, found)
  const how = { labelDetails: input.with_labels_details, renderHtml: input.render_html }
  const rows = input.include_diverged_commits_count ? await withDiverged(ctx, found.rows) : found.rows
  return as(MergeRequest, { ...found, rows: rows.map((row) => ({ ...row, ...how })) })
}

/** Counted one after the other, so that one list does not occupy all git processes. */
async function withDiverged(ctx: Ctx, shown: readonly MergeRequestShown[]): Promise<MergeRequestShown[]> {
  const counted: MergeRequestShown[] = []
  for (const each of shown) counted.push({ ...each, divergedCommits: await countDiverged(ctx, each.mergeRequest) })
  return counted
}

const unchecked: ReadonlySet<MergeStatus> = new Set(['unchecked', 'cannot_be_merged_recheck'])

/** Queues the check for those with an unknown merge status, and for those whose check was lost, so that a later request has the result. */
export async function checkUnchecked(
  ctx: Ctx,
  rows: readonly Pick<MergeRequestRecordRow, 'id' | 'state' | 'merge_status'>[],
): Promise<void> {
  const idsOf = (is: (status: MergeStatus) => boolean) =>
    rows.filter(({ state, merge_status }) => state === 'opened' && is(merge_status)).map(({ id }) => id)
  const checking = idsOf((status) => status === 'checking')
  const waiting = [
    ...idsOf((status) => unchecked.has(status)),
    ...(checking.length > 0 ? await lostChecks(ctx.db, checking) : []),
  ]
  if (waiting.length > 0) await ctx.transaction((tx) => checkLater(tx, waiting))
}

/** A page of merge requests that the caller may read. */
export async function findMergeRequests(
  ctx: Ctx,
  place: NoteablePlace,
  { filters, order }: { readonly filters: MergeRequestFilters; readonly order: MergeRequestOrder },
  page: Page,
): Promise<Paged<MergeRequestShown>> {
  const list = listMergeRequests(ctx.actor, place, filters, order)
  const found = await fetchPage(ctx.db, mergeRequestRecordRow, list, page)
  await checkUnchecked(ctx, found.rows)
  const within = withinOf(place)
  return { ...found, rows: found.rows.map((mergeRequest) => ({ mergeRequest, within })) }
}
