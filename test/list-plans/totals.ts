import type { Actor } from '../../src/access/actor.ts'
import type { List } from '../../src/api/list.ts'
import { fetchPage } from '../../src/api/page.ts'
import type { Db, Statement } from '../../src/db/db.ts'
import type { Shape } from '../../src/db/row.ts'
import { countIssues, type IssueFilters } from '../../src/modules/planning/issue-lists/queries.ts'
import { planWithPages } from './explain.ts'
import { pagesOf } from './plan.ts'
import { world } from './seeded.ts'

/** The statement that counts the rows of a list. */
export async function totalStatement(list: List): Promise<Statement> {
  const statements: Statement[] = []
  const row = async (shape: Shape, statement: Statement) => {
    if ('found' in shape) return world.db.row(shape, statement)
    if ('total' in shape) statements.push(statement)
    return { total: 0, ids: '1,2' }
  }
  const db = { snapshotCache: { row, byId: async () => new Map(), expects: () => false } } as unknown as Db
  await fetchPage(db, {}, list, { page: 1, perPage: 1, keyset: false })
  return statements[0]!
}

/** Statistics of all issues that a caller may read and that match the filters, and how many pages the last statement reads, for each state. */
export async function statisticsOf(caller: Actor, filters: IssueFilters) {
  const statements: Statement[] = []
  const row = (shape: Shape, statement: Statement) => {
    statements.push(statement)
    return world.db.snapshotCache.row(shape, statement)
  }
  const db = { ...world.db, snapshotCache: { row } } as unknown as Db
  const counts = await countIssues(db, caller, { of: 'everyone' }, filters)
  const plan = await planWithPages(statements.at(-1)!)
  return { counts, pages: pagesOf(plan) / 2, plan }
}
