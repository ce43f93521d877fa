import type { Db } from '../db/db.ts'
import { and, literal, type Sql, sql } from '../db/sql.ts'
import { Failure } from '../kernel/failure.ts'

/** What the caller asked for: which part of a list. */
export type Page = {
  /** From 1. */
  readonly page: number
  /** 1 to 100. */
  readonly perPage: number
  /** Continue after (or, descending, before) an id rather than count pages. */
  readonly keyset: boolean
  readonly idAfter?: number
  readonly idBefore?: number
}

/** One page of rows, in order. */
export type Paged<Row> = {
  readonly rows: readonly Row[]
  /** Of the whole list; absent when there are more than `countedRows`. */
  readonly total: number | undefined
  readonly hasNext: boolean
  /** The parameter that continues a keyset page: `{ id_after: 42 }`. Absent for an empty page and without keyset. */
  readonly next?: { readonly name: 'id_after' | 'id_before'; readonly id: number }
}

/** Totals are counted up to here and then left out, as the headers allow. */
export const countedRows = 10_000
/** Offsets beyond this are refused on lists that are `capped`. */
const maximumOffset = 10_000

export type Direction = 'asc' | 'desc'

/** A list as its area describes it; limit, offset or keyset and the count are added here for all alike. */
export type List = {
  /** `select … from …`, without a condition. */
  readonly select: Sql
  /** What is counted: `from …`, as narrow as the conditions allow. */
  readonly from: Sql
  /**
   * Unique in `from` and in `select`, like `p.id`. With it the rows of a page are picked from `from` alone, so that what
   * else is selected costs nothing for the rows before them.
   */
  readonly key?: Sql
  readonly where: readonly Sql[]
  /** Must end in something unique. */
  readonly order: readonly { readonly by: Sql; readonly direction: Direction }[]
  /** Set when the order is by id: then pages may continue after an id. The rows must have `id`. */
  readonly keyset?: { readonly direction: Direction } | undefined
  /** Refuses large offsets, as lists may that can be walked by keyset to the end. */
  readonly capped?: boolean
  /** What the list is made of, for messages. */
  readonly type: string
}

const keysetRefused = () =>
  new Failure('paging_refused', 'Keyset pagination is not yet available for this type of request')

const offsetRefused = (type: string) =>
  new Failure(
    'paging_refused',
    `Offset pagination has a maximum allowed offset of ${maximumOffset} for requests that return objects of type ${type}. Remaining records can be retrieved using keyset pagination.`,
  )

/** Where a keyset page begins. The order by id has the id first. */
const cursor = (list: List, { idAfter, idBefore }: Page): Sql[] => {
  const id = list.order[0]!.by
  return [
    ...(idAfter === undefined ? [] : [sql`${id} > ${idAfter}`]),
    ...(idBefore === undefined ? [] : [sql`${id} < ${idBefore}`]),
  ]
}

/** Rows and count of one page. One statement, or two when only a count can tell the total; one with keyset. */
export async function fetchPage<Row>(db: Db, list: List, page: Page): Promise<Paged<Row>> {
  if (page.keyset) return fetchKeysetPage(db, list, page)
  const offset = (page.page - 1) * page.perPage
  if (list.capped && offset > maximumOffset) throw offsetRefused(list.type)
  const where = and(list.where)
  const counted = countStatement(list, where)
  // A total that is likely known goes along with the rows, on the same round trip.
  const early = db.totals?.expects(counted) ? db.totals.count(counted) : undefined
  early?.catch(() => {})
  // One more than asked for tells whether there is a next page.
  const found = await db.rows<Row>(pageStatement(list, where, page.perPage + 1, offset))
  const hasNext = found.length > page.perPage
  // The last page tells the total by itself.
  const ends = !hasNext && (found.length > 0 || offset === 0)
  const total = ends ? offset + found.length : await (early ?? count(db, counted))
  return { rows: found.slice(0, page.perPage), total: total > countedRows ? undefined : total, hasNext }
}

async function fetchKeysetPage<Row>(db: Db, list: List, page: Page): Promise<Paged<Row>> {
  if (!list.keyset) throw keysetRefused()
  const where = and([...list.where, ...cursor(list, page)])
  const found = await db.rows<Row & { id: number }>(pageStatement(list, where, page.perPage + 1, 0))
  const rows = found.slice(0, page.perPage)
  const last = rows.at(-1)
  const name = list.keyset.direction === 'asc' ? 'id_after' : 'id_before'
  return {
    rows,
    total: undefined,
    hasNext: found.length > page.perPage,
    ...(last && { next: { name, id: last.id } as const }),
  }
}

function pageStatement({ select, from, key, order }: List, where: Sql, limit: number, offset: number): Sql {
  const orders = order.map(({ by, direction }) => (direction === 'asc' ? sql`${by} asc` : sql`${by} desc`))
  const sorted = orders.reduce((all, one) => sql`${all}, ${one}`)
  const range = sql`where ${where} order by ${sorted} limit ${literal(limit)} offset ${literal(offset)}`
  if (!key) return sql`${select} ${range}`
  return sql`${select} join (select ${key} as picked ${from} ${range}) as page on page.picked = ${key} order by ${sorted}`
}

/** How many rows a list has; more than `countedRows` are not told apart. */
const countStatement = ({ from }: List, where: Sql): Sql =>
  sql`select 1 ${from} where ${where} limit ${literal(countedRows + 1)}`

async function count(db: Db, rows: Sql): Promise<number> {
  if (db.totals) return db.totals.count(rows)
  return (await db.row<{ total: number }>(sql`select count(*) as total from (${rows}) as counted`))!.total
}

/** A page of a list that is whole in memory. */
export function slicePage<Row>(all: readonly Row[], page: Page): Paged<Row> {
  if (page.keyset) throw keysetRefused()
  const offset = (page.page - 1) * page.perPage
  return {
    rows: all.slice(offset, offset + page.perPage),
    total: all.length,
    hasNext: all.length > offset + page.perPage,
  }
}
