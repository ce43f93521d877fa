import type { Ctx } from '../../../api/ctx.ts'
import { fetchPage, type Page, type Paged } from '../../../api/page.ts'
import type { NoteablePlace } from '../filters/filters.ts'
import { withinOf } from '../filters/places.ts'
import type { IssueShown } from '../issues/entity.ts'
import { issueRecordRow } from '../issues/record-queries.ts'
import type { IssueOrder } from './order-queries.ts'
import { type IssueFilters, listIssues } from './queries.ts'

/** Which issues of a set are listed, and how. */
export type IssueQuery = {
  readonly filters: IssueFilters
  /** Newest first if absent. */
  readonly order?: IssueOrder
  readonly labelDetails?: boolean
  readonly renderHtml?: boolean
}

/** A page of issues that the caller may read. */
export async function findIssues(
  ctx: Ctx,
  place: NoteablePlace,
  { filters, order = { by: 'created_at', sort: 'desc' }, ...how }: IssueQuery,
  page: Page,
): Promise<Paged<IssueShown>> {
  const found = await fetchPage(ctx.db, issueRecordRow, listIssues(ctx.actor, place, filters, order), page)
  const within = withinOf(place)
  return { ...found, rows: found.rows.map((issue) => ({ issue, within, ...how })) }
}
