import type pg from 'pg'
import { newClient } from './client.ts'
import { connectionOptions } from './connection.ts'
import { mapConnectionError } from './connection-errors.ts'
import { copyOut } from './pg-internals.ts'

/** A table as a backup names it: `main` is the schema of the product, wherever it is. */
export type TableName = { readonly schema: 'main' | 'graphile_worker'; readonly name: string }

/** The columns that are stored, without generated ones. */
export type TableShape = TableName & { readonly columns: readonly string[] }

export type SequenceValue = TableName & { readonly value: string; readonly isCalled: boolean }

/** All statements of a backup and of a restore may take as long as they need. */
export const withoutTimeouts = (url: string, name: string): pg.ClientConfig => ({
  ...connectionOptions(url, name),
  ...{ statement_timeout: 0, idle_in_transaction_session_timeout: 0 },
})

/** Quotes a name for SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** As SQL names a table on a connection whose main schema is the current one. */
export const qualified = ({ schema, name }: TableName): string =>
  schema === 'main' ? quoted(name) : `${quoted(schema)}.${quoted(name)}`

/** Selects schema and name of relations with a condition on `c` (pg_class). */
export const relations = (condition: string, columns = ''): string => `
  select case when n.nspname = current_schema() then 'main' else n.nspname end as schema, c.relname as name ${columns}
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in (current_schema(), 'graphile_worker')
    and not exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass and d.deptype = 'e')
    and ${condition}
  order by 1, 2`

/** The database as it was at one moment, on a connection of its own. It delays vacuum, so it should be closed soon. */
export class Snapshot implements AsyncDisposable {
  readonly #client: pg.Client
  /** By the clock of the database server. What was committed before is in the snapshot. */
  readonly takenAt: Date
  /** Positions of later events are at least this one. */
  readonly eventPosition: string
  /** Of the process of the database server that serves this connection. */
  readonly pid: number

  private constructor(client: pg.Client, pid: number, takenAt: Date, eventPosition: string) {
    this.#client = client
    this.pid = pid
    this.takenAt = takenAt
    this.eventPosition = eventPosition
  }

  static async take(url: string): Promise<Snapshot> {
    const client = newClient(withoutTimeouts(url, 'backup'))
    await mapConnectionError(client.connect())
    try {
      await client.query('begin isolation level repeatable read, read only')
      // In the order of the file, so that unchanged tables have the same bytes.
      await client.query('set local synchronize_seqscans = off')
      const { rows } = await client.query<{ pid: number; taken_at: string; position: string }>(
        // Before the snapshot is taken: what was committed by then is in it.
        `select pg_backend_pid() as pid, to_char(statement_timestamp(), 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as taken_at,
          event_position(pg_snapshot_xmax(pg_current_snapshot()))::text as position`,
      )
      const { pid, taken_at, position } = rows[0]!
      return new Snapshot(client, pid, new Date(taken_at), position)
    } catch (error) {
      await client.end()
      throw error
    }
  }

  /** Tables whose content survives a crash. */
  async tables(): Promise<TableShape[]> {
    return this.rows<TableShape>(
      relations(
        `c.relkind = 'r' and c.relpersistence = 'p'`,
        `, (
          select array_agg(a.attname::text order by a.attnum)
          from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        ) as columns`,
      ),
    )
  }

  /** Their values are not those of the snapshot, but later ones, which are as good: numbers that are used must be below them. */
  async sequences(): Promise<SequenceValue[]> {
    const values: SequenceValue[] = []
    for (const sequence of await this.rows<TableName>(relations(`c.relkind = 'S'`))) {
      const [row] = await this.rows<{ value: string; is_called: boolean }>(
        `select last_value::text as value, is_called from ${qualified(sequence)}`,
      )
      values.push({ ...sequence, value: row!.value, isCalled: row!.is_called })
    }
    return values
  }

  /** The migrations of the product, and the number of those of the job queue. */
  async migrations(): Promise<{ product: string[]; jobs: number }> {
    const product = await this.rows<{ name: string }>('select name from schema_migrations order by name')
    const [jobs] = await this.rows<{ id: number }>('select max(id) as id from graphile_worker.migrations')
    return { product: product.map(({ name }) => name), jobs: jobs!.id }
  }

  /** Copies a table as `copyOut` does. */
  copy(table: TableShape, take: (row: Buffer) => Promise<void> | undefined): Promise<number> {
    const columns = table.columns.map(quoted).join(', ')
    return copyOut(this.#client, `copy ${qualified(table)} (${columns}) to stdout`, take)
  }

  async rows<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.#client.query<Row>(text, [...values])).rows
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end().catch(() => {})
  }
}
