import { describe, expect, test } from 'vitest'
import { projectId } from '../../../bench/world.ts'
import type { Db, Statement } from '../../../src/db/db.ts'
import type { Shape } from '../../../src/db/row.ts'
import { issueOrders } from '../../../src/modules/planning/issue-lists/order-queries.ts'
import { countIssues, listIssues } from '../../../src/modules/planning/issue-lists/queries.ts'
import { signedIn } from '../callers.ts'
import { largestGroup } from '../expected.ts'
import { readsForValues } from '../explain.ts'
import { maximumReads, readsOfMemberships } from '../limits.ts'
import { newest } from '../lists.ts'
import { searchedPage } from '../pages.ts'
import { world } from '../seeded.ts'

export function pagesWithTotals(): void {
  describe.each(signedIn)('a page and its total read a bounded number of rows for %s', (_, caller) => {
    test.each([
      ['issues of a rare label', { labels: ['rare'] }],
      ['issues of a rare label with another filter', { labels: ['rare'], weight: 'None' }],
      ['issues of a rare label with any milestone', { labels: ['rare'], milestone: 'Any' }],
      ['issues of a label that none has, with any assignee', { labels: ['absent'], assignee: 'Any' }],
      ['open issues of a label that nearly all have that are closed', { labels: ['label 9'], state: 'opened' }],
    ] as const)('%s', async (_, filters) => {
      const ofMemberships = await readsOfMemberships(caller)
      const { reads } = await searchedPage(listIssues(caller, { of: 'everyone' }, filters, newest), 2)
      expect(await reads()).toBeLessThan(2 * maximumReads + ofMemberships)
    })

    test.each([
      ['a rare label', { labels: ['rare'] }],
      ['a label that none has', { labels: ['absent'], state: 'opened' }],
    ] as const)('issues of a group with many projects, of %s', async (_, filters) => {
      const group = await largestGroup()
      const set = { of: 'group', traversalIds: [group], archived: true } as const
      const { ids, total, reads } = await searchedPage(listIssues(caller, set, filters, newest), 1)
      expect(total).toBe(ids.length)
      expect(await reads()).toBeLessThan(2 * maximumReads)
    })

    // Its issues are the last ones in the orders whose ties are newest first.
    test.each(issueOrders)('issues of an old project by %s', async (by) => {
      const set = { of: 'project', id: projectId(1) } as const
      const { ids, reads } = await searchedPage(listIssues(caller, set, {}, { by, sort: 'asc' }), 1)
      expect(ids).toHaveLength(20)
      expect(await reads()).toBeLessThan(3 * maximumReads)
    })

    test('statistics of a label that none has', async () => {
      const statements: Statement[] = []
      const row = (shape: Shape, statement: Statement) => {
        statements.push(statement)
        return world.db.snapshotCache.row(shape, statement)
      }
      const db = { ...world.db, snapshotCache: { ...world.db.snapshotCache, row } } as unknown as Db
      expect(await countIssues(db, caller, { of: 'everyone' }, { labels: ['absent'] })).toMatchObject({
        opened: 0,
        closed: 0,
      })
      let sum = 0
      for (const statement of statements) sum += await readsForValues(statement)
      expect(sum).toBeLessThan(maximumReads)
    })
  })
}
