import { byKey, type Db, type Statement } from '../db/db.ts'
import { integer, nullable, type RowOf, type Shape, text } from '../db/row.ts'
import { and, empty, join, literal, raw, type Sql, sql } from '../db/sql.ts'
import { Failure } from '../kernel/failure.ts'
import { everything, type List, type ListPart } from './list.ts'
import { type NarrowedList, prepared } from './matching-queries.ts'

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
/** Maximum offset on lists that are `capped`. */
const maximumOffset = 10_000

const keysetRefused = () =>
  new Failure('unsupported', 'Keyset pagination is not yet available for this type of request')

const offsetRefused = (type: string) =>
  new Failure(
    'unsupported',
    `Offset pagination has a maximum allowed offset of ${maximumOffset} for requests that return objects of type ${type}. Remaining records can be retrieved using keyset pagination.`,
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
  const stamps = new Map((await stampsFrom(db, byKey(lines))).map((stamp) => [stamp.id, stamp]))
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
      : await reads.rows(shape, byKey(rowsOf(list, paged.rows)))
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

/** The statement of these rows, in the order of the list. */
const rowsOf = ({ select, key, order }: List, rows: readonly Identified[]): Sql =>
  sql`${select!} where ${key!} = any(${rows.map(({ id }) => id)}::bigint[]) order by ${sortedBy(order)}`

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
  if (list.capped && offset > maximumOffset) throw offsetRefused(list.type)
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

function pageStatement(list: List, where: Sql, limit: number, offset: number): Sql {
  const { select, key, order } = list
  const sorted = sortedBy(order)
  if (!key) return sql`${select!} where ${where} order by ${sorted} limit ${literal(limit)} offset ${literal(offset)}`
  return sql`
    ${select!} join (${pickedRows(list, where, limit, offset)}) as page on page.picked = ${key} order by ${sorted}
  `
}

const sortedBy = (order: List['order']): Sql =>
  join(
    // Ascending keys have their nulls last in any case.
    order.map(({ by, direction, nulls }) =>
      direction === 'asc' ? sql`${by} asc` : nulls === 'last' ? sql`${by} desc nulls last` : sql`${by} desc`,
    ),
    ', ',
  )

/**
 * Keys of the rows of a page. Offset and limit are parameters, so that one prepared statement serves all pages; the literal limit
 * within lets the planner know that few rows are read.
 */
function pickedRows(list: List, where: Sql, limit: number, offset: number): Sql {
  const { from, key, order, parts, given } = list
  const names = order.map((_, index) => raw(`sorted_${index}`))
  const columns = order.map(({ by }, index) => sql`${by} as ${names[index]!}`)
  const merged = sortedBy(order.map((key, index) => ({ ...key, by: names[index]! })))
  // Named, because `*` counts as a read of whole rows (`TableCatalogue`).
  const picked = sql`picked, ${join(names, ', ')}`
  const needed = rowsToRead(offset + limit, list)
  const most = literal(needed)
  const rowsOf = ({ own }: ListPart, condition: Sql, tables = own?.from ?? from) =>
    sql`select ${key!} as picked, ${join(columns, ', ')} ${tables} where ${own?.where ?? where} and ${condition}`
  // `offset 0` keeps the planner from reading in order.
  const sorted = (rows: Sql) => sql`(select ${picked} from (${rows} offset 0) as few order by ${merged} limit ${most})`
  const inOrder = (rows: Sql) => sql`(${rows} order by ${sortedBy(order)} limit ${most})`
  const candidates = (parts ?? [everything]).map((part) => {
    if (!part.few) return inOrder(rowsOf(part, part.where))
    if (!part.crowded) return sorted(rowsOf(part, part.where))
    const range = sql`order by ${sortedBy(order)} limit ${literal(rowsToCheck(needed))}`
    const { when, from: walked, where: condition } = part.crowded
    const checked = rowsOf(part, sql`${when(needed)} and ${condition}`, walked(range))
    const found = raw('(select count(*) from checked)')
    return sql`
      (
        with checked as materialized ${inOrder(checked)} select ${picked} from checked where ${found} >= ${most}
        union all ${sorted(rowsOf(part, sql`${part.where} and ${found} < ${most}`))}
      )
    `
  })
  return sql`
    ${given ? sql`with ${given}` : empty}
    select picked
    from (${join(candidates, ' union all ')}) as candidates
    order by ${merged}
    limit ${limit}
    offset ${offset}
  `
}

/**
 * So that there are few statements: a power of two from 32, and of a list with one plan 32, 256, 2,048 or 16,384, as planning takes longer than
 * reading some hundred of its rows.
 */
function rowsToRead(rows: number, { onePlan }: Pick<List, 'onePlan'>): number {
  const step = onePlan ? 3 : 1
  return 2 ** (5 + step * Math.max(0, Math.ceil(Math.log2(rows / 32) / step)))
}

/** Rows of a table to check for those of a crowded part: enough if one of 256 belongs to it. */
const rowsToCheck = (needed: number): number => Math.min(256 * needed, 2 ** 16)

/**
 * Expression for the number of rows of a list, of which each part counts as `most` at most. Once the first parts reach `most`, the others are
 * not counted.
 */
export function countOf({ from, parts, given }: Pick<List, 'from' | 'parts' | 'given'>, where: Sql, most: number): Sql {
  const limit = literal(most)
  const counts = (parts ?? [everything]).map((part) => {
    if (part.number) return sql`least(${part.number}, ${limit})`
    const { own = { from, where } } = part
    const rows = part.counted ?? { from: own.from, where: sql`${own.where} and ${part.where}` }
    return sql`(select count(*) from (select 1 ${rows.from} where ${rows.where} limit ${limit}) as counted)`
  })
  // `offset 0` keeps the planner from writing out, and so counting, the first part twice.
  const sum = counts.reduceRight(
    (rest, count) => sql`
      (
        select case when first_part.found >= ${limit} then first_part.found else first_part.found + ${rest} end
        from (select ${count} as found offset 0) as first_part
      )
    `,
  )
  return given ? sql`(with ${given} select ${sum})` : sum
}

/** A statement of rows or totals of the list, planned as suits it. */
export const plannedFor = ({ onePlan }: Pick<List, 'onePlan'>, statement: Sql): Statement =>
  onePlan ? byKey(statement) : statement

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
