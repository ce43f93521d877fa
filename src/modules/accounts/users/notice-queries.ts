import type { Db } from '../../../db/db.ts'
import { type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

const notifiedRow = { name: text, username: text, email: text }
export type Notified = RowOf<typeof notifiedRow>

/** A user who gets notices about their account, with the address. */
export const findNotified = (db: Db, userId: number): Promise<Notified | undefined> =>
  db.row(
    notifiedRow,
    sql`
      select name, username, email
      from users
      where id = ${userId} and kind = 'human' and state = 'active' and confirmed_at is not null
    `,
  )
