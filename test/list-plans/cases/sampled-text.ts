import { expect, test } from 'vitest'
import type { List } from '../../../src/api/list.ts'
import { prepared } from '../../../src/api/matching-queries.ts'
import type { Db, Statement } from '../../../src/db/db.ts'
import type { Shape } from '../../../src/db/row.ts'
import { raw, type Sql, sql } from '../../../src/db/sql.ts'
import { readsForValues } from '../explain.ts'
import { client } from '../seeded.ts'

export function sampledText(): void {
  test('a text that most of 800,000 rows have is known to be very common from a sample of them', async () => {
    await client.query(`
      create temporary table texts as
      select number as id, case when number % 20 = 0 then 'rare' when number = 7 then 'unique' else 'common' end as body
      from generate_series(1, 800000) as number`)
    const search = async (text: string) => {
      const statements: Statement[] = []
      const row = async (_: Shape, statement: Statement) => {
        statements.push(statement)
        const { rows } = await client.query(statement.text, statement.values as unknown[])
        return { found: Number(rows[0].found), ids: rows[0].ids }
      }
      const from = raw('from texts t')
      const walked = (range: Sql) => sql`from (select t.id, t.body from texts t ${range}) as t`
      const matching = {
        table: raw('texts t'),
        key: raw('t.id'),
        condition: sql`t.body = ${text}`,
        isSlow: true,
        walked,
      }
      const list: List = { type: 'Text', from, key: raw('t.id'), where: [], matching, order: [] }
      const found = await prepared({ snapshotCache: { row } } as unknown as Db, list)
      return { found, reads: await readsForValues(statements[0]!) }
    }
    const common = await search('common')
    expect(common.reads).toBeLessThan(2_000)
    expect(common.found.parts).toMatchObject([{ where: { text: 't.body = $1' } }])
    expect(common.found.parts![0].few).toBeUndefined()
    expect((await search('rare')).found.parts).toMatchObject([{ where: { text: 't.body = $1' } }])
    expect((await search('unique')).found).toMatchObject({ few: 1000, where: [{ values: [[7]] }] })
    await client.query('drop table texts')
  })
}
