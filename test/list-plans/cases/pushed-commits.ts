import { expect, test } from 'vitest'
import type { Db, Statement } from '../../../src/db/db.ts'
import type { Shape } from '../../../src/db/row.ts'
import type { Oid } from '../../../src/git/format/oid.ts'
import { broughtByMergeRequests } from '../../../src/modules/review/closing/queries.ts'
import { onePlanOf } from '../explain.ts'
import { readsOf } from '../plan.ts'
import { client } from '../seeded.ts'

export function pushedCommits(): void {
  test('the commits of a push are looked up by their ids, however many merge requests the project has', async () => {
    const { rows } = await client.query(
      'select project_id, count(*) as number from merge_requests group by project_id order by number desc limit 1',
    )
    const [largest] = rows
    expect(Number(largest.number)).toBeGreaterThan(400)
    const commits = await client.query<{ oid: Oid }>(
      'select c.oid from merge_request_commits c join merge_requests m on m.diff_id = c.diff_id where m.project_id = $1 limit 3',
      [largest.project_id],
    )
    let statement: Statement | undefined
    const rowsOf = async (_: Shape, asked: Statement) => {
      statement = asked
      return []
    }
    const db = { rows: rowsOf } as unknown as Db
    const oids = commits.rows.map(({ oid }) => oid)
    await broughtByMergeRequests(db, Number(largest.project_id), 'main', oids)
    expect(readsOf(await onePlanOf(statement!))).toBeLessThan(50)
  })
}
