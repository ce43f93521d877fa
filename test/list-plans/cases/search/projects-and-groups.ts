import { expect, test } from 'vitest'
import type { Actor } from '../../../../src/access/actor.ts'
import { sql } from '../../../../src/db/sql.ts'
import { listGroups } from '../../../../src/modules/groups/groups/list-queries.ts'
import { visibleGroups } from '../../../../src/modules/namespaces/namespaces/visible-groups-queries.ts'
import { visibleProjects } from '../../../../src/modules/projects/projects/queries.ts'
import { idsFrom } from '../../expected.ts'
import { projects } from '../../lists.ts'
import { searchedPage } from '../../pages.ts'
import { client } from '../../seeded.ts'

export function searchesOfProjectsAndGroups(caller: Actor): void {
  test('for projects reads a bounded number of rows, also for a text of few that was sampled', async () => {
    const { rows } = await client.query(
      `select (histogram_bounds::text::text[])[50] as description from pg_stats where tablename = 'projects' and attname = 'description'`,
    )
    const text = /work of (\w+),/.exec(rows[0].description)![1]!
    const { rows: matching } = await client.query('select from projects where description like $1', [`%${text}%`])
    expect(matching.length).toBe(10)
    expect(await (await searchedPage(projects(caller, { search: text }), 1)).reads()).toBeLessThan(500)
  })

  // In all names, in all descriptions, in some names, in few descriptions, in none.
  test.each(['project', 'does the', 'project-1', 'ab12', 'absent'])(
    'of projects for "%s" has what matches',
    async (text) => {
      const pattern = text.split(' ').map((term) => `%${term}%`)
      for (const page of [1, 3]) {
        const { ids } = await searchedPage(projects(caller, { search: text }), page)
        const plain = sql`
        select p.id
        from projects p
        where not p.deleting and ${visibleProjects(caller)}
          and concat_ws(' ', p.path, p.description) ilike all(${pattern}::text[])
        order by p.created_at desc, p.id desc
        limit 20
        offset ${(page - 1) * 20}
      `
        expect(ids).toEqual(await idsFrom(plain))
      }
    },
  )

  // In all names, in some, in none.
  test.each(['group', 'group-12', 'absent'])('of groups for "%s" has what matches', async (text) => {
    const wanted = { search: text, order_by: 'name', sort: 'asc', owned: false, all_available: true } as const
    const list = listGroups(caller, { of: 'everyone' }, wanted, { statistics: false })
    for (const page of [1, 3]) {
      const { ids, total, reads } = await searchedPage(list, page)
      const plain = sql`
        from namespaces g
        where g.kind = 'group' and not g.deleting and ${visibleGroups(caller)} and (g.name ilike ${`%${text}%`} or g.path ilike ${`%${text}%`})
      `
      expect(ids).toEqual(
        await idsFrom(sql`select g.id ${plain} order by g.name, g.id limit 20 offset ${(page - 1) * 20}`),
      )
      expect(total).toBe(Number((await idsFrom(sql`select count(*) as id ${plain}`))[0]))
      if (text === 'absent') expect(await reads()).toBeLessThan(100)
    }
  })
}
