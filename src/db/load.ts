import type pg from 'pg'
import { hasTable, withClient } from './client.ts'
import type { Tx } from './db.ts'
import { copyIn } from './pg-internals.ts'
import {
  qualified,
  quoted,
  relations,
  type SequenceValue,
  type TableName,
  type TableShape,
  withoutTimeouts,
} from './snapshot.ts'
import { sql } from './sql.ts'

/** Exists while a database is being restored: no service starts with it (`refuseNewerSchema`). */
const markerTable = 'unfinished_restore'

export type Load = {
  readonly tables: readonly (TableShape & { readonly rows: number })[]
  readonly sequences: readonly SequenceValue[]
  /** The rows of a table in the text format of COPY. */
  read(table: TableName): AsyncIterable<Buffer>
  progress(line: string): void
}

/** What is in a database that is to be restored: nothing, part of a restore, or anything else. */
export async function contentOf(url: string): Promise<'nothing' | 'unfinished restore' | 'data'> {
  return withClient(withoutTimeouts(url, 'restore'), async (client) => {
    if (await hasTable(client, markerTable)) return 'unfinished restore'
    const { rows } = await client.query(`${relations(`c.relkind in ('r', 'p', 'v', 'm', 'f')`)} limit 1`)
    if (rows.length === 0) return 'nothing'
    if (!(await hasTable(client, 'installation')) || !(await hasTable(client, 'users'))) return 'data'
    // Only migrated.
    const { rows: used } = await client.query('select from installation union all select from users limit 1')
    return used.length === 0 ? 'nothing' : 'data'
  })
}

/** Until `endRestore`, no service starts with this database. */
export const beginRestore = (url: string): Promise<void> =>
  withClient(withoutTimeouts(url, 'restore'), async (client) => {
    await client.query(`create table if not exists ${markerTable} (began_at timestamptz not null default now())`)
  })

/** From the end of the transaction on, services start with this database. */
export const endRestore = (tx: Tx): Promise<number> => tx.run(sql`drop table unfinished_restore`)

/** The migrations that a database has. */
export const migrationsOf = (url: string): Promise<{ product: string[]; jobs: number }> =>
  withClient(withoutTimeouts(url, 'restore'), async (client) => {
    const { rows } = await client.query<{ name: string }>('select name from schema_migrations order by name')
    const { rows: jobs } = await client.query<{ id: number }>('select max(id) as id from graphile_worker.migrations')
    return { product: rows.map(({ name }) => name), jobs: jobs[0]!.id }
  })

/**
 * Replaces the content of all tables, in one transaction. The database has the schema of the backup, and nothing else uses it.
 * Triggers do not run, except those that record changes. Foreign keys are dropped, and made again at the end, so that the server verifies them: a row that refers to
 * nothing fails the load.
 */
export const loadTables = (url: string, { tables, sequences, read, progress }: Load): Promise<void> =>
  withClient(withoutTimeouts(url, 'restore'), async (client) => {
    await client.query('begin')
    const keys = await foreignKeys(client)
    for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${quoted(name)}`)
    const triggers = await enabledTriggers(client)
    for (const { table, name } of triggers) await client.query(`alter table ${table} disable trigger ${quoted(name)}`)
    const { rows: all } = await client.query<TableName>(relations(`c.relkind = 'r'`))
    const kept = new Set(['schema_migrations', 'migrations', markerTable])
    await client.query(
      `truncate ${all
        .filter(({ name }) => !kept.has(name))
        .map(qualified)
        .join(', ')}`,
    )
    for (const table of tables) {
      progress(`restoring the table ${table.name}`)
      const columns = table.columns.map(quoted).join(', ')
      const rows = await copyIn(client, `copy ${qualified(table)} (${columns}) from stdin`, read(table))
      if (rows !== table.rows) throw new Error(`the table ${table.name} has ${rows} rows instead of ${table.rows}`)
    }
    progress('verifying references between tables')
    for (const { table, name, definition } of keys)
      await client.query(`alter table ${table} add constraint ${quoted(name)} ${definition}`)
    for (const { table, name } of triggers) await client.query(`alter table ${table} enable trigger ${quoted(name)}`)
    for (const { value, isCalled, ...sequence } of sequences)
      await client.query('select setval($1::regclass, $2::bigint, $3)', [qualified(sequence), value, isCalled])
    await client.query('commit')
    await client.query('analyze')
  })

type Named = { readonly table: string; readonly name: string }

const foreignKeys = async (client: pg.Client): Promise<(Named & { definition: string })[]> =>
  (
    await client.query<Named & { definition: string }>(`
      select k.conrelid::regclass::text as table, k.conname as name, pg_get_constraintdef(k.oid) as definition
      from pg_constraint k join pg_namespace n on n.oid = k.connamespace
      where k.contype = 'f' and k.conparentid = 0 and n.nspname in (current_schema(), 'graphile_worker')
      order by 1, 2`)
  ).rows

const enabledTriggers = async (client: pg.Client): Promise<Named[]> =>
  (
    await client.query<Named>(`
      select t.tgrelid::regclass::text as table, t.tgname as name
      from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
      where not t.tgisinternal and t.tgenabled = 'O' and n.nspname in (current_schema(), 'graphile_worker')
      order by 1, 2`)
  ).rows
