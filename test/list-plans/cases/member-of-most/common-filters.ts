import { beforeAll, describe, expect, test } from 'vitest'
import { userId } from '../../../../bench/world.ts'
import { raw } from '../../../../src/db/sql.ts'
import { listIssues } from '../../../../src/modules/planning/issue-lists/queries.ts'
import { plainPage } from '../../expected.ts'
import { newest, projects } from '../../lists.ts'
import { readsOfPage, searchedPage } from '../../pages.ts'
import { client } from '../../seeded.ts'
import { listsOfALargeGroup } from './large-group.ts'
import { member } from './member.ts'
import { readers } from './readers.ts'

export function commonFiltersOfMember(): void {
  describe('with filters that many meet', () => {
    const wanted = readers.flatMap(([who, reader]) =>
      (
        [
          ['due_date', { state: 'opened' }, `m.state = 'opened'`],
          ['weight', { state: 'opened' }, `m.state = 'opened'`],
          ['milestone_due', {}, 'true'],
          ['created_at', { assignee: 'Any' }, 'exists (select from issue_assignees a where a.issue_id = m.id)'],
          [
            'updated_at',
            { assignee: 'Any', state: 'opened' },
            `m.state = 'opened'
            and exists (select from issue_assignees a where a.issue_id = m.id)`,
          ],
          ['created_at', { milestone: 'upcoming' }, 'm.milestone_id is not null'],
        ] as const
      ).map(([by, filters, condition]) => [by, JSON.stringify(filters), who, filters, condition, reader] as const),
    )

    beforeAll(addCommonValues)

    test.each(wanted)('pages by %s with %s read few of them for %s', async (by, _, __, filters, condition, reader) => {
      const list = listIssues(reader, { of: 'everyone' }, filters, { by, sort: 'asc' })
      const { rows } = await client.query('select count(*) from issues')
      for (const page of [1, 3]) {
        const { ids, reads } = await searchedPage(list, page)
        expect(ids).toEqual((await plainPage('Issue', reader, `${by} asc`, page, raw(condition))).slice(0, 20))
        expect(ids).toHaveLength(20)
        expect(await readsOfPage(list, page)).toBeLessThan(Number(rows[0].count) / 4)
        // The total counts up to 10,001 of each part; 5,000 are looked at to see whether they are few.
        expect(await reads()).toBeLessThan(Number(rows[0].count) * 1.5)
      }
    })

    test('issues of an author are read with their projects, not with all that the caller may see', async () => {
      const list = listIssues(member, { of: 'everyone' }, { scope: 'created_by_me' }, newest)
      const { rows } = await client.query('select count(*) from issues where author_id = $1', [member.id])
      expect(Number(rows[0].count)).toBeGreaterThan(100)
      expect(await readsOfPage(list, 1)).toBeLessThan(8 * Number(rows[0].count) + 5_000)
    })

    listsOfALargeGroup()

    test.each([{}, { membership: true }, { visibility: 'private' }] as const)(
      'projects with %j are read in the order',
      async (filters) => {
        expect(await readsOfPage(projects(member, filters), 1)).toBeLessThan(4_000)
      },
    )
  })
}

/** Dates, assignees, authors and milestones that many issues have. */
async function addCommonValues(): Promise<void> {
  await client.query('set session_replication_role = replica')
  // What is closed comes first in these orders.
  await client.query(`update issues set due_date = '2020-01-01', weight = 1 where state = 'closed'`)
  await client.query(
    'insert into issue_assignees (issue_id, user_id) select id, $1 from issues on conflict do nothing',
    [userId(901)],
  )
  await client.query(`update issues set author_id = $1 where id % 300 = 5`, [member.id])
  const { rows } = await client.query(`
    insert into milestones (iid, namespace_id, title, state, due_date)
    select 900, id, 'Next', 'active', current_date + 2 from namespaces where kind = 'group' order by id limit 1 returning id`)
  await client.query('update issues set milestone_id = $1, milestone_due = current_date + 2 where id % 2 = 0', [
    rows[0].id,
  ])
  await client.query('update issues set milestone_id = null, milestone_due = null where id % 2 = 1')
  await client.query('update issue_updates u set author_id = m.author_id from issues m where m.id = u.id')
  await client.query('set session_replication_role = origin')
  await client.query('vacuum analyze issues, issue_updates, issue_assignees')
}
