import { describe, expect, test } from 'vitest'
import { and, sql } from '../../../src/db/sql.ts'
import { listIssues } from '../../../src/modules/planning/issue-lists/queries.ts'
import { listMergeRequests } from '../../../src/modules/review/reading/list-queries.ts'
import { signedIn } from '../callers.ts'
import { expectPages, hasLabel, largestGroup, plainPage, plainTotal } from '../expected.ts'
import { readsForValues, readsOfOnePlan } from '../explain.ts'
import { newest, noteableKinds } from '../lists.ts'
import { pageOf, searchedPage } from '../pages.ts'

export function filteredPages(): void {
  describe.each(signedIn)('a page for %s has what the filters leave', (_, caller) => {
    // Labels that many have, of which two are together on some and on none; one that few issues have, and one that none has.
    const titles = [
      ['label 3'],
      ['label 3', 'label 5'],
      ['label 3', 'label 1'],
      ['rare'],
      ['LABEL 3', 'rare'],
      ['label 9'],
      ['absent'],
    ]
    const states = [undefined, 'opened', 'closed'] as const
    const cases = noteableKinds.flatMap(([, type, list]) =>
      titles.flatMap((labels) => states.map((state) => [type, labels, state, list] as const)),
    )
    test.each(cases)('of %s with the labels %s in state %s', async (type, labels, state, list) => {
      const has = labels.map((label) => hasLabel(type, label.toLowerCase()))
      const filter = and([...has, ...(state ? [sql`m.state = ${state}`] : [])])
      const listed = list(caller, { of: 'everyone' }, { labels, ...(state && { state }) }, newest)
      await expectPages(listed, [1, 2, 5], type, caller, filter)
    })

    test.each([
      ['Issue', listIssues],
      ['MergeRequest', listMergeRequests],
    ] as const)('of %s of a group with many projects', async (type, list) => {
      const group = await largestGroup()
      const set = { of: 'group', traversalIds: [group], archived: true } as const
      const inGroup = sql`p.namespace_id in (select n.id from namespaces n where n.traversal_ids[1] = ${group})`
      const filters = [{}, { state: 'closed' }, { labels: ['label 3'] }, { state: 'closed', labels: ['rare'] }] as const
      for (const filter of filters)
        for (const page of [1, 4]) {
          const { state, labels = [] }: { state?: string; labels?: readonly string[] } = filter
          const listed = list(caller, set, filter, newest)
          const ofState = state ? [sql`m.state = ${state}`] : []
          const where = and([inGroup, ...ofState, ...labels.map((label) => hasLabel(type, label))])
          const { ids, total } = await searchedPage(listed, page)
          expect(ids).toEqual((await plainPage(type, caller, 'created_at desc', page, where)).slice(0, 20))
          expect(total).toBe(await plainTotal(type, caller, where))
          const statement = await pageOf(listed, page)
          expect(await readsOfOnePlan(statement)).toBeLessThanOrEqual(1.5 * (await readsForValues(statement)))
        }
    })
  })
}
