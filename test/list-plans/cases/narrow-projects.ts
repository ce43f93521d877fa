import { describe, expect, test } from 'vitest'
import { raw, type Sql, sql } from '../../../src/db/sql.ts'
import type { ProjectFilters, ProjectOrder } from '../../../src/modules/projects/projects/list-queries.ts'
import { visibleProjects } from '../../../src/modules/projects/projects/queries.ts'
import { callers } from '../callers.ts'
import { idsFrom } from '../expected.ts'
import { maximumReads, readsOfMemberships } from '../limits.ts'
import { projects } from '../lists.ts'
import { searchedPage } from '../pages.ts'
import { client } from '../seeded.ts'

type Wanted = { readonly filters: Partial<ProjectFilters>; readonly where: Sql }

export function narrowProjects(): void {
  describe.each(callers)('projects of topics and of times, for %s', (_, caller) => {
    const orders: ProjectOrder[] = ['created_at', 'name', 'updated_at', 'last_activity_at']

    /** Filters that leave about this number of projects, and the same as a condition. */
    async function wantedOf(number: number): Promise<Wanted[]> {
      const timeOf = async (column: string): Promise<Date> =>
        (await client.query(`select ${column} as time from projects order by 1 desc offset ${number - 1} limit 1`))
          .rows[0].time
      const [updated_after, last_activity_after] = [await timeOf('updated_at'), await timeOf('last_activity_at')]
      return [
        { filters: { updated_after }, where: sql`p.updated_at >= ${updated_after}` },
        { filters: { last_activity_after }, where: sql`p.last_activity_at >= ${last_activity_after}` },
      ]
    }

    test.each(orders.flatMap((order) => [30, 2_000, 9_000].map((number) => [order, number] as const)))(
      'pages by %s, with times that %i projects have, have these, and read a bounded number of rows',
      async (order, number) => {
        for (const wanted of await wantedOf(number)) await expectPages(wanted, order, number)
      },
    )

    test.each(orders)(
      'pages by %s, of topics that 100 and 5,000 projects have, and of both, have these, and read a bounded number of rows',
      async (order) => {
        const has = (name: string) => sql`${name} = any(p.topics)`
        await expectPages({ filters: { topic: ['Topic-16'] }, where: has('topic-16') }, order, 200)
        await expectPages({ filters: { topic: ['tools'] }, where: has('tools') }, order, 5_000)
        const both = sql`${has('tools')} and ${has('topic-16')}`
        await expectPages({ filters: { topic: ['tools', 'topic-16'] }, where: both }, order, 200)
      },
    )

    async function expectPages({ filters, where }: Wanted, order: ProjectOrder, number: number): Promise<void> {
      const list = projects(caller, { ...filters, order_by: order })
      const plain = sql`from projects p where not p.deleting and ${visibleProjects(caller)} and ${where}`
      for (const page of [1, 3]) {
        const { ids, total, reads } = await searchedPage(list, page)
        const rows = sql`order by ${raw(`p.${order}`)} desc, p.id desc limit 20 offset ${20 * (page - 1)}`
        expect(ids).toEqual(await idsFrom(sql`select p.id ${plain} ${rows}`))
        expect(String(total)).toBe((await idsFrom(sql`select count(*) as id ${plain}`))[0])
        // Of each, what the caller may see is looked up, for the page and for the total.
        expect(await reads()).toBeLessThanOrEqual(15 * number + maximumReads + (await readsOfMemberships(caller)))
      }
    }
  })
}
