import { describe, expect, test } from 'vitest'
import type { Caller } from '../../../src/access/actor.ts'
import type { List } from '../../../src/api/list.ts'
import { listGroups } from '../../../src/modules/groups/groups/list-queries.ts'
import { issueOrders } from '../../../src/modules/planning/issue-lists/order-queries.ts'
import { listIssues } from '../../../src/modules/planning/issue-lists/queries.ts'
import { listMergeRequests, mergeRequestOrders } from '../../../src/modules/review/reading/list-queries.ts'
import { callers } from '../callers.ts'
import { maximumReads, readsOfMemberships } from '../limits.ts'
import { newest, projects } from '../lists.ts'
import { readsOfPage } from '../pages.ts'
import { size } from '../seeded.ts'

const orders = ['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'] as const

const labelled = (caller: Caller, labels: readonly string[], state?: 'opened'): List =>
  listIssues(caller, { of: 'everyone' }, { labels, ...(state && { state }) }, newest)

export function everyList(): void {
  describe.each(callers)(
    'a page of 20 reads a bounded number of rows, however many others have, for %s',
    (_, caller) => {
      const lists: (readonly [string, List])[] = [
        ...orders.flatMap((order_by) =>
          (['asc', 'desc'] as const).map(
            (sort) => [`projects by ${order_by} ${sort}`, projects(caller, { order_by, sort })] as const,
          ),
        ),

        ['projects of a visibility', projects(caller, { visibility: 'public' })],
        ...(caller === null
          ? []
          : ([
              ['projects of the caller', projects(caller, { membership: true })],
              ['projects of the caller by name', projects(caller, { membership: true, order_by: 'name', sort: 'asc' })],
              ['projects where the caller is a maintainer', projects(caller, { min_access_level: 40 })],
              ['projects that the caller owns', projects(caller, { owned: true })],
              ['projects that the caller starred', projects(caller, { starred: true })],
              ...mergeRequestOrders.flatMap((by) =>
                ([undefined, 'opened', 'merged', 'closed'] as const).map(
                  (state) =>
                    [
                      `merge requests, ${state ?? 'all'}, by ${by}`,
                      listMergeRequests(caller, { of: 'everyone' }, { ...(state && { state }) }, { by, sort: 'desc' }),
                    ] as const,
                ),
              ),
              ...issueOrders.flatMap((by) =>
                (['asc', 'desc'] as const).flatMap((sort) =>
                  (by === 'created_at' || by === 'updated_at'
                    ? ([undefined, 'opened', 'closed'] as const)
                    : [undefined]
                  ).map(
                    (state) =>
                      [
                        `issues, ${state ?? 'all'}, by ${by} ${sort}`,
                        listIssues(caller, { of: 'everyone' }, { ...(state && { state }) }, { by, sort }),
                      ] as const,
                  ),
                ),
              ),
              ...[['rare'], ['label 3', 'rare'], ['absent', 'label 3']].map(
                (labels) => [`issues with labels ${labels.join()}`, labelled(caller, labels)] as const,
              ),
              [
                'open issues with a label that nearly all have that are closed',
                labelled(caller, ['label 9'], 'opened'),
              ],
              [
                'issues without a label',
                listIssues(caller, { of: 'everyone' }, { not: { labels: ['label 3'] } }, newest),
              ],
              ...([{ scope: 'created_by_me' }, { scope: 'assigned_to_me' }] as const).map(
                (filters) =>
                  [
                    `issues with ${Object.entries(filters).join()}`,
                    listIssues(caller, { of: 'everyone' }, filters, newest),
                  ] as const,
              ),
              [
                'merge requests by the caller',
                listMergeRequests(caller, { of: 'everyone' }, { scope: 'created_by_me' }, newest),
              ],
            ] as const)),
        [
          'groups by name',
          listGroups(
            caller,
            { of: 'everyone' },
            { order_by: 'name', sort: 'asc', owned: false },
            { statistics: false },
          ),
        ],
      ]

      test.each(lists)('%s', async (_, list) => {
        const ofMemberships = await readsOfMemberships(caller)
        const maximum = maximumReads + ofMemberships
        expect(maximum).toBeLessThan(size.projects)
        expect(await readsOfPage(list, 1)).toBeLessThanOrEqual(maximum)
        expect(await readsOfPage(list, 3)).toBeLessThanOrEqual(maximum)
      })
    },
  )
}
