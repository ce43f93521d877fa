import { expect, test } from 'vitest'
import type { List } from '../../../src/api/list.ts'
import { pageStatement } from '../../../src/api/page-queries.ts'
import { raw, type Sql, sql } from '../../../src/db/sql.ts'
import { idsFrom } from '../expected.ts'
import { client } from '../seeded.ts'

export function slicedPages(): void {
  test('a page that is looked for in two slices of the order is not filled from the second before the first was walked far enough', async () => {
    await client.query('create table sliced (id bigint primary key, kind text, place integer)')
    await client.query(
      `insert into sliced select n, case when n <= 10000 then 'a' else 'b' end, n from generate_series(1, 20000) n`,
    )
    await client.query('create index on sliced (kind, place)')
    const wanted = raw('s.id % 400 = 0')
    const list: List = {
      type: 'Row',
      from: raw('from sliced s'),
      select: raw('select s.id from sliced s'),
      key: raw('s.id'),
      where: [],
      slices: [raw(`s.kind = 'a'`), raw(`s.kind = 'b'`)],
      parts: [
        {
          where: wanted,
          few: true,
          crowded: {
            when: () => raw('true'),
            from: (range: Sql) => sql`from (select s.id, s.kind, s.place from sliced s where true ${range}) as s`,
            where: wanted,
            // 2,048 rows of each, of which five are wanted.
            among: 64,
          },
        },
      ],
      order: [
        { by: raw('s.place'), direction: 'asc' },
        { by: raw('s.id'), direction: 'asc' },
      ],
    }
    const numbers = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, n) => String((from + n) * 400))
    expect(await idsFrom(pageStatement(list, raw('true'), 3, 0))).toEqual(numbers(1, 3))
    expect(await idsFrom(pageStatement(list, raw('true'), 8, 0))).toEqual(numbers(1, 8))
    expect(await idsFrom(pageStatement(list, raw('true'), 8, 20))).toEqual(numbers(21, 28))
    await client.query('drop table sliced')
  })
}
