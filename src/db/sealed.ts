import { textColumns } from './columns.ts'
import type { Db } from './db.ts'
import { text } from './row.ts'
import { quoted } from './snapshot.ts'
import { raw, sql } from './sql.ts'

/** Characters of an encrypted text up to the end of the id of its key (`kernel/secrets.ts`). */
const prefixLength = 'v1:01234567'.length

const others: ReadonlySet<string> = new Set(['two_factors.secret', 'application_settings.values'])

/** Whether a column has encrypted texts, which its name says. */
export const isSealed = (table: string, column: string): boolean =>
  column.startsWith('sealed_') || others.has(`${table}.${column}`)

/** Its rows are kept for a day; a start cannot wait until all of a busy installation are read. */
const shortLived = 'idempotency_keys'

/**
 * The ids of the keys with which secrets in the database are encrypted, each with the columns that have such values, as `table.column`.
 * Works in a database that an earlier version has migrated, and in an empty one. Reads all their rows, but for responses that are kept for a day.
 */
export async function keysOfSecrets(db: Db): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  for (const { table, column } of await textColumns(db)) {
    if (!isSealed(table, column) || table === shortLived) continue
    for (const id of await keysIn(db, table, column)) found.set(id, [...(found.get(id) ?? []), `${table}.${column}`])
  }
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
