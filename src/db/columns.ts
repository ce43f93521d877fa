import type { Db } from './db.ts'
import { text } from './row.ts'
import { sql } from './sql.ts'

/** The columns of our tables that can have texts, in the order of the names. Whatever the schema: also of an earlier version, or none. */
export const textColumns = (db: Db): Promise<{ table: string; column: string }[]> =>
  db.rows(
    { table: text, column: text },
    sql`
      select c.relname as table, a.attname as column
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = current_schema()::regnamespace
        and c.relkind = 'r'
        and a.attnum > 0
        and not a.attisdropped
        and a.atttypid in ('text'::regtype, 'varchar'::regtype, 'json'::regtype, 'jsonb'::regtype)
      order by 1, 2
    `,
  )
