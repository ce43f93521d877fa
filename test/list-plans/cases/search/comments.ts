import { expect, test } from 'vitest'
import { userId } from '../../../../bench/world.ts'
import type { Actor } from '../../../../src/access/actor.ts'
import { and, raw, sql } from '../../../../src/db/sql.ts'
import { notesWith } from '../../../../src/modules/discussion/notes/search-queries.ts'
import { projectsIn } from '../../../../src/modules/groups/holders/queries.ts'
import { idsFrom } from '../../expected.ts'
import { maximumReads } from '../../limits.ts'
import { searchedPage } from '../../pages.ts'
import { client } from '../../seeded.ts'

export function searchesOfComments(caller: Actor): void {
  test('for comments reads a bounded number of rows, also for a text of few that was sampled, and has what matches', async () => {
    const { rows } = await client.query(
      `select (histogram_bounds::text::text[])[50] as body from pg_stats where tablename = 'notes' and attname = 'body'`,
    )
    for (const [text, most] of [
      [/about (\w+)\?/.exec(rows[0].body)![1]!, 500],
      ['What about', undefined],
      ['absent', 100],
    ] as const) {
      const list = notesWith(caller, text, raw('true'), 'everywhere')
      const { ids, reads } = await searchedPage(list, 1)
      if (most !== undefined) expect(await reads()).toBeLessThan(most)
      const plain = sql`
        select n.id
        from notes n join projects p on p.id = n.project_id
        where ${and(list.where)} and not n.system and n.body ilike ${`%${text}%`}
        order by n.id desc
        limit 20
      `
      expect(ids).toEqual(await idsFrom(plain))
    }
  })

  test('for comments whose words all have two characters reads those that equal it, not all that have the words', async () => {
    const list = notesWith(caller, 'it  is', raw('true'), 'everywhere')
    const { ids, reads } = await searchedPage(list, 1)
    expect(ids).toEqual(
      await idsFrom(sql`
        select n.id
        from notes n join projects p on p.id = n.project_id
        where ${and(list.where)} and not n.system and lower(n.body) = 'it is'
        order by n.id desc
        limit 20
      `),
    )
    expect(ids.length).toBeGreaterThan(0)
    expect(await reads()).toBeLessThan(maximumReads)
  })

  test('for comments of a group reads those of its projects, not all with a word that most have', async () => {
    const { rows } = await client.query<{ id: string; count: string }>(`
      select n.traversal_ids[1] as id, count(*)
      from notes c join projects p on p.id = c.project_id join namespaces n on n.id = p.namespace_id
      where n.kind = 'group' and c.body like 'What about%'
      group by 1
      order by count(*)`)
    for (const { id, count } of [rows[0]!, rows.at(-1)!])
      for (const text of ['What about', 'wh']) {
        const list = notesWith(caller, text, projectsIn({ of: 'group', id: Number(id) }), 'group')
        const found = sql`
          from notes n join projects p on p.id = n.project_id
          where ${and(list.where)} and not n.system and n.body ilike ${text === 'wh' ? text : `%${text}%`}
        `
        const { rows } = await client.query(sql`select count(*) ${found}`)
        for (const page of [1, 3]) {
          const { ids, total, reads } = await searchedPage(list, page)
          expect(ids).toEqual(
            await idsFrom(sql`select n.id ${found} order by n.id desc limit 20 offset ${20 * (page - 1)}`),
          )
          expect(total).toBe(Number(rows[0].count))
          // Whether many match is asked first, of all 33,000.
          expect(await reads()).toBeLessThan(35_000 + 25 * Number(count))
        }
      }
  })
}

/** Of each merge request several comments, most of them with a text that no other has. */
export async function addComments(): Promise<void> {
  await client.query(
    `insert into notes (project_id, merge_request_id, author_id, body, discussion_id)
    select m.project_id, m.id, $1, 'What about ' || left(md5(((m.id * 7 + k) % 2000)::text), 8) || '?', md5(m.id || '.' || k) || 'deadbeef'
    from merge_requests m, generate_series(1, 2) k
    where not exists (select from notes where body like 'What about%?' and author_id = $1)`,
    [userId(3)],
  )
  await client.query(
    `insert into notes (project_id, merge_request_id, author_id, body, discussion_id)
    select m.project_id, m.id, $1, case when m.id % 100 = 0 then 'It IS' else 'So it is there' end, md5(m.id || 'it is') || 'deadbeef'
    from merge_requests m
    where m.id % 10 = 0 and not exists (select from notes where body = 'It IS')`,
    [userId(3)],
  )
  await client.query('vacuum analyze notes')
}
