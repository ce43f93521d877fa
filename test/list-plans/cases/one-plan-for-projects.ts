import { describe, expect, test } from 'vitest'
import { userId } from '../../../bench/world.ts'
import type { List } from '../../../src/api/list.ts'
import { contributedTo } from '../../../src/modules/activity/event-feed/queries.ts'
import { listGroups } from '../../../src/modules/groups/groups/list-queries.ts'
import { listProjects } from '../../../src/modules/projects/projects/list-queries.ts'
import { actor, signedIn } from '../callers.ts'
import { readsForValues, readsOfOnePlan } from '../explain.ts'
import { maximumReads } from '../limits.ts'
import { pageOf } from '../pages.ts'
import { client } from '../seeded.ts'

export function onePlanForProjects(): void {
  describe.each(signedIn)('for %s one plan for all values reads hardly more than one for each', (_, caller) => {
    test('of projects of a user, a source and groups, large and small, with those below and without', async () => {
      const { rows } = await client.query<{ id: string; traversal_ids: string[] }>(`
        (select n.id, n.traversal_ids from namespaces n join projects p on p.namespace_id = n.id where n.kind = 'group'
          group by n.id order by count(*) desc limit 2)
        union (select n.id, n.traversal_ids from namespaces n where n.kind = 'group' order by n.id desc limit 2)`)
      const groups = rows.flatMap(({ id, traversal_ids }) =>
        [true, false].map(
          (includeSubgroups) =>
            ({
              ...({
                of: 'group',
                groupId: Number(id),
                traversalIds: traversal_ids.map(Number),
                shared: 'with',
              } as const),
              includeSubgroups,
            }) as const,
        ),
      )
      const { rows: sources } = await client.query<{ id: string }>('select id from projects order by id limit 1')
      const others = [
        { of: 'user', userId: userId(77) },
        { of: 'stars', userId: userId(77) },
        { of: 'contributions', ids: contributedTo(actor(userId(77)), userId(77)) },
        { of: 'forks', sourceId: Number(sources[0]!.id) },
      ] as const
      for (const set of [...others, ...groups])
        for (const order_by of ['name', 'last_activity_at'] as const) {
          const filters = { order_by, sort: 'desc' } as const
          await readsNoMore(listProjects(caller, set, filters, 'stamps'))
          await readsNoMore(listProjects(caller, set, { ...filters, archived: false }, 'stamps'))
        }
    })

    test.each([{ all_available: true }, { all_available: false }, { owned: true }, { min_access_level: 30 }])(
      'of groups with %o',
      async (filters) => {
        for (const order_by of ['name', 'id'] as const)
          await readsNoMore(
            listGroups(caller, { of: 'everyone' }, { owned: false, order_by, sort: 'asc', ...filters }, {}),
          )
      },
    )

    async function readsNoMore(list: List): Promise<void> {
      for (const page of [1, 3]) {
        const statement = await pageOf(list, page)
        const most = Math.max(maximumReads, 1.5 * (await readsForValues(statement)))
        expect(await readsOfOnePlan(statement)).toBeLessThanOrEqual(most)
      }
    }
  })
}
