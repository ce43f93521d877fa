import { describe, expect, test } from 'vitest'
import { userId } from '../../../bench/world.ts'
import { and, sql } from '../../../src/db/sql.ts'
import { listIssues } from '../../../src/modules/planning/issue-lists/queries.ts'
import { listMergeRequests } from '../../../src/modules/review/reading/list-queries.ts'
import { actor } from '../callers.ts'
import { hasLabel, plainPage, plainTotal } from '../expected.ts'
import { onePlanOf } from '../explain.ts'
import { maximumReads } from '../limits.ts'
import { newest, noteableKinds } from '../lists.ts'
import { pageOf, searchedPage } from '../pages.ts'
import { scansOf } from '../plan.ts'
import { client } from '../seeded.ts'

export function membersFindRowsInIndexes(): void {
  test.each([
    ['issues_project_', 'created_at', listIssues],
    ['issue_updates_project', 'updated_at', listIssues],
    ['merge_requests_project_', 'created_at', listMergeRequests],
    ['merge_request_updates_project', 'updated_at', listMergeRequests],
  ] as const)('rows of %s by %s that a member of projects may read are found in it alone', async (index, by, list) => {
    const member = actor(userId(313))
    for (const state of [undefined, 'opened', 'closed'] as const) {
      const filters = state && { state }
      // Of the first pages, those before the last open row may be found in the order.
      const statement = await pageOf(list(member, { of: 'everyone' }, { ...filters }, { by, sort: 'desc' }), 5)
      const scans = scansOf(await onePlanOf(statement), index)
      expect(scans.length).toBeGreaterThan(0)
      expect(new Set(scans)).toEqual(new Set(['Index Only Scan']))
    }
  })
}

export function labelsInAProject(): void {
  describe.each(noteableKinds)('%s of a project with a label', (table, type, list) => {
    test.each([
      ['label 3', 'label 3'],
      ['rare', 'rare'],
      ['everywhere', 'Everywhere'],
    ] as const)('%s: a page and the total read those of the project only, or of a rare label', async (label, title) => {
      const { rows } = await client.query(
        `select project_id as id, count(*) from ${table} group by 1 order by count(*) desc limit 1`,
      )
      const [{ id, count }] = rows
      for (const state of [undefined, 'opened'] as const) {
        const filters = { labels: [label], ...(state && { state }) }
        const listed = list(actor(userId(77)), { of: 'project', id: Number(id) }, filters, newest)
        const { ids, total, reads } = await searchedPage(listed, 1)
        const filter = and([
          sql`m.project_id = ${Number(id)}`,
          hasLabel(type, title),
          ...(state ? [sql`m.state = ${state}`] : []),
        ])
        expect(ids).toEqual((await plainPage(type, actor(userId(77)), 'created_at desc', 1, filter)).slice(0, 20))
        expect(total).toBe(await plainTotal(type, actor(userId(77)), filter))
        // Some for each of less than a thousand with the label anywhere, or for each row of the project.
        expect(await reads()).toBeLessThanOrEqual(4 * maximumReads + 8 * Number(count))
      }
    })
  })
}
