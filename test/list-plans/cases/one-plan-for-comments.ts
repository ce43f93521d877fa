import { beforeAll, describe, expect, test } from 'vitest'
import { userId } from '../../../bench/world.ts'
import { raw } from '../../../src/db/sql.ts'
import type { Noteable } from '../../../src/modules/discussion/noteables/noteable.ts'
import { discussionsOf, notesOf, notesOfDiscussion } from '../../../src/modules/discussion/notes/record-queries.ts'
import { listIssues } from '../../../src/modules/planning/issue-lists/queries.ts'
import { signedIn } from '../callers.ts'
import { readsForValues, readsOfOnePlan } from '../explain.ts'
import { maximumReads, readsOfMemberships } from '../limits.ts'
import { newest } from '../lists.ts'
import { pageOf } from '../pages.ts'
import { client } from '../seeded.ts'
import { totalStatement } from '../totals.ts'

export function onePlanForComments(): void {
  describe('with one plan for all values', () => {
    let issue: Noteable
    const author = userId(77)

    beforeAll(async () => {
      const { rows } = await client.query(`
        select m.id from issues m where m.audience = 20 order by m.id limit 1`)
      issue = { type: 'Issue', id: Number(rows[0].id) } as Noteable
      // Many of one issue, and some of all others.
      await client.query(
        `
        insert into notes (project_id, issue_id, author_id, body, discussion_id, created_at)
        select m.project_id, m.id, $1, 'x', case
            when m.id = $2 and k > 4000 then repeat('0', 40)
            else left(encode(sha256((m.id || '.' || k)::bytea), 'hex'), 40)
          end, now() - k * interval '1 minute'
        from issues m, generate_series(1, case when m.id = $2 then 5000 else 2 end) k`,
        [author, issue.id],
      )
      await client.query('vacuum analyze notes, audience_counts')
    })

    test.each([
      ['notes of an issue', () => notesOf(issue, null, { order_by: 'created_at', sort: 'asc' })],
      ['discussions of an issue', () => discussionsOf(issue, null)],
      ['notes of a discussion', () => notesOfDiscussion(issue, null, '0'.repeat(40))],
    ])('a page of 20 %s reads no more than with a plan for its values', async (_, list) => {
      for (const page of [1, 3]) {
        const paged = { ...list(), key: list().key ?? raw('n.id') }
        const statement = await pageOf(paged, page)
        const reads = await readsOfOnePlan(statement)
        expect(reads).toBeGreaterThan(0)
        expect(reads).toBeLessThanOrEqual(1.5 * (await readsForValues(statement)))
      }
    })

    test('a page of 20 notes of an issue reads a bounded number of rows', async () => {
      for (const page of [1, 3])
        expect(
          await readsOfOnePlan(await pageOf(notesOf(issue, null, { order_by: 'created_at', sort: 'asc' }), page)),
        ).toBeLessThanOrEqual(maximumReads)
    })

    test.each(signedIn.slice(0, 2))('the total of all issues for %s reads no issue of others', async (_, caller) => {
      const ofMemberships = await readsOfMemberships(caller)
      for (const filters of [{}, { state: 'opened' }] as const) {
        const reads = await readsOfOnePlan(
          await totalStatement(listIssues(caller, { of: 'everyone' }, filters, newest)),
        )
        expect(reads).toBeLessThanOrEqual(maximumReads + ofMemberships)
      }
    })
  })
}
