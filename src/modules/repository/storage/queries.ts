import type { Db } from '../../../db/db.ts'
import { type RowOf, timestamp } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

const creationRow = { created_at: timestamp }

/** When the project was created; `undefined` if it is gone. */
export const projectCreation = (db: Db, id: number): Promise<RowOf<typeof creationRow> | undefined> =>
  db.row(creationRow, sql`select created_at from projects where id = ${id}`)
