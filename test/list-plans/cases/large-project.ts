import { beforeAll, describe, expect, test } from 'vitest'
import { userId } from '../../../bench/world.ts'
import { countedRows } from '../../../src/api/page.ts'
import { and, sql } from '../../../src/db/sql.ts'
import { listIssues } from '../../../src/modules/planning/issue-lists/queries.ts'
import { actor } from '../callers.ts'
import { hasLabel, plainPage, plainTotal } from '../expected.ts'
import { newest } from '../lists.ts'
import { searchedPage } from '../pages.ts'
import { client } from '../seeded.ts'

export function largeProject(): void {
  describe('issues of a project with 21,000 of them', () => {
    const caller = actor(userId(77))
    let id: number
    beforeAll(async () => {
      const { rows } = await client.query(
        'select id from projects where visibility = 20 and issues_access_level = 20 order by id limit 1',
      )
      id = Number(rows[0].id)
      await client.query('set session_replication_role = replica')
      await client.query(
        `insert into issues (iid, project_id, title, author_id, audience, created_at, updated_at)
        select 2000000 + k, $1, 'Issue', $2, 20, timestamptz '2021-01-01' + k * interval '1 minute', now()
        from generate_series(1, 21000) k`,
        [id, userId(3)],
      )
      await client.query(
        `with made as (
          insert into labels (project_id, title, color) select $1, title, '#336699' from unnest(array['busy', 'general']) title
          returning id, title
        )
        insert into issue_labels (issue_id, label_id, noteable_state, noteable_audience)
        select i.id, made.id, i.state, i.audience
        from issues i join made on made.title = 'general' or i.iid % 14 = 0
        where i.project_id = $1 and i.iid > 2000000`,
        [id],
      )
      await client.query('reset session_replication_role')
      await client.query('vacuum analyze issues, issue_labels, labels')
    })

    test.each([
      ['1,500 have is kept in a hash table', 'busy', 2 * 21_000],
      ['all have is looked up in the order', 'general', 5 * 21_000],
    ])('a label that %s', async (_, title, most) => {
      for (const page of [1, 3]) {
        const filters = { labels: [title.toUpperCase()] }
        const listed = listIssues(caller, { of: 'project', id }, filters, newest)
        const { ids, total, reads } = await searchedPage(listed, page)
        const filter = and([sql`m.project_id = ${id}`, hasLabel('Issue', title)])
        expect(ids).toEqual((await plainPage('Issue', caller, 'created_at desc', page, filter)).slice(0, 20))
        const all = await plainTotal('Issue', caller, filter)
        expect(total).toBe(all > countedRows ? undefined : all)
        expect(await reads()).toBeLessThanOrEqual(most)
      }
    })
  })
}
