import type { Db, Tx } from '../db/db.ts'
import { integer, json, type RowOf, timestamp } from '../db/row.ts'
import { raw, type Sql, sql } from '../db/sql.ts'
import { type Settings, withDefaults } from './settings.ts'

/** Counts one hit in the current period of `seconds`; returns how many there are. */
export const countHit = async (db: Db, key: string, seconds: number): Promise<number> =>
  (await db.row(
    { hits: integer },
    sql`
    insert into rate_counters as c (key, period, hits) values (${key}, floor(extract(epoch from now()) / ${seconds}::integer), 1)
    on conflict (key) do update set hits = case when c.period = excluded.period then c.hits + 1 else 1 end, period = excluded.period
    returning hits`,
  ))!.hits

/**
 * Remembers where somebody was seen. False, and not remembered, from a new address when he was seen at `limit` others in the
 * last `seconds`: who has them keeps them.
 */
export const admitsAddress = async (
  db: Db,
  userId: number,
  address: string,
  { limit, seconds }: { limit: number; seconds: number },
): Promise<boolean> => {
  const recent = sql`user_id = ${userId} and seen_at between now() - make_interval(secs => ${seconds}::integer) and now() + interval '1 minute'`
  const admitted = await db.run(sql`
    with old as (delete from user_addresses where user_id = ${userId} and not (${recent}) and address <> ${address})
    insert into user_addresses (user_id, address)
    select ${userId}, ${address}
    where exists (select from user_addresses where ${recent} and address = ${address})
      or (select count(*) from user_addresses where ${recent} and address <> ${address}) < ${limit}
    on conflict (user_id, address) do update set seen_at = now()`)
  return admitted > 0
}

/** The settings that somebody changed, and when. */
export const storedSettingsRow = {
  values: json<Partial<Settings>>(),
  created_at: timestamp,
  updated_at: timestamp,
}
export type StoredSettings = RowOf<typeof storedSettingsRow>

/** As they are now, whatever this process remembers. */
export const storedSettings = async (db: Db): Promise<StoredSettings> =>
  (await db.row(storedSettingsRow, sql`select values, created_at, updated_at from application_settings`))!

/** As `storedSettings`, and nobody changes them until the transaction ends. */
export const lockSettings = async (tx: Tx): Promise<StoredSettings> =>
  (await tx.row(storedSettingsRow, sql`select values, created_at, updated_at from application_settings for update`))!

/** Whether a flag is set, inside a statement that decides by it: true of the moment, in every process. */
export const settingFlag = (name: keyof Settings): Sql =>
  raw(`coalesce((select (values->>'${name}')::boolean from application_settings), ${withDefaults({})[name]})`)
