import type { Db } from './db.ts'
import { text } from './row.ts'
import { quoted } from './snapshot.ts'
import { raw, sql } from './sql.ts'

/** Characters of an encrypted text up to the end of the id of its key (`kernel/secrets.ts`). */
const prefixLength = 'v1:01234567'.length

/**
 * The ids of the keys with which secrets in the database are encrypted, each with the columns that have such values, as `table.column`.
 * Works in a database that an earlier version has migrated, and in an empty one.
 */
export async function keysOfSecrets(db: Db): Promise<Map<string, string[]>> {
  const columns = await db.rows(
    { table_name: text, column_name: text },
    sql`
      select c.relname as table_name, a.attname as column_name
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = current_schema()::regnamespace
        and c.relkind = 'r'
        and a.attnum > 0
        and not a.attisdropped
        and (
          a.attname like 'sealed\_%'
          or (c.relname, a.attname) in (('two_factors', 'secret'), ('application_settings', 'values'))
        )
      order by 1, 2
    `,
  )
  const found = new Map<string, string[]>()
  for (const { table_name: table, column_name: column } of columns)
    for (const id of await keysIn(db, table, column)) found.set(id, [...(found.get(id) ?? []), `${table}.${column}`])
  return found
}

async function keysIn(db: Db, table: string, column: string): Promise<string[]> {
  const [of, value] = [raw(quoted(table)), raw(quoted(column))]
  const rows = await db.rows(
    { id: text },
    column === 'values'
      ? sql`select distinct m[1] as id from ${of}, regexp_matches(${value}::text, '"v1:([0-9a-f]{8}):', 'g') as m`
      : sql`
        select distinct substr(left(${value}, ${raw(String(prefixLength))}), 4) as id
        from ${of}
        where ${value} is not null
      `,
  )
  return rows.map(({ id }) => id)
}
