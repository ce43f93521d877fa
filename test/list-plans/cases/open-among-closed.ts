import { expect, test } from 'vitest'
import { listIssues } from '../../../src/modules/planning/issue-lists/queries.ts'
import { listMergeRequests } from '../../../src/modules/review/reading/list-queries.ts'
import { administrator } from '../callers.ts'
import { readsForValues } from '../explain.ts'
import { maximumReads } from '../limits.ts'
import { pageOf } from '../pages.ts'
import { client } from '../seeded.ts'

export function openAmongClosed(): void {
  test.each([
    ['issues', listIssues, 'closed'],
    ['merge_requests', listMergeRequests, 'merged'],
  ] as const)(
    'an administrator gets the oldest open %s without reading older ones of another state',
    async (table, list, other) => {
      await client.query('begin')
      try {
        await client.query('set local session_replication_role = replica')
        await client.query(`update ${table} set state = '${other}' where created_at < (
        select percentile_disc(0.9) within group (order by created_at) from ${table})`)
        await client.query(`analyze ${table}`)
        for (const page of [1, 3]) {
          const statement = await pageOf(
            list(administrator, { of: 'everyone' }, { state: 'opened' }, { by: 'created_at', sort: 'asc' }),
            page,
          )
          expect(await readsForValues(statement)).toBeLessThan(maximumReads)
        }
      } finally {
        await client.query('rollback')
      }
    },
  )
}
