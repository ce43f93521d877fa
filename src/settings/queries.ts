import type { Db } from '../db/db.ts'
import { raw, type Sql, sql } from '../db/sql.ts'
import { type Settings, withDefaults } from './settings.ts'

/** Counts one hit in the current period of `seconds`; returns how many there are. */
export const countHit = async (db: Db, key: string, seconds: number): Promise<number> =>
  (await db.row<{ hits: number }>(sql`
    insert into rate_counters as c (key, period, hits) values (${key}, floor(extract(epoch from now()) / ${seconds}::integer), 1)
    on conflict (key) do update set hits = case when c.period = excluded.period then c.hits + 1 else 1 end, period = excluded.period
    returning hits`))!.hits

/** Whether a flag is set, inside a statement that decides by it: true of the moment, in every process. */
export const settingFlag = (name: keyof Settings): Sql =>
  raw(`coalesce((select (values->>'${name}')::boolean from application_settings), ${withDefaults({})[name]})`)
