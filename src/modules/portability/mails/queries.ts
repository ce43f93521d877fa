import type { Db } from '../../../db/db.ts'
import { text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { mailAddress } from '../../groups/index.ts'

/** Where a user gets mails. */
export const findAddressee = (db: Db, userId: number): Promise<{ name: string; address: string } | undefined> =>
  db.row(
    { name: text, address: text },
    sql`
      select u.name, ${mailAddress} as address
      from users u
      where u.id = ${userId} and u.kind = 'human' and u.state = 'active'
    `,
  )
