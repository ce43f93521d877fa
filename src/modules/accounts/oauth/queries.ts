import type { Scope } from '../../../access/scopes.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { notify } from '../../../db/notifications.ts'
import { sql } from '../../../db/sql.ts'
import { accountColumns, type CredentialRow } from '../tokens/queries.ts'

export type NewOauthToken = {
  userId: number
  scopes: readonly Scope[]
  digest: Buffer
  refreshDigest: Buffer
  seconds: number
  /** That of the token whose place it takes. */
  familyId: number | null
}

/** Returns the second in which it was made, since 1970. */
export const insertOauthToken = async (tx: Tx, token: NewOauthToken): Promise<number> =>
  (await tx.row<{ created_at: number }>(sql`
    with next as (select nextval(pg_get_serial_sequence('access_tokens', 'id')) as id)
    insert into access_tokens (id, kind, user_id, name, scopes, digest, refresh_digest, ends_at, family_id)
    select id, 'oauth', ${token.userId}, 'OAuth', ${token.scopes}, ${token.digest}, ${token.refreshDigest},
      now() + make_interval(secs => ${token.seconds}::integer), coalesce(${token.familyId}::bigint, id) from next
    returning floor(extract(epoch from created_at))::bigint as created_at`))!.created_at

export type RefreshRow = CredentialRow & { token_id: number; family_id: number; scopes: Scope[]; revoked: boolean }

/** The token that a refresh token belongs to, with its account; locked until the transaction ends. */
export const lockByRefreshToken = (tx: Tx, digest: Buffer, days: number): Promise<RefreshRow | undefined> =>
  tx.row<RefreshRow>(sql`
    select ${accountColumns}, t.id as token_id, t.family_id, t.scopes, t.revoked
    from access_tokens t join users u on u.id = t.user_id
    where t.refresh_digest = ${digest} and t.ends_at > now() - make_interval(days => ${days}::integer) for update of t`)

/** Revokes the token that this is, or the refresh token of. Returns whose it was; no effect when there is none. */
export async function revokeOauthToken(tx: Tx, digest: Buffer): Promise<number | undefined> {
  const revoked = await tx.row<{ user_id: number }>(sql`
    update access_tokens set revoked = true where kind = 'oauth' and (digest = ${digest} or refresh_digest = ${digest}) and not revoked
    returning user_id`)
  if (revoked) await notify(tx, 'actors')
  return revoked?.user_id
}

export type OauthTokenRow = { user_id: number; scopes: Scope[]; created_at: number; expires_in: number }

export const findOauthToken = (db: Db, id: number): Promise<OauthTokenRow | undefined> =>
  db.row<OauthTokenRow>(sql`
    select user_id, scopes, floor(extract(epoch from created_at))::bigint as created_at,
      greatest(0, floor(extract(epoch from ends_at - now())))::bigint as expires_in
    from access_tokens where id = ${id} and kind = 'oauth'`)

/** Tokens whose refresh tokens are good for nothing any more either. */
export const deleteEndedOauthTokens = (db: Db, days: number): Promise<number> =>
  db.run(
    sql`delete from access_tokens where kind = 'oauth' and ends_at <= now() - make_interval(days => ${days}::integer)`,
  )
