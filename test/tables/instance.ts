import type { Tx } from '../../src/db/db.ts'
import { text } from '../../src/db/row.ts'
import { raw, sql } from '../../src/db/sql.ts'
import { type TriggerRow, triggersQuery } from '../../tools/triggers-text.ts'
import type { World } from '../world.ts'
import { ago, change, find } from './statements.ts'

/** Mails to an address in their order. */
export const mailRows = (
  world: World,
  recipient: string,
  ...columns: readonly ('sender' | 'subject' | 'body' | 'html')[]
) => find(world, 'mails', { recipient }, columns, 'id')

export const queuedMails = (world: World) => find(world, 'mails', {}, ['id'])

export const latestMail = (world: World) => world.rows('select recipient from mails order by id desc limit 1')

export const ageMails = (world: World, interval: string) => change(world, 'mails', {}, { created_at: ago(interval) })

export const storedSettings = (world: World) => find(world, 'application_settings', {}, ['values'])

/** Stores a setting without telling any process. */
export const storeSetting = (world: World, name: string, value: unknown) =>
  world.rows('update application_settings set values = values || $1::jsonb', [JSON.stringify({ [name]: value })])

export const headerLogo = (world: World) => find(world, 'appearance', {}, ['header_logo_digest as digest'])

/** Connections that wait for a lock, or for an advisory lock. */
export const waitingFor = (world: World, lock: 'lock' | 'advisory lock', query = '') =>
  world.rows(
    `select pid from pg_stat_activity where datname = current_database() and query ~* $1
      and ${lock === 'lock' ? `wait_event_type = 'Lock'` : `wait_event = 'advisory'`}`,
    [query],
  )

/** Locks a row until the transaction ends: as a change of its key does, or as the insert of another one that refers to it, or as a reader that relies on it. */
export const lockRow = (
  tx: Tx,
  table: string,
  id: number,
  strength: 'update' | 'no key update' | 'share' | 'key share' = 'update',
) => tx.run(sql`select from ${raw(table)} where id = ${id} for ${raw(strength)}`)

/** Locks every row of the service, as if each was being changed; `update` as if its keys were, or it was being deleted. */
export async function lockAllRows(tx: Tx, strength: 'update' | 'no key update' = 'update'): Promise<void> {
  const tables = await tx.rows(
    { name: text },
    sql`
      select format('%I.%I', schemaname, tablename) as name
      from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema', 'graphile_worker')
    `,
  )
  for (const { name } of tables) await tx.run(sql`select from ${raw(name)} for ${raw(strength)}`)
}

/** Lets nothing write into a table until the transaction ends. */
export const lockTable = (tx: Tx, table: string) => tx.run(sql`lock table ${raw(table)} in share mode`)

/** Sets the time of the last change of a row, which stays locked until the transaction ends. */
export const touchRow = (tx: Tx, table: string, id: number): Promise<number> =>
  tx.run(sql`update ${raw(table)} set updated_at = now() where id = ${id}`)

/** Whether nothing else has locked the row; if so, locks it. */
export const isUnlocked = async (
  tx: Tx,
  table: string,
  id: number,
  strength: 'update' | 'no key update' | 'key share' = 'no key update',
): Promise<boolean> =>
  (await tx.run(sql`select from ${raw(table)} where id = ${id} for ${raw(strength)} skip locked`)) > 0

/** Whether a transaction that waits has taken no number of a record of the project yet. */
export const areNumbersUnlocked = async (tx: Tx, projectId: number): Promise<boolean> =>
  (await tx.run(sql`select from internal_ids where project_id = ${projectId} for no key update skip locked`)) > 0

/** Locks the rows of a table that refer to an id, as if they were being deleted, until the transaction ends. Returns their number. */
export const lockRowsOf = (tx: Tx, table: string, column: string, id: number): Promise<number> =>
  tx.run(sql`select from ${raw(table)} where ${raw(column)} = ${id} for update`)

/** Whether nothing else has locked the rows of a table that refer to an id; if so, locks them. */
export const areUnlocked = async (tx: Tx, table: string, column: string, id: number): Promise<boolean> =>
  (await tx.run(sql`select from ${raw(table)} where ${raw(column)} = ${id} for update skip locked`)) > 0

/** Tables and columns of all schemas of ours; `binary` if a column stores bytes. Without the audit log. */
export const storedColumns = (world: World) =>
  world.rows(`
    select c.table_schema as schema, c.table_name as table, c.column_name as column, c.data_type = 'bytea' as binary
    from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
    where t.table_type = 'BASE TABLE' and c.table_schema not in ('pg_catalog', 'information_schema')
      and c.table_name <> 'audit_events'`)

type StoredColumn = { schema: string; table: string; column: string; binary: boolean }

/** Where a column has one of the words in any case, as `place`: `schema.table.column: value`. */
export const placesWith = (world: World, columns: readonly StoredColumn[], words: readonly string[]) =>
  world.rows(
    columns
      .map(({ schema, table, column, binary }) => {
        const value = binary ? `encode("${column}", 'escape')` : `"${column}"::text`
        return `select '${schema}.${table}.${column}: ' || left(${value}, 200) as place from "${schema}"."${table}"
          where lower(${value}) like any ($1)`
      })
      .join(' union all '),
    [words.map((word) => `%${word.toLowerCase()}%`)],
  )

/** All triggers of the database. */
export const triggersOf = (world: World): Promise<TriggerRow[]> => world.rows(triggersQuery)

/** Connections to the database of this world whose application has the name. */
export const connectionsNamed = (world: World, name: string) =>
  world.rows(`select pid from pg_stat_activity where datname = current_database() and application_name = $1`, [name])

/** Keys of requests, with the digests and answers that are stored, oldest first. */
export const idempotencyKeys = (world: World, user_id: number) =>
  find(world, 'idempotency_keys', { user_id }, ['key_digest', 'state', 'status', 'sealed_body', 'is_cut'], 'id')

export const changeIdempotencyKeys = (
  world: World,
  user_id: number,
  values: Readonly<
    Partial<Record<'state' | 'took_effect' | 'leased_until' | 'created_at', string | boolean | ReturnType<typeof ago>>>
  >,
) => change(world, 'idempotency_keys', { user_id }, values)

/** Senders of the mails to an address, in their order; null is the installation. */
export const sendersOfMails = async (world: World, recipient: string): Promise<unknown[]> =>
  (await world.rows('select sender from mails where recipient = $1 order by id', [recipient])).map(
    ({ sender }) => sender,
  )
