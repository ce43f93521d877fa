import type { Db } from '../../../db/db.ts'
import { bytes, integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/**
 * Both queries ignore rows that end more than a minute after the longest possible window: they were written before the
 * clock was set back, and would block a user for hours. The minute covers concurrent requests, because each uses the
 * start time of its transaction.
 */

/** Failures of these keys within the window, with the seconds until they expire. */
export const findFailures = (
  db: Db,
  keys: readonly Buffer[],
  windowSeconds: number,
): Promise<{ key: Buffer; failures: number; seconds: number }[]> =>
  db.rows(
    { key: bytes, failures: integer, seconds: integer },
    sql`
      select key, failures, ceil(extract(epoch from ends_at - now()))::integer as seconds
      from sign_in_failures
      where key = any(${keys}::bytea[])
        and ends_at > now()
        and ends_at <= now() + make_interval(secs => ${windowSeconds}::integer) + interval '1 minute'
    `,
  )

/**
 * Counts a failure of each key, and deletes up to 20 expired rows, which keeps the table small. `keys` are sorted to
 * avoid deadlocks.
 */
export const addFailure = (db: Db, keys: readonly Buffer[], seconds: number): Promise<number> =>
  db.run(sql`
    with ended as (
      delete from sign_in_failures
      where key = any(
        array(
          select key
          from sign_in_failures
          where ends_at <= now() and key <> all(${keys}::bytea[])
          order by ends_at
          limit 20
          for update skip locked
        )
      )
    )
    insert into sign_in_failures as f (key, failures, ends_at)
    select key, 1, now() + make_interval(secs => ${seconds}::integer)
    from unnest(${keys}::bytea[]) as key
    on conflict (key) do update
      set failures = case
          when f.ends_at between now() and excluded.ends_at + interval '1 minute' then f.failures + 1
          else 1
        end,
        ends_at = case
          when f.ends_at between now() and excluded.ends_at + interval '1 minute' then f.ends_at
          else excluded.ends_at
        end
  `)

export const deleteFailures = (db: Db, key: Buffer): Promise<number> =>
  db.run(sql`delete from sign_in_failures where key = ${key}`)
