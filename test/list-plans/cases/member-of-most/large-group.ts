import { expect, test } from 'vitest'
import { sql } from '../../../../src/db/sql.ts'
import { listIssues } from '../../../../src/modules/planning/issue-lists/queries.ts'
import { largestGroup, plainPage } from '../../expected.ts'
import { newest } from '../../lists.ts'
import { readsOfPage, searchedPage } from '../../pages.ts'
import { client } from '../../seeded.ts'
import { member } from './member.ts'
import { readers } from './readers.ts'

export function listsOfALargeGroup(): void {
  test('a text that few issues of a large group have is looked up', async () => {
    const group = await largestGroup()
    const { rows } = await client.query(
      'select count(*) from issues m join projects p on p.id = m.project_id join namespaces n on n.id = p.namespace_id where n.traversal_ids[1] = $1',
      [group],
    )
    expect(Number(rows[0].count)).toBeGreaterThan(3_000)
    await client.query(
      `update issues set title = 'Quixotic' where project_id in (
      select p.id from projects p join namespaces n on n.id = p.namespace_id where n.traversal_ids[1] = $1
    ) and id % 500 = 3`,
      [group],
    )
    const search = { text: 'quixotic', in: ['title'] } as const
    const set = { of: 'group', traversalIds: [group], archived: true } as const
    for (const [, reader] of readers) {
      const { ids, reads } = await searchedPage(listIssues(reader, set, { search }, newest), 1)
      const filter = sql`m.title = 'Quixotic' and p.namespace_id in (select n.id from namespaces n where n.traversal_ids[1] = ${group})`
      expect(ids).toEqual((await plainPage('Issue', reader, 'created_at desc', 1, filter)).slice(0, 20))
      expect(await reads()).toBeLessThan(Number(rows[0].count))
    }
  })

  test.each(['created_at', 'weight'] as const)(
    'issues of a group by %s that were updated after a time do not sort all',
    async (by) => {
      const group = await largestGroup()
      const set = { of: 'group', traversalIds: [group], archived: true } as const
      const after = await client.query('select updated_at from issues order by updated_at desc offset 6000 limit 1')
      const updatedAfter = after.rows[0].updated_at
      const list = listIssues(member, set, { updatedAfter }, { by, sort: 'asc' })
      const { rows } = await client.query('select count(*) from issues')
      const filter = sql`
      m.updated_at >= ${updatedAfter} and p.namespace_id in (select n.id from namespaces n where n.traversal_ids[1] = ${group})
    `
      const { ids } = await searchedPage(list, 1)
      expect(ids).toEqual((await plainPage('Issue', member, `${by} asc`, 1, filter)).slice(0, 20))
      expect(await readsOfPage(list, 1)).toBeLessThan(Number(rows[0].count) * 0.75)
    },
  )
}
