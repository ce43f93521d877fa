import type { List } from '../../src/api/list.ts'
import { fetchPage } from '../../src/api/page.ts'
import type { Db, Statement } from '../../src/db/db.ts'
import { integer, notNull, type Shape } from '../../src/db/row.ts'
import { sql } from '../../src/db/sql.ts'
import { planWithPages, readsOfStatement } from './explain.ts'
import { pagesOf } from './plan.ts'
import { client, world } from './seeded.ts'

/** The statement that reads a page of 20. */
export async function pageOf(list: List, page: number): Promise<Statement> {
  const statements: Statement[] = []
  const rows = async (_: unknown, statement: Statement) => {
    statements.push(statement)
    return []
  }
  const row = async (shape: Shape, statement: Statement) => {
    // What the page is read from is asked first.
    if ('found' in shape) return world.db.row(shape, statement)
    if ('ids' in shape) statements.push(statement)
    return { total: 0, ids: null }
  }
  const byId = async () => new Map()
  const db = { rows, snapshotCache: { rows, row, byId, expects: () => false } } as unknown as Db
  // The records of the page are read one by one in any case.
  await fetchPage(
    db,
    {},
    { ...list, select: sql`select ${list.key!} ${list.from}` },
    { page, perPage: 20, keyset: false },
  )
  return statements[0]!
}

/** What a page of 20 reads, with the plan that the service has it read with. */
export const readsOfPage = async (list: List, page: number): Promise<number> =>
  readsOfStatement(await pageOf(list, page))

/** The ids of a page of 20, and of the row after it. */
export async function idsOf(list: List, page: number): Promise<string[]> {
  const { text, values } = await pageOf(list, page)
  const { rows } = await client.query<{ ids: string | null }>(text, values)
  return rows[0]!.ids?.split(',') ?? []
}

/** A page of 20 of a search, from the first statement on, and what these read with the plans that the service has them read with. */
export async function searchedPage(list: List, page: number) {
  const statements: Statement[] = []
  const cache = world.db.snapshotCache
  const { rowsById: _, ...withoutRecords } = list
  const recorded = (statement: Statement) => {
    statements.push(statement)
    return statement
  }
  const row = (shape: Shape, statement: Statement) => cache.row(shape, recorded(statement))
  const rows = (shape: Shape, statement: Statement) => cache.rows(shape, recorded(statement))
  const paged = await fetchPage(
    { ...world.db, snapshotCache: { row, rows, expects: () => false } } as unknown as Db,
    { id: notNull(integer) },
    { ...withoutRecords, cached: true, select: sql`select ${list.key!} as id ${list.from}` },
    { page, perPage: 20, keyset: false },
  )
  const reads = async () => {
    let sum = 0
    for (const statement of statements) sum += await readsOfStatement(statement)
    return sum
  }
  const pages = async () => {
    let sum = 0
    for (const statement of statements) sum += pagesOf(await planWithPages(statement))
    return sum
  }
  return { ids: paged.rows.map(({ id }) => String(id)), total: paged.total, reads, pages }
}
