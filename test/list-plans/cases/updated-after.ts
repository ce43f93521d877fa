import { describe, expect, test } from 'vitest'
import { sql } from '../../../src/db/sql.ts'
import { signedIn } from '../callers.ts'
import { expectPages, hasLabel, plainPage, plainTotal } from '../expected.ts'
import { maximumReads, readsOfMemberships } from '../limits.ts'
import { newest, noteableKinds } from '../lists.ts'
import { searchedPage } from '../pages.ts'
import { client } from '../seeded.ts'

export function updatedAfterATime(): void {
  describe.each(signedIn)('noteables updated after a time, for %s', (_, caller) => {
    const wanted = noteableKinds.flatMap(([table, type, list]) =>
      (['created_at', 'updated_at'] as const).flatMap((by) =>
        [30, 9_000].map((newer) => [table, by, newer, type, list] as const),
      ),
    )
    /** The time after which this number were updated. */
    const timeOf = async (table: string, newer: number): Promise<Date> =>
      (await client.query(`select updated_at from ${table} order by updated_at desc offset ${newer - 1} limit 1`))
        .rows[0].updated_at

    test.each(wanted)(
      'pages of %s by %s, of which %i are newer, have these, and read a bounded number of rows',
      async (table, by, newer, type, list) => {
        const updatedAfter = await timeOf(table, newer)
        const listed = list(caller, { of: 'everyone' }, { updatedAfter }, { by, sort: 'desc' })
        const ofMemberships = await readsOfMemberships(caller)
        for (const page of [1, 3]) {
          const { ids, total, reads } = await searchedPage(listed, page)
          const filter = sql`m.updated_at >= ${updatedAfter}`
          expect(ids).toEqual((await plainPage(type, caller, `${by} desc`, page, filter)).slice(0, 20))
          expect(total).toBe(await plainTotal(type, caller, filter))
          // The total counts all, with their projects.
          expect(await reads()).toBeLessThanOrEqual(4 * newer + 2 * maximumReads + ofMemberships)
        }
      },
    )

    test.each(noteableKinds.flatMap((kind) => [30, 9_000].map((newer) => [...kind, newer] as const)))(
      'pages of %s with a label that many have, in the order of their creation',
      async (table, type, list, newer) => {
        const updatedAfter = await timeOf(table, newer)
        const filters = { updatedAfter, labels: ['everywhere'] }
        const listed = list(caller, { of: 'everyone' }, filters, newest)
        const filter = sql`m.updated_at >= ${updatedAfter} and ${hasLabel(type, 'Everywhere')}`
        await expectPages(listed, [1, 3], type, caller, filter)
      },
    )

    test.each(wanted)(
      '%s of a project by %s, of which %i are newer, are found in those of the project',
      async (table, by, newer, _, list) => {
        const { rows } = await client.query(
          `select project_id as id, count(*) from ${table} group by 1 order by count(*) desc limit 1`,
        )
        const filters = { updatedAfter: await timeOf(table, newer) }
        const listed = list(caller, { of: 'project', id: Number(rows[0].id) }, filters, { by, sort: 'desc' })
        expect(await (await searchedPage(listed, 1)).reads()).toBeLessThanOrEqual(
          maximumReads + 4 * Number(rows[0].count),
        )
      },
    )
  })
}
