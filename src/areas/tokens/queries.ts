import type { Actor } from '../../access/actor.ts'
import type { Scope } from '../../access/scopes.ts'
import type { List } from '../../api/page.ts'
import type { Db, Tx } from '../../db/db.ts'
import { notify } from '../../db/notifications.ts'
import { containing, raw, sql } from '../../db/sql.ts'
import type { DateOnly, Timestamp } from '../../db/types.ts'
import { settingFlag } from '../../settings/queries.ts'

export type TokenRow = {
  id: number
  user_id: number
  name: string
  scopes: Scope[]
  impersonation: boolean
  revoked: boolean
  expires_at: DateOnly | null
  last_used_at: Timestamp | null
  created_at: Timestamp
  active: boolean
}

const columns = sql`t.id, t.user_id, t.name, t.scopes, t.impersonation, t.revoked, t.expires_at, t.last_used_at, t.created_at,
  not t.revoked and (t.expires_at is null or t.expires_at > current_date) as active`

export const tokenSelect = sql`select ${columns} from access_tokens t`

export type NewToken = {
  userId: number
  name: string
  digest: Buffer
  scopes: readonly Scope[]
  expiresAt: DateOnly | null
  impersonation?: boolean
}

export const insertToken = async (tx: Tx, token: NewToken): Promise<TokenRow> =>
  (await tx.row<TokenRow>(sql`
    insert into access_tokens as t (user_id, name, digest, scopes, expires_at, impersonation)
    values (${token.userId}, ${token.name}, ${token.digest}, ${token.scopes}, ${token.expiresAt}, ${token.impersonation ?? false})
    returning ${columns}`))!

/** Revokes at once, and in every process. False when it was revoked already or is not there. */
export async function revokeToken(tx: Tx, id: number): Promise<boolean> {
  const changed = await tx.run(sql`update access_tokens set revoked = true where id = ${id} and not revoked`)
  await notify(tx, 'actors')
  return changed > 0
}

/** A credential with its account: all that authentication asks. */
export type CredentialRow = {
  user_id: number
  username: string
  name: string
  email: string
  state: string
  kind: string
  admin: boolean
  external: boolean
  can_create_group: boolean
  projects_limit: number
  /** His address waits to be confirmed, and must be. */
  unconfirmed: boolean
}

export const accountColumns = sql`u.id as user_id, u.username, u.name, u.email, u.state, u.kind, u.admin, u.external, u.can_create_group, u.projects_limit,
  u.confirmed_at is null and ${settingFlag('send_user_confirmation_email')} as unconfirmed`

export type TokenCredentialRow = CredentialRow & {
  token_id: number
  scopes: Scope[]
  revoked: boolean
  expired: boolean
}

export const findTokenCredential = (db: Db, digest: Buffer): Promise<TokenCredentialRow | undefined> =>
  db.row<TokenCredentialRow>(sql`
    select ${accountColumns}, t.id as token_id, t.scopes, t.revoked, coalesce(t.expires_at <= current_date, false) as expired
    from access_tokens t join users u on u.id = t.user_id where t.digest = ${digest}`)

/** The account and, if it is his, the token, as both are now. */
export const findDerivedCredential = (
  db: Db,
  userId: number,
  tokenId: number | undefined,
): Promise<
  | (CredentialRow & { [K in keyof Omit<TokenCredentialRow, keyof CredentialRow>]: TokenCredentialRow[K] | null })
  | undefined
> =>
  db.row(sql`
    select ${accountColumns}, t.id as token_id, t.scopes, t.revoked, coalesce(t.expires_at <= current_date, false) as expired
    from users u left join access_tokens t on t.user_id = u.id and t.id = ${tokenId ?? null}::bigint where u.id = ${userId}`)

export type PasswordCredentialRow = CredentialRow & { password_digest: string | null; password_expired: boolean }

/** By user name or e-mail address, in any case. */
export const findPasswordCredential = (db: Db, login: string): Promise<PasswordCredentialRow | undefined> =>
  db.row<PasswordCredentialRow>(sql`
    select ${accountColumns}, u.password_digest, coalesce(u.password_expires_at <= now(), false) as password_expired
    from users u
    where lower(u.username) = lower(${login}) or lower(u.email) = lower(${login}) order by lower(u.username) = lower(${login}) desc limit 1`)

/** The account to act for with sudo: an id (digits only) or a user name. */
export const findAccount = (db: Db, idOrUsername: string): Promise<CredentialRow | undefined> =>
  db.row<CredentialRow>(
    /^\d{1,15}$/.test(idOrUsername)
      ? sql`select ${accountColumns} from users u where u.id = ${Number(idOrUsername)}`
      : sql`select ${accountColumns} from users u where lower(u.username) = lower(${idOrUsername})`,
  )

/** Notes the use of a token and the day of activity, at most once in ten minutes a token. */
export const touchToken = (db: Db, tokenId: number): Promise<number> =>
  db.run(sql`
    with used as (
      update access_tokens set last_used_at = now()
      where id = ${tokenId} and (last_used_at is null or last_used_at < now() - interval '10 minutes') returning user_id)
    update users set last_activity_on = current_date from used where users.id = used.user_id and last_activity_on is distinct from current_date`)

/** The caller's own tokens, or everybody's for administrators. */
export const tokenList = (
  actor: Actor,
  filters: { user_id?: number; state?: 'active' | 'inactive'; revoked?: boolean; search?: string },
): List => ({
  type: 'PersonalAccessToken',
  select: tokenSelect,
  from: sql`from access_tokens t`,
  where: [
    raw('not t.impersonation'),
    ...(actor.admin ? [] : [sql`t.user_id = ${actor.id}`]),
    ...(filters.user_id === undefined ? [] : [sql`t.user_id = ${filters.user_id}`]),
    ...(filters.state === undefined
      ? []
      : [
          sql`(not t.revoked and (t.expires_at is null or t.expires_at > current_date)) = ${filters.state === 'active'}`,
        ]),
    ...(filters.revoked === undefined ? [] : [sql`t.revoked = ${filters.revoked}`]),
    ...(filters.search ? [sql`t.name ilike ${containing(filters.search)}`] : []),
  ],
  order: [{ by: raw('t.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

/** One token that the caller may manage: his own, or any for administrators. */
export const findManagedToken = (db: Db, actor: Actor, id: number): Promise<TokenRow | undefined> =>
  db.row<TokenRow>(sql`${tokenSelect} where t.id = ${id} and (${actor.admin} or t.user_id = ${actor.id})`)

export const getToken = (db: Db, id: number): Promise<TokenRow | undefined> =>
  db.row<TokenRow>(sql`${tokenSelect} where t.id = ${id}`)
