import type { Db } from '../../../db/db.ts'
import { boolean, date, integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'

const overviewRow = {
  id: integer,
  username: text,
  email: text,
  state: text,
  admin: boolean,
  last_activity_on: nullable(date),
}

const batchSize = 1000

/** All people by id, in batches. */
export async function* peopleInBatches(db: Db): AsyncGenerator<RowOf<typeof overviewRow>[]> {
  for (let after = 0; ; ) {
    const batch = await db.rows(
      overviewRow,
      sql`
        select id, username, email, state, admin, last_activity_on
        from users
        where kind = 'human' and id > ${after}
        order by id
        limit ${literal(batchSize)}
      `,
    )
    yield batch
    if (batch.length < batchSize) return
    after = batch.at(-1)!.id
  }
}
