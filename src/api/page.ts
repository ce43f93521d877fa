import { type Db, ofPage, type Statement } from '../db/db.ts'
import { integer, nullable, type RowOf, type Shape, text } from '../db/row.ts'
import { and, raw, type Sql, sql } from '../db/sql.ts'
import { Failure } from '../kernel/failure.ts'
import type { List } from './list.ts'
import { type NarrowedList, prepared } from './matching-queries.ts'
import { countOf, pageStatement, pickedRows, plannedFor, rowsWithIds } from './page-queries.ts'

/** The part of a list that the caller requests. */
export type Page = {
  /** From 1. */
  readonly page: number
  /** 1 to 100. */
  readonly perPage: number
  /** Continues after an id (before it if descending) instead of counting pages. */
  readonly keyset: boolean
  readonly idAfter?: number
  readonly idBefore?: number
}

/** One page of rows, in order. */
export type Paged<Row> = {
  readonly rows: readonly Row[]
  /** Of the whole list; absent above `countedRows`. */
  readonly total: number | undefined
  readonly hasNext: boolean
  /** The parameter that continues a keyset page: `{ id_after: 42 }`. Absent for an empty page and without keyset. */
  readonly next?: { readonly name: 'id_after' | 'id_before'; readonly id: number }
}

/** Totals are counted up to this number; above it they are omitted, as the specification allows. */
export const countedRows = 10_000
/** Number of rows of a `capped` list that pages reach by number; a page that begins after them is refused. */
const cappedRows = 10_000

const keysetRefused = () =>
  new Failure('unsupported', 'Keyset pagination is not yet available for this type of request')

const offsetRefused = (type: string) =>
  new Failure(
    'unsupported',
    `Offset pagination has a maximum allowed offset of ${cappedRows} for requests that return objects of type ${type}. Remaining records can be retrieved using keyset pagination.`,
  )

/** Conditions of a keyset page. The id is the first order key. */
const cursor = (list: List, { idAfter, idBefore }: Page): Sql[] => {
  const id = list.order[0]!.by
  return [
    ...(idAfter === undefined ? [] : [sql`${id} > ${idAfter}`]),
    ...(idBefore === undefined ? [] : [sql`${id} < ${idBefore}`]),
  ]
}

/** A row of a list of cached records: see `CachedRecords`. */
type Stamp = { id: number; stamp: string }

/**
 * Like `fetchPage`, for a list that has a `key`, its id, and selects `id` and `stamp`. The ids are asked for first, so that all lists have one
 * statement of stamps. Fetches and caches both as one text, which is cheaper than rows on both sides.
 */
export async function fetchStamps(db: Db, given: List, page: Page): Promise<Paged<Stamp>> {
  const list = await prepared(db, given)
  const paged = await (list.few ? fetchFew : fetchIdsOfPage)(db, list, page)
  return { ...paged, rows: await fetchStampsOf(db, list, paged.rows) }
}

/** The stamps of these rows, in their order, without those that were deleted meanwhile. */
async function fetchStampsOf(db: Db, list: List, wanted: readonly Identified[]): Promise<Stamp[]> {
  if (wanted.length === 0) return []
  const ids = wanted.map(({ id }) => id)
  const rows = sql`${list.select!} where ${list.key!} = any(${ids}::bigint[])`
  const lines = sql`select string_agg(found.id || ' ' || found.stamp, ${raw(`E'\n'`)}) as lines from (${rows}) as found`
  const stamps = new Map((await stampsFrom(db, ofPage(lines))).map((stamp) => [stamp.id, stamp]))
  return ids.flatMap((id) => stamps.get(id) ?? [])
}

async function stampsFrom(db: Db, statement: Statement): Promise<Stamp[]> {
  const found = await db.snapshotCache.row({ lines: nullable(text) }, statement)
  const lines = found?.lines ?? null
  return lines === null ? [] : lines.split('\n').map(stampFrom)
}

function stampFrom(line: string): Stamp {
  const space = line.indexOf(' ')
  return { id: Number(line.slice(0, space)), stamp: line.slice(space + 1) }
}

/**
 * Rows and total of one page. One statement; two if the total must be counted; one with keyset. With `rowsById` one more, and with
 * `matching`.
 */
export async function fetchPage<S extends Shape>(
  db: Db,
  shape: S,
  given: List,
  page: Page,
): Promise<Paged<Readonly<RowOf<S>>>> {
  const list = await prepared(db, given)
  const reads = list.cached ? db.snapshotCache : db
  if (list.rowsById || list.few) {
    const paged = await (list.few ? fetchFew : fetchIdsOfPage)(db, list, page)
    const rows = list.rowsById
      ? await fetchById(db, shape, list.rowsById, paged.rows)
      : await reads.rows(
          shape,
          ofPage(
            rowsWithIds(
              list,
              paged.rows.map(({ id }) => id),
            ),
          ),
        )
    return { ...paged, rows }
  }
  const { where, offset } = rangeOf(list, page)
  const total = page.keyset ? undefined : totalOf(db, list, where)
  const statement = plannedFor(list, pageStatement(list, where, page.perPage + 1, offset))
  const found: readonly Readonly<RowOf<S>>[] = await reads.rows(shape, statement)
  return total ? offsetPaged(page, found, total) : keysetPaged(list, page, found)
}

type Identified = { readonly id: number }

async function fetchIdsOfPage(db: Db, list: List, page: Page): Promise<Paged<Identified>> {
  const { where, offset } = rangeOf(list, page)
  const total = page.keyset ? undefined : totalOf(db, list, where)
  const ids = await fetchIds(db, list, pickedRows(list, where, page.perPage + 1, offset))
  return total ? offsetPaged(page, ids, total) : keysetPaged(list, page, ids)
}

/** The ids of a page of few rows, which are all fetched. */
async function fetchFew(db: Db, list: NarrowedList, page: Page): Promise<Paged<Identified>> {
  const { where } = rangeOf(list, page)
  const ids = await fetchIds(db, list, pickedRows(list, where, list.few!, 0))
  return page.keyset ? keysetPaged(list, page, ids) : slicePage(ids, page)
}

/** The ids of a page as one text, so that an empty page is cached, too. */
async function fetchIds(db: Db, list: List, picked: Sql): Promise<Identified[]> {
  const found = await db.snapshotCache.row(
    { ids: nullable(text) },
    plannedFor(list, sql`select string_agg(found.picked::text, ',') as ids from (${picked}) as found`),
    holdersOfList(list.ofProject),
  )
  const ids = found?.ids ?? null
  return ids === null ? [] : ids.split(',').map((id) => ({ id: Number(id) }))
}

/** The rows of these ids, in their order, without those that were deleted meanwhile. */
async function fetchById<S extends Shape>(
  db: Db,
  shape: S,
  { statementOf, holdersOf }: NonNullable<List['rowsById']>,
  wanted: readonly Identified[],
): Promise<Readonly<RowOf<S>>[]> {
  const ids = wanted.map(({ id }) => id)
  const identified = shape as S & { readonly id: typeof integer }
  const rows = await db.snapshotCache.byId(identified, ids, statementOf, holdersOf)
  return ids.filter((id) => rows.has(id)).map((id) => rows.get(id) as RowOf<S>)
}

const holdersOfList = (id: number | undefined) => (id === undefined ? undefined : () => ({ projects: [id] }))

/** Conditions and offset of a page. Rejects paging that the list does not support. */
function rangeOf(list: List, page: Page): { where: Sql; offset: number } {
  if (page.keyset) {
    if (!list.keyset) throw keysetRefused()
    return { where: and([...list.where, ...cursor(list, page)]), offset: 0 }
  }
  const offset = (page.page - 1) * page.perPage
  if (list.capped && offset >= cappedRows) throw offsetRefused(list.type)
  return { where: and(list.where), offset }
}

/**
 * `found` has one row more than the page if there is a next page; calls `count` only if the page does not determine the total.
 */
async function offsetPaged<Row>(
  { page, perPage }: Page,
  found: readonly Row[],
  count: () => Promise<number>,
): Promise<Paged<Row>> {
  const offset = (page - 1) * perPage
  const hasNext = found.length > perPage
  const ends = !hasNext && (found.length > 0 || offset === 0)
  const total = ends ? offset + found.length : await count()
  return { rows: found.slice(0, perPage), total: total > countedRows ? undefined : total, hasNext }
}

function keysetPaged<Row>(list: List, { perPage }: Page, found: readonly Row[]): Paged<Row> {
  const rows = found.slice(0, perPage)
  const last = rows.at(-1) as { id: number } | undefined
  const name = list.keyset!.direction === 'asc' ? 'id_after' : 'id_before'
  return {
    rows,
    total: undefined,
    hasNext: found.length > perPage,
    ...(last && { next: { name, id: last.id } as const }),
  }
}

/**
 * Returns a function that counts the rows of a list, up to `countedRows` + 1 of each part. A total that is probably cached is
 * queried at once, in the same round trip as the rows.
 */
function totalOf(db: Db, list: List, where: Sql): () => Promise<number> {
  const { byClock, ofProject } = list
  const statement = plannedFor(list, sql`select ${countOf(list, where, countedRows + 1)} as total`)
  const shape = { total: integer }
  const count = async () =>
    (await (byClock ? db.row(shape, statement) : db.snapshotCache.row(shape, statement, holdersOfList(ofProject))))!
      .total
  if (byClock || !db.snapshotCache.expects(shape, statement)) return count
  const early = count()
  // The total may never be requested.
  early.catch(() => {})
  return () => early
}

/** A page of a list in memory. */
export function slicePage<Row>(all: Pick<readonly Row[], 'length' | 'slice'>, page: Page): Paged<Row> {
  if (page.keyset) throw keysetRefused()
  const offset = (page.page - 1) * page.perPage
  return {
    rows: all.slice(offset, offset + page.perPage),
    total: all.length > countedRows ? undefined : all.length,
    hasNext: all.length > offset + page.perPage,
  }
}
