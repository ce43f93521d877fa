import type { Db } from './db.ts'
import { sql } from './sql.ts'

/** Resolves when the database answers. */
export const reach = (db: Db): Promise<unknown> => db.row(sql`select 1 as one`)
