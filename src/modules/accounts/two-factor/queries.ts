import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'

export const twoFactorRow = {
  /** Encrypted. */
  secret: text,
  /** Null until it is enabled. */
  confirmed_at: nullable(timestamp),
  recovery_codes_left: integer,
}
export type TwoFactorRow = RowOf<typeof twoFactorRow>

export const findTwoFactor = (db: Db, userId: number): Promise<TwoFactorRow | undefined> =>
  db.row(
    twoFactorRow,
    sql`
      select f.secret, f.confirmed_at,
        (select count(*) from recovery_codes c where c.user_id = f.user_id) as recovery_codes_left
      from two_factors f
      where f.user_id = ${userId}
    `,
  )

/** Stores a secret to be confirmed and replaces an unconfirmed one. False if a second factor is enabled already. */
export const beginTwoFactor = async (tx: Tx, userId: number, sealedSecret: string): Promise<boolean> =>
  (await tx.run(sql`
    insert into two_factors as f (user_id, secret)
    values (${userId}, ${sealedSecret})
    on conflict (user_id) do update set secret = excluded.secret, created_at = now() where f.confirmed_at is null
  `)) > 0

/** False if it is confirmed already, or if the secret was replaced in the meantime. */
export const confirmTwoFactor = async (tx: Tx, userId: number, sealedSecret: string, step: number): Promise<boolean> =>
  (await tx.run(sql`
    update two_factors
    set confirmed_at = now(), last_step = ${step}
    where user_id = ${userId} and secret = ${sealedSecret} and confirmed_at is null
  `)) > 0

/**
 * Uses up a time step. False if it or a later one was used before. A stored step further ahead than `latest` was used
 * before the clock was set back: it is ignored, because it would lock the user out until then.
 */
export const takeStep = async (db: Db, userId: number, step: number, latest: number): Promise<boolean> =>
  (await db.run(sql`
    update two_factors
    set last_step = ${step}
    where user_id = ${userId} and confirmed_at is not null and (last_step < ${step} or last_step > ${latest})
  `)) > 0

/** Locks the second factor of a user until the transaction ends. False if none is enabled. */
export const lockTwoFactor = (tx: Tx, userId: number): Promise<boolean> =>
  tx.exists(sql`select from two_factors where user_id = ${userId} and confirmed_at is not null for update`)

/** Uses up a recovery code. False if there is no such code. */
export const takeRecoveryCode = async (db: Db, userId: number, digest: Buffer): Promise<boolean> =>
  (await db.run(sql`delete from recovery_codes where user_id = ${userId} and digest = ${digest}`)) > 0

export async function replaceRecoveryCodes(tx: Tx, userId: number, digests: readonly Buffer[]): Promise<void> {
  await tx.run(sql`delete from recovery_codes where user_id = ${userId}`)
  await tx.run(sql`insert into recovery_codes (user_id, digest) select ${userId}::bigint, unnest(${digests}::bytea[])`)
}

/** False if no second factor is enabled. */
export const deleteTwoFactor = async (tx: Tx, userId: number): Promise<boolean> =>
  (await tx.run(sql`delete from two_factors where user_id = ${userId} and confirmed_at is not null`)) > 0

/** Password digest of a user; null without a password. */
export const findPasswordDigest = async (db: Db, userId: number): Promise<string | null> =>
  (await db.row({ password_digest: nullable(text) }, sql`select password_digest from users where id = ${userId}`))
    ?.password_digest ?? null

/**
 * Whether a user has a second factor, whether a sign-in without a required one was recorded, and the shortest grace period in hours that a group of the user, a group above it
 * or the installation (`everyone`) sets; null if none requires a second factor.
 */
export const twoFactorState = async (
  db: Db,
  userId: number,
  everyone: number | null,
): Promise<{ enabled: boolean; demanded: boolean; grace_hours: number | null }> =>
  (await db.row(
    { enabled: boolean, demanded: boolean, grace_hours: nullable(integer) },
    sql`
      select exists (select from two_factors where user_id = ${userId} and confirmed_at is not null) as enabled,
        exists (select from two_factor_demands where user_id = ${userId}) as demanded,
        least(
          ${everyone}::integer,
          (
            select min(around.two_factor_grace_period)
            from group_access a
              join namespaces n on n.id = a.group_id
              join namespaces around on around.id = any(n.traversal_ids)
            where a.user_id = ${userId}
              and a.expires_on > current_date
              and around.require_two_factor_authentication
              and ${raw("around.kind = 'group'")}
          )
        ) as grace_hours
    `,
  ))!

/**
 * Records the first sign-in without a required second factor. Returns whether the grace period has ended since then.
 */
export const isOverdue = async (db: Db, userId: number, hours: number): Promise<boolean> =>
  (await db.row(
    { overdue: boolean },
    sql`
      with noted as (insert into two_factor_demands (user_id) values (${userId}) on conflict do nothing returning since)
      select coalesce(
        (select since from noted), (select since from two_factor_demands where user_id = ${userId})
      ) + make_interval(hours => ${hours}::integer) <= now() as overdue
    `,
  ))!.overdue

/** Deletes the record of a missing second factor. */
export const forgetDemand = (tx: Db, userId: number): Promise<number> =>
  tx.run(sql`delete from two_factor_demands where user_id = ${userId}`)
