import { byKey, type Db, type HoldersOf, type Statement } from '../db/db.ts'
import { integer, nullable, type RowOf, type Shape, text } from '../db/row.ts'
import { and, empty, join, literal, raw, type Sql, sql } from '../db/sql.ts'
import { Failure } from '../kernel/failure.ts'

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

export type Direction = 'asc' | 'desc'

/**
 * How to read a part that has many rows: the first rows of the whole table, in the order of the list, are checked one by one. Only if too
 * few of them belong to the part, all of its rows are read and sorted.
 */
export type Crowded = {
  /** Whether looking for `rows` rows in the order takes less than reading all of the part. Has no columns, and is cheap. */
  readonly when: (rows: number) => Sql
  /** `from` of the list, with its table replaced by the rows of the table in this range: `order by … limit …`. */
  readonly from: (range: Sql) => Sql
  /** The condition of the part, cheap for each row. */
  readonly where: Sql
}

/** Rows of a list that are read separately. */
export type ListPart = {
  /** A condition in addition to those of the list. */
  readonly where: Sql
  /**
   * The condition leads to few rows, as memberships do: these are read and then sorted. Otherwise rows are read in order, and the
   * planner, which does not know how many meet a condition, might read all rows that do not.
   */
  readonly few?: boolean
  /** For a part with `few` that may have many rows after all. */
  readonly crowded?: Crowded
  /** The same rows `from` fewer tables, to be counted. */
  readonly counted?: { readonly from: Sql; readonly where: Sql }
  /** An expression for how many rows there are, if that is stored: nothing is counted then. */
  readonly number?: Sql | undefined
}

/** The parts of a list, of which the one that does not have `few` rows has a stored number of them. */
export const numbered = (parts: NonNullable<List['parts']>, number: Sql): NonNullable<List['parts']> =>
  parts.map((part) => (part.few ? part : { ...part, number })) as [ListPart, ...ListPart[]]

/** A list as its module describes it; limit, offset or keyset and the count are added here. */
export type List = {
  /** `select … from …`, without a condition. Absent with `rowsById`. */
  readonly select?: Sql
  /** The rows to count: `from …`, as narrow as the conditions allow. */
  readonly from: Sql
  /**
   * Unique in `from` and in `select`, like `p.id`. With it the rows of a page are selected from `from` alone, so that the other
   * columns cost nothing for the rows before them.
   */
  readonly key?: Sql
  readonly where: readonly Sql[]
  /**
   * Disjoint parts of the list; requires `key`. Each is read from an index that suits it, up to the end of the page, and merged. A
   * single condition with `or` would be read row by row from the index of the order, past all rows that the caller cannot see.
   */
  readonly parts?: readonly [ListPart, ...ListPart[]] | undefined
  /** Common table expressions, `name as …`, to which the conditions of parts refer. */
  readonly given?: Sql | undefined
  /** One plan is as good for any values (`byKey`), for a page and for the total. A test reads such lists with it. */
  readonly onePlan?: boolean | undefined
  /** The last key must be unique. Rows where a key is null come last in both directions if `nulls` says so. */
  readonly order: readonly { readonly by: Sql; readonly direction: Direction; readonly nulls?: 'last' }[]
  /** Set if the order is by id, so that pages can continue after an id. The rows must have `id`. */
  readonly keyset?: { readonly direction: Direction } | undefined
  /** Caches pages (`CachedReads`). Requires that nothing in the list depends on the clock. */
  readonly cached?: boolean
  /**
   * Caches each row by itself, and the ids of a page: a change that concerns one row, and neither the conditions nor the order, outdates
   * that row alone. Requires `cached`, a `key` that is the id, and an `id` in the shape.
   */
  readonly rowsById?: {
    readonly statementOf: (ids: readonly number[]) => Statement
    readonly holdersOf: (row: any) => ReturnType<HoldersOf<Shape>>
  }
  /** The ids of a page and the total depend on rows of this project and of groups only (`HoldersOf`). */
  readonly ofProject?: number | undefined
  /** Some conditions depend on the clock, as with what expires, so the total cannot be cached either. */
  readonly byClock?: boolean
  /** Rejects large offsets; for lists that support keyset pagination. */
  readonly capped?: boolean
  /** Name of the records, for messages. */
  readonly type: string
}

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
 * Like `fetchPage`, for a list that selects `id` and `stamp`. Fetches the page as one text, which is cheaper than rows on both
 * sides, and caches it.
 */
export async function fetchStamps(db: Db, list: List, page: Page): Promise<Paged<Stamp>> {
  const { where, offset } = rangeOf(list, page)
  const rows = pageStatement(list, where, page.perPage + 1, offset)
  const total = page.keyset ? undefined : totalOf(db, list, where)
  const found = await db.snapshotCache.row(
    { lines: nullable(text) },
    plannedFor(
      list,
      sql`select string_agg(found.id || ' ' || found.stamp, ${raw(`E'\n'`)}) as lines from (${rows}) as found`,
    ),
  )
  const lines = found?.lines ?? null
  const stamps = lines === null ? [] : lines.split('\n').map(stampFrom)
  return total ? offsetPaged(page, stamps, total) : keysetPaged(list, page, stamps)
}

function stampFrom(line: string): Stamp {
  const space = line.indexOf(' ')
  return { id: Number(line.slice(0, space)), stamp: line.slice(space + 1) }
}

/** Rows and total of one page. One statement; two if the total must be counted; one with keyset. With `rowsById` one more. */
export async function fetchPage<S extends Shape>(
  db: Db,
  shape: S,
  list: List,
  page: Page,
): Promise<Paged<Readonly<RowOf<S>>>> {
  const { where, offset } = rangeOf(list, page)
  const total = page.keyset ? undefined : totalOf(db, list, where)
  if (list.rowsById) {
    const ids = await fetchIds(db, list, pickedRows(list, where, page.perPage + 1, offset))
    const paged = total ? await offsetPaged(page, ids, total) : keysetPaged(list, page, ids)
    return {
      ...paged,
      rows: await fetchById(
        db,
        shape,
        list.rowsById,
        paged.rows.map(({ id }) => id),
      ),
    }
  }
  const statement = plannedFor(list, pageStatement(list, where, page.perPage + 1, offset))
  const found: readonly Readonly<RowOf<S>>[] = await (list.cached ? db.snapshotCache : db).rows(shape, statement)
  return total ? offsetPaged(page, found, total) : keysetPaged(list, page, found)
}

/** The ids of a page as one text, so that an empty page is cached, too. */
async function fetchIds(db: Db, list: List, picked: Sql): Promise<{ readonly id: number }[]> {
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
  ids: readonly number[],
): Promise<Readonly<RowOf<S>>[]> {
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
function pickedRows({ from, key, order, parts, given }: List, where: Sql, limit: number, offset: number): Sql {
  const names = order.map((_, index) => raw(`sorted_${index}`))
  const columns = order.map(({ by }, index) => sql`${by} as ${names[index]!}`)
  const merged = sortedBy(order.map((key, index) => ({ ...key, by: names[index]! })))
  // Named, because `*` counts as a read of whole rows (`TableCatalogue`).
  const picked = sql`picked, ${join(names, ', ')}`
  const needed = rowsToRead(offset + limit)
  const most = literal(needed)
  const rowsOf = (tables: Sql, condition: Sql) =>
    sql`select ${key!} as picked, ${join(columns, ', ')} ${tables} where ${where} and ${condition}`
  // `offset 0` keeps the planner from reading in order.
  const sorted = (rows: Sql) => sql`(select ${picked} from (${rows} offset 0) as few order by ${merged} limit ${most})`
  const inOrder = (rows: Sql) => sql`(${rows} order by ${sortedBy(order)} limit ${most})`
  const candidates = (parts ?? [everything]).map((part) => {
    if (!part.few) return inOrder(rowsOf(from, part.where))
    if (!part.crowded) return sorted(rowsOf(from, part.where))
    const range = sql`order by ${sortedBy(order)} limit ${literal(rowsToCheck(needed))}`
    const checked = rowsOf(part.crowded.from(range), sql`${part.crowded.when(needed)} and ${part.crowded.where}`)
    const found = raw('(select count(*) from checked)')
    return sql`
      (
        with checked as materialized ${inOrder(checked)} select ${picked} from checked where ${found} >= ${most}
        union all ${sorted(rowsOf(from, sql`${part.where} and ${found} < ${most}`))}
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

const everything: ListPart = { where: raw('true') }

/** A power of two, so that there are few statements. */
const rowsToRead = (rows: number): number => 2 ** Math.max(5, Math.ceil(Math.log2(rows)))

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
    const rows = part.counted ?? { from, where: sql`${where} and ${part.where}` }
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
