import type { Db, Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import { boolean, integer, json, notNull, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { isDue, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Secrets } from '../../../kernel/secrets.ts'

/** A key of a caller, as its digest. */
export type KeyOfCaller = {
  readonly userId: number
  /** Separates credentials that may see less or more than the user; usually ''. */
  readonly scope: string
  readonly digest: string
}

/** The answer to repeat; `sealedBody` null without a body. */
export type StoredAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string | number>>
  readonly sealedBody: string | null
  readonly isCut: boolean
}

/** Seconds after which another attempt may take over a request that has not taken effect. */
export const leaseSeconds = 60

const lease = raw(`interval '${leaseSeconds} seconds'`)
const retention = raw("interval '1 day'")

const ofCaller = ({ userId, scope, digest }: KeyOfCaller): Sql =>
  sql`k.user_id = ${userId} and k.scope = ${scope} and k.key_digest = ${digest}`

export const keyRow = {
  fingerprint: text,
  state: oneOf('running', 'done'),
  took_effect: boolean,
  is_leased: notNull(boolean),
  status: nullable(integer),
  headers: nullable(json<Record<string, string | number>>()),
  sealed_body: nullable(text),
  is_cut: boolean,
}
export type KeyRow = RowOf<typeof keyRow>

/** The key, if it was used within a day. */
export const findKey = (db: Db, key: KeyOfCaller): Promise<KeyRow | undefined> =>
  db.row(
    keyRow,
    sql`
      select k.fingerprint, k.state, k.took_effect, not ${isDue(raw('k.leased_until'), lease)} as is_leased, k.status,
        k.headers, k.sealed_body, k.is_cut
      from idempotency_keys k
      where ${ofCaller(key)} and k.created_at > now() - ${retention}
    `,
  )

/** Locks the key until the transaction ends; false if another request holds it. */
export const tryLockKey = async (tx: Tx, { userId, scope, digest }: KeyOfCaller): Promise<boolean> =>
  (await tx.row(
    { locked: notNull(boolean) },
    sql`select pg_try_advisory_xact_lock(hashtextextended(${`idempotency ${userId} ${scope} ${digest}`}, 0)) as locked`,
  ))!.locked

/**
 * Begins a request with a key that was not used within a day, or whose request was interrupted before it took effect. False if
 * the key is in use.
 */
export const claimKey = async (db: Db, key: KeyOfCaller, fingerprint: string, attempt: string): Promise<boolean> =>
  (await db.run(sql`
    insert into idempotency_keys as k (user_id, scope, key_digest, fingerprint, state, attempt, leased_until)
    values (${key.userId}, ${key.scope}, ${key.digest}, ${fingerprint}, 'running', ${attempt}, now() + ${lease})
    on conflict (user_id, scope, key_digest) do update
      set fingerprint = excluded.fingerprint, state = 'running', attempt = excluded.attempt,
        leased_until = excluded.leased_until, took_effect = false, status = null, headers = null, sealed_body = null,
        is_cut = false, created_at = now()
      where k.created_at <= now() - ${retention}
        or (
          k.state = 'running'
          and not k.took_effect
          and ${isDue(raw('k.leased_until'), lease)}
          and k.fingerprint = excluded.fingerprint
        )
  `)) > 0

const ofAttempt = (key: KeyOfCaller, attempt: string): Sql =>
  sql`${ofCaller(key)} and k.attempt = ${attempt} and k.state = 'running'`

/** False if another attempt took over. */
export const renewKey = async (db: Db, key: KeyOfCaller, attempt: string): Promise<boolean> =>
  (await db.run(sql`update idempotency_keys k set leased_until = now() + ${lease} where ${ofAttempt(key, attempt)}`)) >
  0

/** Records that the request takes effect. False if another attempt took over. */
export const markEffect = async (db: Db, key: KeyOfCaller, attempt: string): Promise<boolean> =>
  (await db.run(sql`update idempotency_keys k set took_effect = true where ${ofAttempt(key, attempt)}`)) > 0

export const completeKey = async (
  db: Db,
  key: KeyOfCaller,
  attempt: string,
  { status, headers, sealedBody, isCut }: StoredAnswer,
): Promise<boolean> =>
  (await db.run(sql`
    update idempotency_keys k
    set state = 'done', status = ${status}, headers = ${JSON.stringify(headers)}::jsonb, sealed_body = ${sealedBody},
      is_cut = ${isCut}
    where ${ofAttempt(key, attempt)}
  `)) > 0

/** Forgets a request that has not taken effect. */
export const releaseKey = (db: Db, key: KeyOfCaller, attempt: string): Promise<number> =>
  db.run(sql`delete from idempotency_keys k where ${ofAttempt(key, attempt)} and not k.took_effect`)

const batchSize = 10_000

/** Deletes keys older than a day, at most `batchSize`. Returns whether there may be more. */
export const deleteOldKeys = async (db: Db): Promise<boolean> =>
  (await db.run(sql`
    delete from idempotency_keys
    where id = any(
      array(
        select k.id
        from idempotency_keys k
        where k.created_at <= now() - ${retention}
        order by k.created_at
        limit ${raw(String(batchSize))}
      )
    )
  `)) === batchSize

/** What a stored body is encrypted for. */
export const purposeOf = ({ userId, scope, digest }: KeyOfCaller): string => `idempotency:${userId}:${scope}:${digest}`

/** Encrypts the stored bodies with the current key. Returns their number. */
export const resealAnswers = (tx: Tx, secrets: Secrets): Promise<number> =>
  resealRows(tx, { table: 'idempotency_keys', id: 'id', column: 'sealed_body' }, async (sealed, id) => {
    const key = (await tx.row(
      { user_id: integer, scope: text, key_digest: text },
      sql`select user_id, scope, key_digest from idempotency_keys where id = ${id}`,
    ))!
    return secrets.reseal(sealed, purposeOf({ userId: key.user_id, scope: key.scope, digest: key.key_digest }))
  })
