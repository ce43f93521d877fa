import { expect, test } from 'vitest'
import { userId } from '../../../../bench/world.ts'
import { and, raw, sql } from '../../../../src/db/sql.ts'
import { actor, administrator } from '../../callers.ts'
import { hasLabel, plainTotal } from '../../expected.ts'
import { largeReads } from '../../plan.ts'
import { client } from '../../seeded.ts'
import { statisticsOf } from '../../totals.ts'
import { member } from './member.ts'

export function statisticsOfMember(): void {
  test.each([
    ['a member', member],
    ['an administrator', administrator],
  ])('statistics of issues with labels for %s read less than a page for each issue', async (_, reader) => {
    const issues = Number((await client.query('select count(*) from issues')).rows[0].count)
    for (const labels of [['common'], ['label 3'], ['label 3', 'LABEL 5'], ['label 3', 'common'], ['absent']]) {
      const { counts, pages } = await statisticsOf(reader, { labels })
      const has = labels.map((label) => hasLabel('Issue', label.toLowerCase()))
      const numberOf = (state: string) => plainTotal('Issue', reader, and([...has, sql`m.state = ${state}`]))
      expect(counts).toMatchObject({ opened: await numberOf('opened'), closed: await numberOf('closed') })
      expect(pages).toBeLessThan(issues)
    }
  })

  test.each([
    ['a member', member],
    ['an administrator', administrator],
  ])('statistics of issues without a label for %s do not ask each issue for its labels', async (_, reader) => {
    const issues = Number((await client.query('select count(*) from issues')).rows[0].count)
    for (const labels of [['common'], ['label 3'], ['label 3', 'LABEL 5'], ['rare'], ['absent']]) {
      const { counts, pages } = await statisticsOf(reader, { not: { labels } })
      const has = labels.map((label) => hasLabel('Issue', label.toLowerCase()))
      const numberOf = async (state: string) =>
        Math.min(100_000, await plainTotal('Issue', reader, and([sql`not (${and(has)})`, sql`m.state = ${state}`])))
      expect(counts).toMatchObject({ opened: await numberOf('opened'), closed: await numberOf('closed') })
      // Asking each issue reads more than three pages of each. The projects of the member are looked up one by one.
      expect(pages).toBeLessThan(reader.admin ? issues / 4 : 1.5 * issues)
    }
  })

  test.each([
    ['a user with few projects', actor(userId(77))],
    ['an administrator', administrator],
  ])(
    'statistics of issues without a milestone, a date or a weight for %s are exact, and those open to all are counted in an index',
    async (_, reader) => {
      for (const [filters, condition] of [
        [{ milestone: 'None' }, 'm.milestone_id is null'],
        [{ due: '0' }, 'm.due_date is null'],
        [{ weight: 'None' }, 'm.weight is null'],
        [{ confidential: false }, 'not m.confidential'],
        [{ not: { milestone: { title: 'absent' } } }, 'true'],
      ] as const) {
        const { counts, plan } = await statisticsOf(reader, filters)
        const numberOf = async (state: string) =>
          Math.min(100_000, await plainTotal('Issue', reader, sql`${raw(condition)} and m.state = ${state}`))
        expect(counts).toMatchObject({ opened: await numberOf('opened'), closed: await numberOf('closed') })
        // All issues of an administrator are read from the table: they have no descriptions here, so an index has no fewer pages.
        if (!reader.admin) expect(new Set(largeReads(plan, 'issues'))).toEqual(new Set(['Index Only Scan']))
      }
    },
  )
}
