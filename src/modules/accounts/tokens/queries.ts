import type { Actor } from '../../../access/actor.ts'
import { type Scope, scopes } from '../../../access/scopes.ts'
import type { List } from '../../../api/list.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { notify } from '../../../db/notifications.ts'
import {
  allNullable,
  boolean,
  date,
  integer,
  json,
  listOf,
  notNull,
  nullable,
  oneOf,
  type RowOf,
  text,
  timestamp,
} from '../../../db/row.ts'
import { containing, isLongAgo, raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import type { DateOnly } from '../../../db/types.ts'
import { settingFlag } from '../../../settings/queries.ts'
import { groupLevel, projectLevel } from '../../namespaces/index.ts'
import { touchAccount } from '../users/state-queries.ts'

/** A user's own; an administrator's to impersonate a user; a bot's for a project or group; or created by signing in. */
export type TokenKind = 'personal' | 'impersonation' | 'resource' | 'oauth'

const tokenKind = oneOf<TokenKind>('personal', 'impersonation', 'resource', 'oauth')
export const scopeList = listOf(oneOf(...scopes))

export const tokenRow = {
  id: integer,
  user_id: integer,
  kind: tokenKind,
  name: text,
  scopes: scopeList,
  revoked: boolean,
  expires_at: nullable(date),
  last_used_at: nullable(timestamp),
  created_at: timestamp,
  active: boolean,
  /** Projects and groups that the token is limited to; null if it is unlimited. */
  limited_to: nullable(json<{ project_ids: number[]; group_ids: number[] }>()),
}
export type TokenRow = RowOf<typeof tokenRow>

const usable = sql`(not t.revoked and ${unexpired('t')} and (t.ends_at is null or t.ends_at > now()))`

const limitsAs = (projects: string, groups: string): Sql =>
  raw(`case when t.limited then (select json_build_object(
      '${projects}', coalesce(json_agg(l.project_id order by l.project_id) filter (where l.project_id is not null), '[]'),
      '${groups}', coalesce(json_agg(l.namespace_id order by l.namespace_id) filter (where l.namespace_id is not null), '[]'))
    from access_token_limits l where l.token_id = t.id) end`)

/** Columns of `TokenRow`, of the access_tokens row with the alias `t`. */
export const tokenColumns = sql`
  t.id, t.user_id, t.kind, t.name, t.scopes, t.revoked, t.expires_at, t.last_used_at, t.created_at, ${usable} as active,
  ${limitsAs('project_ids', 'group_ids')} as limited_to
`

const select = sql`select ${tokenColumns} from access_tokens t`

export type NewToken = {
  kind: Exclude<TokenKind, 'oauth'>
  userId: number
  name: string
  digest: Buffer
  scopes: readonly Scope[]
  expiresAt: DateOnly | null
  limited: boolean
  familyId: number | null
}

export const insertToken = async (tx: Tx, token: NewToken): Promise<number> =>
  (await tx.row(
    { id: integer },
    sql`
      insert into access_tokens (kind, user_id, name, digest, scopes, expires_at, limited, family_id)
      values (
        ${token.kind}, ${token.userId}, ${token.name}, ${token.digest}, ${token.scopes}, ${token.expiresAt},
        ${token.limited}, ${token.familyId}
      )
      returning id
    `,
  ))!.id

/** Limits a token to the given projects in which the user has a level. Returns their number. */
export const limitToProjects = (
  tx: Tx,
  tokenId: number,
  userId: number,
  projectIds: readonly number[],
): Promise<number> =>
  tx.run(sql`
    insert into access_token_limits (token_id, project_id)
    select ${tokenId}::bigint, p.id
    from projects p
    where p.id = any(${projectIds}::bigint[])
      and not p.deleting
      and ${projectLevel(userId, raw('p.id'), raw('p.namespace_id'))} is not null
  `)

/** As `limitToProjects`, for groups. */
export const limitToGroups = (tx: Tx, tokenId: number, userId: number, groupIds: readonly number[]): Promise<number> =>
  tx.run(sql`
    insert into access_token_limits (token_id, namespace_id)
    select ${tokenId}::bigint, n.id
    from namespaces n
    where n.id = any(${groupIds}::bigint[])
      and n.kind = 'group'
      and not n.deleting
      and ${groupLevel(userId, raw('n.id'))} is not null
  `)

/** Copies the limits of a token to another. */
export const copyLimits = (tx: Tx, fromId: number, toId: number): Promise<number> =>
  tx.run(sql`
    insert into access_token_limits (token_id, project_id, namespace_id)
    select ${toId}::bigint, project_id, namespace_id
    from access_token_limits
    where token_id = ${fromId}
  `)

/** Revokes a token at once, in every process. False if it was revoked already or does not exist. */
export async function revokeToken(tx: Tx, id: number): Promise<boolean> {
  const changed = await tx.run(sql`update access_tokens set revoked = true where id = ${id} and not revoked`)
  await notify(tx, 'actors')
  return changed > 0
}

/**
 * Serialises changes of a family until the transaction ends; otherwise revoking a family could miss the token that a
 * concurrent rotation adds. Take it before the lock of a token.
 */
export const lockFamily = (tx: Tx, familyId: number): Promise<number> =>
  tx.run(sql`select ${familyLock(sql`${familyId}::bigint`)}`)

/** As `lockFamily`, by any token of the family, including the first. */
export const lockFamilyOf = (tx: Tx, tokenId: number): Promise<number> =>
  tx.run(sql`select ${familyLock(sql`coalesce(family_id, id)`)} from access_tokens where id = ${tokenId}`)

/** `id` is the id of the family, which is the id of its first token. */
export const familyLock = (id: Sql): Sql => sql`pg_advisory_xact_lock(hashtextextended('token family ' || ${id}, 0))`

/** Revokes all tokens of a family. Returns the user's id if any was not revoked yet. */
export async function revokeFamily(tx: Tx, familyId: number): Promise<number | undefined> {
  const revoked = await tx.rows(
    { user_id: integer },
    sql`update access_tokens set revoked = true where family_id = ${familyId} and not revoked returning user_id`,
  )
  await notify(tx, 'actors')
  return revoked[0]?.user_id
}

/** Locks a token until the transaction ends. */
export const lockToken = (tx: Tx, id: number): Promise<TokenRow | undefined> =>
  tx.row(tokenRow, sql`${select} where t.id = ${id} for update`)

/** Makes a token the first of its family, unless it has one. Returns the id of the family. */
export const foundFamily = async (tx: Tx, id: number): Promise<number> =>
  (await tx.row(
    { family_id: notNull(integer) },
    sql`update access_tokens set family_id = coalesce(family_id, id) where id = ${id} returning family_id`,
  ))!.family_id

/** The family of a revoked token; `undefined` if the token is not revoked, unknown, or was never rotated. */
export const findRevokedFamily = async (db: Db, digest: Buffer): Promise<number | undefined> =>
  (
    await db.row(
      { family_id: notNull(integer) },
      sql`select family_id from access_tokens where digest = ${digest} and revoked and family_id is not null`,
    )
  )?.family_id

/** A credential with its account: all data for authentication. */
export const credentialRow = {
  user_id: integer,
  username: text,
  name: text,
  email: text,
  commit_email: nullable(text),
  state: text,
  kind: text,
  admin: boolean,
  external: boolean,
  can_create_group: boolean,
  projects_limit: integer,
  /** For a bot, the user who created its token. */
  bot_creator_id: nullable(integer),
  /** A bot without a valid token: it acts no more, and a daily job closes its account. */
  ended: boolean,
  /** The address must be confirmed before the account can act. */
  unconfirmed: boolean,
}
export type CredentialRow = RowOf<typeof credentialRow>

export const accountColumns = sql`
  u.id as user_id, u.username, u.name, u.email, u.commit_email, u.state, u.kind, u.admin, u.external,
  u.can_create_group, u.projects_limit,
  case
    when u.kind = 'bot' then (select min(m.created_by_id) from members m where m.user_id = u.id)
  end as bot_creator_id,
  u.kind = 'bot'
  and not exists (select from access_tokens t where t.user_id = u.id and ${usable}) as ended, u.confirmed_at is null
  and ${settingFlag('send_user_confirmation_email')} as unconfirmed
`

const shownTokenRow = {
  token_id: integer,
  token_kind: tokenKind,
  scopes: scopeList,
  revoked: boolean,
  expired: boolean,
  /** The last use was updated within ten minutes. */
  noted: boolean,
  limits: nullable(json<{ projects: number[]; groups: number[] }>()),
}
export const tokenCredentialRow = { ...credentialRow, ...shownTokenRow }
export type TokenCredentialRow = RowOf<typeof tokenCredentialRow>

const credentialColumns = sql`
  t.id as token_id, t.kind as token_kind, t.scopes, t.revoked, coalesce(t.expires_at <= current_date, false)
  or coalesce(t.ends_at <= now(), false) as expired,
  coalesce(t.last_used_at > now() - interval '10 minutes', false) as noted, ${limitsAs('projects', 'groups')} as limits
`

export const findTokenCredential = (db: Db, digest: Buffer): Promise<TokenCredentialRow | undefined> =>
  db.row(
    tokenCredentialRow,
    byKey(sql`
      select ${accountColumns}, ${credentialColumns}
      from access_tokens t join users u on u.id = t.user_id
      where t.digest = ${digest}
    `),
  )

/**
 * Identifies the password of the user `u`, without revealing it or its digest; null while it is not accepted for git, large files and
 * images. Its digest has a salt of its own, so that the same password set again has another version.
 */
const passwordVersion = sql`
  case
    when ${settingFlag('password_authentication_enabled_for_git')}
      and not exists (select from two_factors f where f.user_id = u.id and f.confirmed_at is not null) then left(
        encode(sha256(convert_to(u.password_digest, 'UTF8')), 'hex'), 32
      )
  end
`

const derivedCredentialRow = {
  ...credentialRow,
  password_version: nullable(text),
  ...allNullable(shownTokenRow),
}

/** The account with its password and, if it is theirs, the token, as they are now. */
export const findDerivedCredential = (
  db: Db,
  userId: number,
  tokenId: number | undefined,
): Promise<RowOf<typeof derivedCredentialRow> | undefined> =>
  db.row(
    derivedCredentialRow,
    byKey(sql`
      select ${accountColumns}, ${passwordVersion} as password_version, ${credentialColumns}
      from users u left join access_tokens t on t.user_id = u.id and t.id = ${tokenId ?? null}::bigint
      where u.id = ${userId}
    `),
  )

export const passwordCredentialRow = {
  ...credentialRow,
  password_digest: nullable(text),
  password_version: nullable(text),
  password_expired: boolean,
}
export type PasswordCredentialRow = RowOf<typeof passwordCredentialRow>

/** By user name or e-mail address, ignoring case. */
export const findPasswordCredential = (db: Db, login: string): Promise<PasswordCredentialRow | undefined> =>
  db.row(
    passwordCredentialRow,
    sql`
      select ${accountColumns}, u.password_digest, ${passwordVersion} as password_version,
        coalesce(u.password_expires_at <= now(), false) as password_expired
      from users u
      where lower(u.username) = lower(${login}) or lower(u.email) = lower(${login})
      order by lower(u.username) = lower(${login}) desc
      limit 1
    `,
  )

/** The account for sudo: an id (digits only) or a user name. */
export const findAccount = (db: Db, idOrUsername: string): Promise<CredentialRow | undefined> =>
  db.row(
    credentialRow,
    /^\d{1,15}$/.test(idOrUsername)
      ? sql`select ${accountColumns} from users u where u.id = ${Number(idOrUsername)}`
      : sql`select ${accountColumns} from users u where lower(u.username) = lower(${idOrUsername})`,
  )

export const findAccounts = (db: Db, ids: readonly number[]): Promise<CredentialRow[]> =>
  db.rows(credentialRow, sql`select ${accountColumns} from users u where u.id = any(${ids}::bigint[])`)

/**
 * Updates the last use of a credential and its user's day of activity, at most once in ten minutes for each credential. A locked row is left as it
 * is: its change may take long. Two statements, because changes of a user lock the user before the credentials.
 */
export async function touchCredential(db: Db, table: 'access_tokens' | 'ssh_keys', id: number): Promise<void> {
  const used = await db.row(
    { user_id: nullable(integer) },
    sql`
      update ${raw(table)} c
      set last_used_at = now()
      from (
        select id
        from ${raw(table)}
        where id = ${id}
          and (last_used_at is null or ${isLongAgo(raw('last_used_at'), raw(`interval '10 minutes'`))})
        for no key update skip locked
      ) unused
      where c.id = unused.id
      returning c.user_id
    `,
  )
  if (used?.user_id) await touchAccount(db, used.user_id)
}

export type TokenFilters = {
  user_id?: number
  state?: 'active' | 'inactive'
  revoked?: boolean
  search?: string
  created_before?: Date
  created_after?: Date
  last_used_before?: Date
  last_used_after?: Date
}

const filtered = (filters: TokenFilters): Sql[] => [
  ...(filters.user_id === undefined ? [] : [sql`t.user_id = ${filters.user_id}`]),
  ...(filters.state === undefined ? [] : [sql`${usable} = ${filters.state === 'active'}`]),
  ...(filters.revoked === undefined ? [] : [sql`t.revoked = ${filters.revoked}`]),
  ...(filters.search ? [sql`t.name ilike ${containing(filters.search)}`] : []),
  ...(filters.created_before ? [sql`t.created_at < ${filters.created_before}`] : []),
  ...(filters.created_after ? [sql`t.created_at > ${filters.created_after}`] : []),
  ...(filters.last_used_before ? [sql`t.last_used_at < ${filters.last_used_before}`] : []),
  ...(filters.last_used_after ? [sql`t.last_used_at > ${filters.last_used_after}`] : []),
]

const list = (where: readonly Sql[], filters: TokenFilters): List => ({
  type: 'PersonalAccessToken',
  select,
  from: sql`from access_tokens t`,
  key: raw('t.id'),
  where: [...where, ...filtered(filters)],
  order: [{ by: raw('t.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
  byClock: filters.state !== undefined,
})

/** Personal tokens of the caller; of all users for administrators. */
export const tokenList = (actor: Actor, filters: TokenFilters): List =>
  list([raw(`t.kind = 'personal'`), ...(actor.admin ? [] : [sql`t.user_id = ${actor.id}`])], filters)

export const impersonationTokenList = (userId: number, state: TokenFilters['state']): List =>
  list([raw(`t.kind = 'impersonation'`)], { user_id: userId, ...(state && { state }) })

export const findImpersonationToken = (db: Db, userId: number, id: number): Promise<TokenRow | undefined> =>
  db.row(tokenRow, sql`${select} where t.id = ${id} and t.user_id = ${userId} and t.kind = 'impersonation'`)

/** A personal token that the caller may manage: their own, or any for administrators. */
export const findManagedToken = (db: Db, actor: Actor, id: number): Promise<TokenRow | undefined> =>
  db.row(
    tokenRow,
    sql`${select} where t.id = ${id} and t.kind = 'personal' and (${actor.admin} or t.user_id = ${actor.id})`,
  )

export const getToken = (db: Db, id: number): Promise<TokenRow | undefined> =>
  db.row(tokenRow, sql`${select} where t.id = ${id}`)
