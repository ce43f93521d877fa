import { expect, test } from 'vitest'
import { userId } from '../../../bench/world.ts'
import type { Actor } from '../../../src/access/actor.ts'
import { and, sql } from '../../../src/db/sql.ts'
import { listEpics } from '../../../src/modules/planning/epic-lists/queries.ts'
import { listIssues } from '../../../src/modules/planning/issue-lists/queries.ts'
import { listMergeRequests } from '../../../src/modules/review/reading/list-queries.ts'
import { actor } from '../callers.ts'
import { plannedOnly } from '../explain.ts'
import { newest } from '../lists.ts'
import { tableNamesOf } from '../plan.ts'

/** Planning a join for each took seconds. */
export function manyNames(): void {
  test.each([
    [
      'labels of issues',
      (labels: string[], caller: Actor) => listIssues(caller, { of: 'project', id: 1 }, { labels }, newest),
    ],
    [
      'labels of the issues of an author',
      (labels: string[], caller: Actor) =>
        listIssues(caller, { of: 'everyone' }, { labels, author: { id: userId(3) } }, newest),
    ],
    [
      'labels of epics',
      (labels: string[], caller: Actor) =>
        listEpics(caller, { id: 1, traversalIds: [1], ancestors: false, descendants: true }, { labels }, newest),
    ],
    [
      'assignees of issues',
      (usernames: string[], caller: Actor) =>
        listIssues(caller, { of: 'everyone' }, { assignee: { usernames } }, newest),
    ],
    [
      'assignees of merge requests',
      (usernames: string[], caller: Actor) =>
        listMergeRequests(caller, { of: 'project', id: 1 }, { assignee: { usernames } }, newest),
    ],
  ] as const)('a hundred %s are planned like ten', async (_, listOf) => {
    const scansFor = async (count: number) => {
      const names = Array.from({ length: count }, (_, index) => `name-${index}`)
      const { from, where } = listOf(names, actor(userId(77)))
      return tableNamesOf(await plannedOnly(sql`select count(*) ${from} where ${and(where)}`)).length
    }
    expect(await scansFor(100)).toBe(await scansFor(10))
  })
}
