import type { Db } from './db.ts'
import { sql } from './sql.ts'

/** Resolves when the database responds. */
export const pingDatabase = (db: Db): Promise<unknown> => db.exists(sql`select 1`)
