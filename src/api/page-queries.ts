import { boundedPage, ofPage, type Statement } from '../db/db.ts'
import { empty, join, literal, raw, type Sql, sql } from '../db/sql.ts'
import { everything, type List, type ListPart, type Preceding } from './list.ts'

/** Pages that end with this row or before are filled by the first part, if it can. For later ones the other parts do not take longer. */
const precedingRows = 64

/** Rows of the table that are looked at for each row of such a page at most. */
const walkedForOne = 64

/** The rows of a page, with all columns. */
export function pageStatement(list: List, where: Sql, limit: number, offset: number): Sql {
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
 * Keys of the rows of a page. Offset and limit are parameters, so that one prepared statement serves all pages; the literal limits
 * within let the planner know that few rows are read, and those around them end with the page.
 */
export function pickedRows(list: List, where: Sql, limit: number, offset: number): Sql {
  const { parts = [everything], given } = list
  const rows = offset + limit
  const read = readsUpTo(rows, list, where)
  const page = (candidates: readonly Sql[]) => sql`
    select picked
    from (${join(candidates, ' union all ')}) as candidates
    order by ${read.merged}
    limit ${limit}
    offset ${offset}
  `
  const [first, ...others] = parts
  if (!first.preceding || rows > precedingRows || others.length === 0)
    return sql`${given ? sql`with ${given}` : empty} ${page(parts.map((part) => read.part(part)))}`
  const { picked } = read
  const last = raw('(select picked from last_row)')
  const areEnough = raw('(select are_enough from preceding_read)')
  return sql`
    with ${given ? sql`${given},` : empty} first_part as materialized ${read.part(first)},
    last_row as materialized (select ${picked} from first_part order by ${read.merged} limit 1 offset ${rows - 1}),
    preceding as materialized ${read.upTo(first.preceding, raw('last_row'))},
    preceding_read as materialized (
      select count(*) >= ${rows} or coalesce(bool_or(picked = ${last}), false) as are_enough from preceding
    ) ${page([
      sql`select ${picked} from first_part`,
      sql`select ${picked} from preceding where ${areEnough} and picked is distinct from ${last}`,
      ...others.map((part) => read.part(part, sql`not ${areEnough}`)),
    ])}
  `
}

/** How the first `rows` rows of a list are read, each as `picked`. */
function readsUpTo(rows: number, list: List, where: Sql) {
  const { from, key, order } = list
  const slices = list.slices?.map((slice) => sql`and ${slice}`) ?? [empty]
  const names = order.map((_, index) => raw(`sorted_${index}`))
  const columns = order.map(({ by }, index) => sql`${by} as ${names[index]!}`)
  const merged = sortedBy(order.map((key, index) => ({ ...key, by: names[index]! })))
  // Named, because `*` counts as a read of whole rows (`TableCatalogue`).
  const picked = sql`picked, ${join(names, ', ')}`
  const needed = rowsToPlan(rows, list)
  // Materialized, so that the planner expects all of them to be read.
  const exactly = (candidates: Sql) => sql`
    (
      with first_ones as materialized (${candidates} limit ${literal(needed)})
      select ${picked}
      from first_ones
      limit ${rows}
    )
  `
  const rowsOf = ({ own }: Pick<ListPart, 'own'>, condition: Sql, tables = own?.from ?? from) =>
    sql`select ${key!} as picked, ${join(columns, ', ')} ${tables} where ${own?.where ?? where} and ${condition}`
  // `offset 0` keeps the planner from reading in order.
  const sorted = (found: Sql) => exactly(sql`select ${picked} from (${found} offset 0) as few order by ${merged}`)
  const allOf = (part: ListPart, condition: Sql) =>
    join(
      waysOf(part).map((way) => sorted(rowsOf(way, sql`${condition} and ${way.only}`))),
      ' union all ',
    )
  const inOrder = (found: Sql) => exactly(sql`${found} order by ${sortedBy(order)}`)
  const firstOfTable = (among: number) =>
    sql`order by ${sortedBy(order)} limit ${literal(Math.min(among * needed, 2 ** 16))}`
  return {
    picked,
    merged,

    /** The rows of a part, if a condition without columns is met. */
    part(part: ListPart, onlyIf = raw('true')): Sql {
      const whole = sql`${onlyIf} and ${part.where}`
      // The first rows of the part are among those of its slices.
      if (!part.few)
        return join(
          slices.map((slice) => inOrder(rowsOf(part, sql`${whole} ${slice}`))),
          ' union all ',
        )
      if (!part.crowded) return allOf(part, whole)
      const { when, from: walked, where: condition, among = 256 } = part.crowded
      const tried = sql`${onlyIf} and ${when(rows)} and ${condition}`
      // Beyond where the walk of a slice ended it may have rows that precede those of another: each must fill the page by itself.
      const checked = slices.map((slice) => inOrder(rowsOf(part, tried, walked(sql`${slice} ${firstOfTable(among)}`))))
      const named = checked.map((_, index) => raw(`checked_${index}`))
      const counts = named.map((name) => sql`(select count(*) from ${name})`)
      const least = sql`least(${join(counts, ', ')})`
      const tables = checked.map((slice, index) => sql`${named[index]!} as materialized ${slice}`)
      const found = named.map((name) => sql`select ${picked} from ${name} where ${least} >= ${rows}`)
      return sql`
        (
          with ${join(tables, ', ')} ${join(found, ' union all ')}
          union all ${allOf(part, sql`${whole} and ${least} < ${rows}`)}
        )
      `
    },

    /**
     * The rows that precede the one in a table expression, and that row itself: if it is missing, there are more, or none were looked for. None are if
     * the expression is empty.
     */
    upTo({ when, from: walked, where: condition }: Preceding, last: Sql): Sql {
      const { by, direction } = order[0]!
      const notAfter = raw(direction === 'asc' ? '<=' : '>=')
      const range = sql`and ${by} ${notAfter} (select sorted_0 from ${last}) ${firstOfTable(walkedForOne)}`
      const isWanted = sql`${when(rows)} and ((${condition}) or ${key!} = (select picked from ${last}))`
      return inOrder(rowsOf({}, isWanted, walked(range)))
    },
  }
}

/** What the rows of a part are read from: one way, or two of which `only` one runs. */
function waysOf({ own, scanned }: Pick<ListPart, 'own' | 'scanned'>): (Pick<ListPart, 'own'> & { only: Sql })[] {
  if (!scanned) return [{ ...(own && { own }), only: raw('true') }]
  const { when, from } = scanned
  return [
    { ...(own && { own }), only: sql`not ${when}` },
    { own: { ...own, from }, only: when },
  ]
}

/**
 * The rows for which a page is planned, so that there are few statements: a power of two from 32, and of a list with one plan 32, 256,
 * 2,048 or 16,384.
 */
function rowsToPlan(rows: number, { onePlan }: Pick<List, 'onePlan'>): number {
  const step = onePlan ? 3 : 1
  return 2 ** (5 + step * Math.max(0, Math.ceil(Math.log2(rows / 32) / step)))
}

/**
 * Expression for the number of rows of a list, of which each part counts as `most` at most. Once the first parts reach `most`, the others are
 * not counted.
 */
export function countOf({ from, parts, given }: Pick<List, 'from' | 'parts' | 'given'>, where: Sql, most: number): Sql {
  const limit = literal(most)
  const counts = (parts ?? [everything]).map((part) => {
    if (part.number) return sql`least(${part.number}, ${limit})`
    const ways = waysOf(part).map(({ own, only }) => {
      const read = { from, where, ...own }
      return { from: read.from, where: sql`${only} and ${read.where} and ${part.where}` }
    })
    const found = (part.counted ? [part.counted] : ways).map((rows) => sql`select 1 ${rows.from} where ${rows.where}`)
    return sql`(select count(*) from (${join(found, ' union all ')} limit ${limit}) as counted)`
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
  onePlan ? ofPage(statement) : boundedPage(statement)

/** The statement of these rows, in the order of the list. */
export const rowsWithIds = ({ select, key, order }: List, ids: readonly number[]): Sql =>
  sql`${select!} where ${key!} = any(${ids}::bigint[]) order by ${sortedBy(order)}`
