import { expect, test } from 'vitest'
import { userId } from '../../../bench/world.ts'
import { columnOf, tableOf } from '../../../src/modules/discussion/noteables/queries.ts'
import { listIssues } from '../../../src/modules/planning/issue-lists/queries.ts'
import { listMergeRequests } from '../../../src/modules/review/reading/list-queries.ts'
import { actor } from '../callers.ts'
import { onePlanOf } from '../explain.ts'
import { newest } from '../lists.ts'
import { scansOf } from '../plan.ts'
import { client } from '../seeded.ts'

export function recordsOfMergeRequests(): void {
  test('the records of a page of merge requests read no comments of the caller on others', async () => {
    const busy = userId(3)
    // Twenty on each of 2,000: half of them by one user, the others by many. PostgreSQL expects some dozens by any user.
    await client.query(
      `insert into notes (project_id, merge_request_id, author_id, body, discussion_id)
      select m.project_id, m.id, case when k % 2 = 0 then $1 else u.id end, 'Yes', md5('yes ' || m.id || '.' || k) || 'deadbeef'
      from (select id, project_id from merge_requests order by id desc limit 2000) m
        cross join generate_series(1, 20) k
        join (select id, row_number() over (order by id) as n from users) u on u.n = 1 + (m.id * 31 + k) % 900`,
      [busy],
    )
    await client.query('vacuum analyze notes')
    const { rowsById } = listMergeRequests(actor(busy), { of: 'everyone' }, {}, newest)
    const { rows } = await client.query('select id from merge_requests order by id desc limit 20')
    const plan = await onePlanOf(rowsById!.statementOf(rows.map(({ id }) => Number(id))))
    expect(scansOf(plan, 'notes_merge_request')).not.toEqual([])
    expect(scansOf(plan, 'notes_author')).toEqual([])
  })
}

export function recordsCountComments(): void {
  test.each([
    ['issues', 'Issue', 'notes_issue', listIssues],
    ['merge requests', 'MergeRequest', 'notes_merge_request', listMergeRequests],
  ] as const)('the records of a page of %s count comments without reading them', async (_, type, index, list) => {
    await client.query(
      `insert into notes (project_id, ${columnOf(type).text}, author_id, body, discussion_id)
      select m.project_id, m.id, $1, 'No', md5('no ' || m.id || '.' || k) || 'deadbeef'
      from (select id, project_id from ${tableOf(type).text} order by id desc limit 2000) m cross join generate_series(1, 10) k`,
      [userId(3)],
    )
    await client.query('vacuum analyze notes')
    const { rows } = await client.query(`select id from ${tableOf(type).text} order by id desc limit 20`)
    const records = list(null, { of: 'everyone' }, {}, newest).rowsById!
    const plan = await onePlanOf(records.statementOf(rows.map(({ id }) => Number(id))))
    expect(scansOf(plan, index)).toContain('Index Only Scan')
  })
}
