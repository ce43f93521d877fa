import { describe, expect, test } from 'vitest'
import { raw, sql } from '../../../src/db/sql.ts'
import { mergeRequestOrders } from '../../../src/modules/review/reading/list-queries.ts'
import { actor } from '../callers.ts'
import { plainPage } from '../expected.ts'
import { maximumReads } from '../limits.ts'
import { noteableKinds } from '../lists.ts'
import { idsOf, readsOfPage } from '../pages.ts'
import { client } from '../seeded.ts'

export function privateProjects(): void {
  describe('a page for a member of hundreds of projects that are not open to others', () => {
    const cases = noteableKinds.flatMap(([, type, list]) =>
      mergeRequestOrders.flatMap((by) =>
        (['asc', 'desc'] as const).flatMap((sort) =>
          ([undefined, 'opened', 'closed'] as const).map((state) => [type, by, sort, state, list] as const),
        ),
      ),
    )
    /** The user with the most such projects, and the entries that say so. */
    async function member() {
      const { rows } = await client.query<{ id: string; projects: number; accesses: number }>(`
        select a.user_id as id, count(*)::integer as projects,
          (select count(*) from group_access g where g.user_id = a.user_id)::integer
            + (select count(*) from project_access o where o.user_id = a.user_id)::integer as accesses
        from group_access a join projects p on p.namespace_id = a.group_id join users u on u.id = a.user_id
        where p.visibility = 0 and not u.admin
        group by a.user_id
        order by 2 desc
        limit 1`)
      return { ...rows[0]!, caller: actor(Number(rows[0]!.id)) }
    }

    test.each(cases)('of %s by %s %s in state %s reads no more for these', async (type, by, sort, state, list) => {
      const { caller, projects, accesses } = await member()
      expect(projects).toBeGreaterThan(maximumReads + 3 * accesses)
      const listed = list(caller, { of: 'everyone' }, { ...(state && { state }) }, { by, sort })
      const filter = state ? sql`m.state = ${state}` : raw('true')
      for (const page of [1, 2]) {
        const expected = await plainPage(type, caller, `${by} ${sort}`, page, filter)
        expect(await idsOf(listed, page)).toEqual(expected)
        expect(await readsOfPage(listed, page)).toBeLessThan(maximumReads + 3 * accesses)
      }
    })
  })
}
