import { expect, test } from 'vitest'
import type { Actor } from '../../../../src/access/actor.ts'
import type { List } from '../../../../src/api/list.ts'
import { and, sql } from '../../../../src/db/sql.ts'
import { hasLabel, plainPage, plainTotal } from '../../expected.ts'
import { newest, noteableKinds } from '../../lists.ts'
import { searchedPage } from '../../pages.ts'
import { client } from '../../seeded.ts'

export function searchesOfNoteables(caller: Actor): void {
  const searched = (list: (typeof noteableKinds)[number][2], text: string, labels?: readonly string[]): List =>
    list(
      caller,
      { of: 'everyone' },
      { search: { text, in: ['title', 'description'] }, ...(labels && { labels }) },
      newest,
    )

  test.each(noteableKinds)(
    'for %s reads a bounded number of rows, also for a text of few that was sampled',
    async (table, type, list) => {
      const { rows } = await client.query(
        `select (histogram_bounds::text::text[])[50] as title from pg_stats where tablename = $1 and attname = 'title'`,
        [table],
      )
      // Of a hundred sampled titles one has it: PostgreSQL expects it in each hundredth title.
      const text = /what (\w+) does/.exec(rows[0].title)![1]!
      const matching = await plainTotal(type, { ...caller, admin: true }, sql`m.title like ${`%${text}%`}`)
      expect(matching).toBeGreaterThan(0)
      expect(matching).toBeLessThan(10)
      expect(await (await searchedPage(searched(list, text), 1)).reads()).toBeLessThan(500)
    },
  )

  // In all titles, in all descriptions, in few titles, in none.
  test.each(
    noteableKinds.flatMap(([, type, list]) =>
      ['what', 'wrong before', 'what abc', 'absent'].map((text) => [type, text, list] as const),
    ),
  )('of %s for "%s" has what matches, and their number', async (type, text, list) => {
    const pattern = text.split(' ').map((term) => `%${term}%`)
    const matches = sql`(m.title ilike all(${pattern}::text[]) or m.description ilike all(${pattern}::text[]))`
    for (const page of [1, 3]) {
      const { ids, total } = await searchedPage(searched(list, text), page)
      expect(ids).toEqual((await plainPage(type, caller, 'created_at desc', page, matches)).slice(0, 20))
      expect(total).toBe(await plainTotal(type, caller, matches))
    }
  })

  test.each(noteableKinds.flatMap(([, type, list]) => ['what', 'what abc'].map((text) => [type, text, list] as const)))(
    'of %s with a label for "%s" has what matches, and their number',
    async (type, text, list) => {
      const pattern = text.split(' ').map((term) => `%${term}%`)
      const matches = and([sql`m.title ilike all(${pattern}::text[])`, hasLabel(type, 'label 3')])
      const { ids, total } = await searchedPage(searched(list, text, ['label 3']), 1)
      expect(ids).toEqual((await plainPage(type, caller, 'created_at desc', 1, matches)).slice(0, 20))
      expect(total).toBe(await plainTotal(type, caller, matches))
    },
  )
}
