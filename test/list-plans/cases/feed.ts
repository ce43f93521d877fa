import { expect, test } from 'vitest'
import { userId } from '../../../bench/world.ts'
import { countedRows } from '../../../src/api/page.ts'
import { countOf, plannedFor } from '../../../src/api/page-queries.ts'
import { and, sql } from '../../../src/db/sql.ts'
import { feedOf } from '../../../src/modules/activity/event-feed/queries.ts'
import { callers } from '../callers.ts'
import { onePlanOf } from '../explain.ts'
import { pageOf } from '../pages.ts'
import { wholeReads } from '../plan.ts'
import { client } from '../seeded.ts'

export function feedOfAuthor(): void {
  test('the few events of an author are counted without reading all projects, however many events others have', async () => {
    const author = userId(77)
    await client.query(
      `insert into feed_events (project_id, author_id, action, target_type, target_id, target_title, code)
      select p.id, case when n % 400 = 0 then $1::bigint else $2::bigint + n % 8 end, 'created', null, null, null, false
      from (select id, row_number() over (order by id) as n from projects) p`,
      [author, userId(3)],
    )
    await client.query('vacuum analyze feed_events')
    for (const [, caller] of callers) {
      const list = feedOf(caller, { of: 'author', id: author }, { sort: 'desc' })
      const total = plannedFor(list, sql`select ${countOf(list, and(list.where), countedRows + 1)} as total`)
      for (const statement of [await pageOf(list, 1), total])
        expect(wholeReads(await onePlanOf(statement))).not.toContain('projects')
    }
  })
}
