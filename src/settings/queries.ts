import type { Db } from '../db/db.ts'
import { sql } from '../db/sql.ts'

/** Counts one hit in the current period of `seconds`; returns how many there are. */
export const countHit = async (db: Db, key: string, seconds: number): Promise<number> =>
  (await db.row<{ hits: number }>(sql`
    insert into rate_counters as c (key, period, hits) values (${key}, floor(extract(epoch from now()) / ${seconds}::integer), 1)
    on conflict (key) do update set hits = case when c.period = excluded.period then c.hits + 1 else 1 end, period = excluded.period
    returning hits`))!.hits
