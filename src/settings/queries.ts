import { deleteSome } from '../db/batches.ts'
import type { Db, Tx } from '../db/db.ts'
import { integer, json, type RowOf, timestamp } from '../db/row.ts'
import { raw, type Sql, sql } from '../db/sql.ts'
import { type Settings, withDefaults } from './settings.ts'

/**
 * Counts one hit in the current period of `seconds`, which begins with its first hit. Returns the hits in the period, and in how many
 * seconds it ends. A period that begins in the future counts as over, but for the minute by which waiting transactions may begin earlier.
 */
export const countHit = async (
  db: Db,
  key: string,
  seconds: number,
  count = 1,
): Promise<{ readonly hits: number; readonly ends_in: number }> => {
  const isCurrent = sql`c.ends_at > now() and c.ends_at < excluded.ends_at + interval '1 minute'`
  const counted = await db.row(
    { hits: integer, ends_in: integer },
    sql`
      insert into rate_counters as c (key, hits, ends_at)
      values (${key}, ${count}, now() + make_interval(secs => ${seconds}::integer))
      on conflict (key) do update
        set hits = case when ${isCurrent} then c.hits + excluded.hits else excluded.hits end,
          ends_at = case when ${isCurrent} then c.ends_at else excluded.ends_at end
      returning hits, ceil(extract(epoch from ends_at - now()))::integer as ends_in
    `,
  )
  return counted!
}

/** Deletes at most `size` counters whose period has ended. */
export const deleteEndedCounters = (db: Db, size: number): Promise<number> =>
  db.run(deleteSome('rate_counters', sql`ends_at <= now()`, size))

/**
 * Records that the user was seen at the address. False, and not recorded, if the address is new and the user has been seen at
 * `limit` other addresses within `seconds`.
 */
export const admitsAddress = async (
  db: Db,
  userId: number,
  address: string,
  { limit, seconds }: { limit: number; seconds: number },
): Promise<boolean> => {
  const recent = sql`
    user_id = ${userId}
    and seen_at between now() - make_interval(secs => ${seconds}::integer) and now() + interval '1 minute'
  `
  const admitted = await db.run(sql`
    with old as (delete from user_addresses where user_id = ${userId} and not (${recent}) and address <> ${address})
    insert into user_addresses (user_id, address)
    select ${userId}, ${address}
    where exists (select from user_addresses where ${recent} and address = ${address})
      or (select count(*) from user_addresses where ${recent} and address <> ${address}) < ${limit}
    on conflict (user_id, address) do update set seen_at = now()
  `)
  return admitted > 0
}

/** The changed settings, and when they changed. */
export const storedSettingsRow = {
  values: json<Partial<Settings>>(),
  created_at: timestamp,
  updated_at: timestamp,
}
export type StoredSettings = RowOf<typeof storedSettingsRow>

/** Reads the current settings, bypassing the cache. */
export const storedSettings = async (db: Db): Promise<StoredSettings> =>
  (await db.row(storedSettingsRow, sql`select values, created_at, updated_at from application_settings`))!

/** Like `storedSettings`, and locks them until the transaction ends. */
export const lockSettings = async (tx: Tx): Promise<StoredSettings> =>
  (await tx.row(storedSettingsRow, sql`select values, created_at, updated_at from application_settings for update`))!

/** A flag for use in a statement that depends on it, so that the statement never sees a stale cached value. */
export const settingFlag = (name: keyof Settings): Sql =>
  raw(`coalesce((select (values->>'${name}')::boolean from application_settings), ${withDefaults({})[name]})`)
