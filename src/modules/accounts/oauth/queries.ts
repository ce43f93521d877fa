import type { Scope } from '../../../access/scopes.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, notNull, type RowOf, unused } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { accountColumns, credentialRow, familyLock, scopeList } from '../tokens/queries.ts'

export type NewOauthToken = {
  userId: number
  scopes: readonly Scope[]
  digest: Buffer
  refreshDigest: Buffer
  seconds: number
  /** Family of the token that it replaces. */
  familyId: number | null
}

/** Returns the creation time in seconds since 1970. */
export const insertOauthToken = async (tx: Tx, token: NewOauthToken): Promise<number> =>
  (await tx.row(
    { created_at: integer },
    sql`
      with next as (select nextval(pg_get_serial_sequence('access_tokens', 'id')) as id)
      insert into access_tokens (id, kind, user_id, name, scopes, digest, refresh_digest, ends_at, family_id)
      select id, 'oauth', ${token.userId}, 'OAuth', ${token.scopes}, ${token.digest}, ${token.refreshDigest},
        now() + make_interval(secs => ${token.seconds}::integer), coalesce(${token.familyId}::bigint, id)
      from next
      returning floor(extract(epoch from created_at))::bigint as created_at
    `,
  ))!.created_at

export const refreshRow = {
  ...credentialRow,
  token_id: integer,
  family_id: notNull(integer),
  scopes: scopeList,
  revoked: boolean,
}
export type RefreshRow = RowOf<typeof refreshRow>

/** The token of a refresh token, with its account; locked until the transaction ends. */
export const lockByRefreshToken = (tx: Tx, digest: Buffer, days: number): Promise<RefreshRow | undefined> =>
  tx.row(
    refreshRow,
    sql`
      select ${accountColumns}, t.id as token_id, t.family_id, t.scopes, t.revoked
      from access_tokens t join users u on u.id = t.user_id
      where t.refresh_digest = ${digest} and t.ends_at > now() - make_interval(days => ${days}::integer)
      for update of t
    `,
  )

/**
 * Keeps the password of a user from being changed until the transaction ends, which revokes all tokens. Returns whether the password
 * is still the one with this digest, and the account active.
 */
export const holdPassword = (tx: Tx, userId: number, digest: string): Promise<boolean> =>
  tx.exists(sql`select from users where id = ${userId} and password_digest = ${digest} and state = 'active' for share`)

/** As `holdPassword`, of the user of a refresh token. */
export const holdPasswordOf = (tx: Tx, refreshDigest: Buffer): Promise<boolean> =>
  tx.exists(sql`
    select from users where id = (select user_id from access_tokens where refresh_digest = ${refreshDigest}) for share
  `)

/** The family of a token or refresh token, locked until the transaction ends. `undefined` if there is no such token. */
export const lockFamilyBySecret = async (tx: Tx, digest: Buffer): Promise<number | undefined> =>
  (
    await tx.row(
      { family_id: notNull(integer), locked: unused },
      sql`
        select family_id, ${familyLock(sql`family_id`)} as locked
        from access_tokens
        where kind = 'oauth' and (digest = ${digest} or refresh_digest = ${digest})
      `,
    )
  )?.family_id

export const oauthTokenRow = {
  user_id: integer,
  scopes: scopeList,
  created_at: integer,
  expires_in: integer,
}
export type OauthTokenRow = RowOf<typeof oauthTokenRow>

export const findOauthToken = (db: Db, id: number): Promise<OauthTokenRow | undefined> =>
  db.row(
    oauthTokenRow,
    sql`
      select user_id, scopes, floor(extract(epoch from created_at))::bigint as created_at,
        greatest(0, floor(extract(epoch from ends_at - now())))::bigint as expires_in
      from access_tokens
      where id = ${id} and kind = 'oauth'
    `,
  )

/** Deletes tokens whose refresh tokens have expired too. */
export const deleteEndedOauthTokens = (db: Db, days: number): Promise<number> =>
  db.run(
    sql`delete from access_tokens where kind = 'oauth' and ends_at <= now() - make_interval(days => ${days}::integer)`,
  )
