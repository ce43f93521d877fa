import type { Caller } from '../../../access/actor.ts'
import type { Direction, List } from '../../../api/list.ts'
import { byKey, type Db, ofPage, type Tx } from '../../../db/db.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import {
  boolean,
  date,
  integer,
  json,
  nullable,
  oneOf,
  optional,
  type RowOf,
  text,
  timestamp,
} from '../../../db/row.ts'
import { empty, raw, type Sql, sql } from '../../../db/sql.ts'
import { placeholder, template } from '../../../db/template.ts'
import { hasCustomAttributes } from './attribute-queries.ts'

/** A user as shown in other records. */
export const userReferenceRow = {
  id: integer,
  username: text,
  name: text,
  email: text,
  state: oneOf('active', 'blocked', 'ldap_blocked', 'deactivated', 'banned'),
  avatar: nullable(text),
}
export type UserReferenceRow = RowOf<typeof userReferenceRow>

export const userRow = {
  ...userReferenceRow,
  kind: oneOf('human', 'ghost', 'bot'),
  admin: boolean,
  external: boolean,
  can_create_group: boolean,
  private_profile: boolean,
  projects_limit: integer,
  bio: nullable(text),
  location: nullable(text),
  public_email: text,
  /** The user's choice, see commit-email.ts. */
  commit_email: nullable(text),
  skype: text,
  linkedin: text,
  twitter: text,
  website_url: text,
  organization: nullable(text),
  job_title: text,
  theme_id: integer,
  color_scheme_id: integer,
  note: nullable(text),
  shared_runners_minutes_limit: nullable(integer),
  extra_shared_runners_minutes_limit: nullable(integer),
  created_at: timestamp,
  updated_at: timestamp,
  confirmed_at: nullable(timestamp),
  last_sign_in_at: nullable(timestamp),
  current_sign_in_at: nullable(timestamp),
  last_sign_in_ip: nullable(text),
  current_sign_in_ip: nullable(text),
  last_activity_on: nullable(date),
  two_factor_enabled: boolean,
  identities: json<{ provider: string; extern_uid: string; saml_provider_id: number | null }[]>(),
}
export type UserRow = RowOf<typeof userRow>

/** Columns of `UserReferenceRow`, of the users row with the alias `u`. */
export const userReferenceColumns = raw('u.id, u.username, u.name, u.email, u.state, u.avatar')

/** The columns of `UserReferenceRow` as one JSON value, for embedding in other records. */
export const userReferenceJson = (alias: string): Sql =>
  raw(
    `json_build_object('id', ${alias}.id, 'username', ${alias}.username, 'name', ${alias}.name, 'email', ${alias}.email, 'state', ${alias}.state, 'avatar', ${alias}.avatar)`,
  )

/** The same of the user whose id is in a column; null if that is null. */
export const userReferenceOf = (column: string): Sql =>
  sql`(select ${userReferenceJson('u')} from users u where u.id = ${raw(column)})`

const withTwoFactor = raw('exists (select from two_factors f where f.user_id = u.id and f.confirmed_at is not null)')

/** True for users `u` whose profiles the caller may see: SQL twin of `isPrivateTo`. */
export const openTo = (caller: Caller): Sql =>
  caller?.admin ? raw('true') : sql`(not u.private_profile or u.id = ${caller?.id ?? null})`

/** For administrators, who may ask for the attributes. */
export const listedUserRow = { ...userRow, custom_attributes: optional(json<CustomAttribute[]>()) }

const columns = sql`
  ${userReferenceColumns}, u.kind, u.admin, u.external, u.can_create_group, u.private_profile, u.projects_limit, u.bio,
  u.location, u.public_email, u.commit_email, u.skype, u.linkedin, u.twitter, u.website_url, u.organization,
  u.job_title, u.theme_id, u.color_scheme_id, u.note, u.shared_runners_minutes_limit,
  u.extra_shared_runners_minutes_limit, u.created_at, u.updated_at, u.confirmed_at, u.last_sign_in_at,
  u.current_sign_in_at, u.last_sign_in_ip, u.current_sign_in_ip, u.last_activity_on,
  ${withTwoFactor} as two_factor_enabled,
  coalesce(
    (
      select json_agg(
        json_build_object(
          'provider', i.provider, 'extern_uid', i.extern_uid, 'saml_provider_id', i.saml_provider_id
        )
        order by i.id
      )
      from identities i
      where i.user_id = u.id
    ),
    '[]'
  ) as identities
`

/** Version of an account. */
export const userStampRow = {
  id: integer,
  stamp: text,
}
export type UserStamp = RowOf<typeof userStampRow>

const stamp = raw(`concat_ws(' ', u.xmin, u.ctid) as stamp`)

/** These accounts as other records show them, unordered. */
export const findReferences = (db: Db, ids: readonly number[]): Promise<(UserReferenceRow & UserStamp)[]> =>
  db.rows(
    { ...userReferenceRow, ...userStampRow },
    ofPage(sql`select ${userReferenceColumns}, ${stamp} from users u where u.id = any(${ids}::bigint[])`),
  )

const anyId = placeholder<number>()
const oneUser = template(sql`select ${columns} from users u where u.id = ${anyId}`, anyId)

export const findUser = (db: Db, id: number): Promise<UserRow | undefined> =>
  db.snapshotCache.row(userRow, byKey(oneUser(id)))

export const findUserByName = (db: Db, username: string): Promise<UserRow | undefined> =>
  db.row(userRow, sql`select ${columns} from users u where lower(u.username) = lower(${username})`)

export type UserFilters = {
  search?: string
  username?: string
  active?: boolean
  blocked?: boolean
  external?: boolean
  extern_uid?: string
  provider?: string
  created_before?: Date
  created_after?: Date
  /** The caller, if private profiles are hidden from them; null for anonymous callers. */
  viewer?: Caller
  two_factor?: 'enabled' | 'disabled'
  custom_attributes?: Record<string, string>
  order_by?: 'id' | 'name' | 'username' | 'created_at' | 'updated_at'
  sort?: Direction
}

const orderColumns = {
  id: raw('u.id'),
  name: raw('u.name'),
  username: raw('u.username'),
  created_at: raw('u.created_at'),
  updated_at: raw('u.updated_at'),
}

/** Best match first: exact name, exact user name, exact e-mail address, then the rest by name. */
const byMatch = (text: string): Sql => sql`
  case
    when lower(u.name) = lower(${text}) then 0
    when lower(u.username) = lower(${text}) then 1
    when lower(u.email) = lower(${text}) then 2
    else 3
  end
`

/** Array of the id, if any, of the user who confirmed this secondary address. */
const ownersOfFurther = (address: string): Sql => sql`
  array(
    select e.user_id
    from email_addresses a join emails e on e.user_id = a.user_id and lower(e.email) = a.address
    where a.address = lower(${address}) and e.confirmed_at is not null
  )
`

const attributesColumn = raw(
  `, coalesce((select json_agg(json_build_object('key', a.key, 'value', a.value) order by a.id) from custom_attributes a where a.user_id = u.id), '[]') as custom_attributes`,
)

export const customAttributeRow = {
  key: text,
  value: text,
}
export type CustomAttribute = RowOf<typeof customAttributeRow>

export const customAttributesOf = (db: Db, userId: number): Promise<CustomAttribute[]> =>
  db.rows(customAttributeRow, sql`select key, value from custom_attributes where user_id = ${userId} order by id`)

/**
 * Lists users. The caller of this function drops filters that only administrators may use. Default order: best match
 * first for a search, otherwise newest first.
 */
export function listUsers(filters: UserFilters, options: { customAttributes?: boolean } | 'stamps' = {}): List {
  const { search, username, extern_uid, provider, order_by, sort } = filters
  // Bots of tokens are not users.
  const where: Sql[] = [raw(`u.kind <> 'bot'`)]
  if (username !== undefined) where.push(sql`lower(u.username) = lower(${username})`)
  if (search !== undefined)
    where.push(
      search.trim() === ''
        ? raw('false')
        : sql`
          (
            ${fuzzy(search, ['u.name', 'u.username'])}
            or lower(u.email) = lower(${search.trim()})
            or u.id = any(${ownersOfFurther(search.trim())})
          )
        `,
    )
  if (filters.active) where.push(raw(`u.state = 'active' and u.kind <> 'ghost'`))
  if (filters.blocked) where.push(raw(`u.state in ('blocked', 'ldap_blocked')`))
  if (filters.external) where.push(raw('u.external'))
  if (filters.two_factor) where.push(sql`${withTwoFactor} = ${filters.two_factor === 'enabled'}`)
  if (filters.created_before) where.push(sql`u.created_at < ${filters.created_before}`)
  if (filters.created_after) where.push(sql`u.created_at > ${filters.created_after}`)
  // Filters must not reveal what the record hides.
  if (filters.viewer !== undefined && (filters.created_before || filters.created_after))
    where.push(openTo(filters.viewer))
  if (extern_uid !== undefined && provider !== undefined)
    where.push(
      sql`
        exists (
          select
          from identities i
          where i.user_id = u.id and i.provider = ${provider} and lower(i.extern_uid) = lower(${extern_uid})
        )
      `,
    )
  if (filters.custom_attributes)
    where.push(hasCustomAttributes(raw('a.user_id'), raw('u.id'), filters.custom_attributes))
  const byId = order_by === 'id' || (order_by === undefined && search === undefined)
  const direction = sort ?? 'desc'
  return {
    type: 'User',
    select:
      options === 'stamps'
        ? sql`select u.id, ${stamp} from users u`
        : sql`select ${columns}${options.customAttributes ? attributesColumn : empty} from users u`,
    from: sql`from users u`,
    key: raw('u.id'),
    where,
    order: byId
      ? [{ by: raw('u.id'), direction }]
      : order_by === undefined
        ? [
            { by: byMatch(search!.trim()), direction: 'asc' },
            { by: raw('u.name'), direction: 'asc' },
            { by: raw('u.id'), direction: 'desc' },
          ]
        : [
            { by: orderColumns[order_by], direction },
            { by: raw('u.id'), direction: 'desc' },
          ],
    keyset: byId ? { direction } : undefined,
  }
}

export type NewUser = {
  username: string
  name: string
  email: string
  /** Null for accounts that never sign in. */
  passwordDigest: string | null
  admin: boolean
  external: boolean
  can_create_group: boolean
  projects_limit: number
  private_profile: boolean
  confirmed: boolean
  bio: string | null
  location: string | null
  public_email: string
  skype: string
  linkedin: string
  twitter: string
  website_url: string
  organization: string | null
  job_title: string
  note: string | null
  theme_id: number
  color_scheme_id: number
  shared_runners_minutes_limit: number | null
  extra_shared_runners_minutes_limit: number | null
}

export const insertUser = async (tx: Tx, user: NewUser): Promise<number> =>
  (await tx.row(
    { id: integer },
    sql`
      insert into users (
        username, name, email, password_digest, admin, external, can_create_group, projects_limit,
        private_profile, confirmed_at, bio, location, public_email, skype, linkedin, twitter, website_url,
        organization, job_title, note, theme_id, color_scheme_id, shared_runners_minutes_limit,
        extra_shared_runners_minutes_limit
      )
      values (
        ${user.username}, ${user.name}, ${user.email}, ${user.passwordDigest}, ${user.admin}, ${user.external},
        ${user.can_create_group}, ${user.projects_limit}, ${user.private_profile},
        case when ${user.confirmed} then now() end, ${user.bio}, ${user.location}, ${user.public_email},
        ${user.skype}, ${user.linkedin}, ${user.twitter}, ${user.website_url}, ${user.organization},
        ${user.job_title}, ${user.note}, ${user.theme_id}, ${user.color_scheme_id},
        ${user.shared_runners_minutes_limit}, ${user.extra_shared_runners_minutes_limit}
      )
      returning id
    `,
  ))!.id

export const insertIdentity = (tx: Tx, userId: number, provider: string, externUid: string): Promise<number> =>
  tx.run(sql`insert into identities (user_id, provider, extern_uid) values (${userId}, ${provider}, ${externUid})`)

/** The user's highest level in any group or project; 0 without membership. */
export const highestRole = async (db: Db, userId: number): Promise<number> =>
  (await db.row(
    { level: integer },
    sql`
      select greatest(
        coalesce(
          (
            select max(a.level)
            from group_access a join namespaces n on n.id = a.group_id and n.kind = 'group'
            where a.user_id = ${userId} and a.expires_on > current_date
          ),
          0
        ),
        coalesce(
          (select max(level) from project_access where user_id = ${userId} and expires_on > current_date), 0
        )
      ) as level
    `,
  ))!.level

/** Whether any account exists. Serialises the creation of the first account until the transaction ends. */
export async function anyUser(tx: Tx): Promise<boolean> {
  await tx.run(sql`lock table users in share row exclusive mode`)
  return tx.exists(sql`select 1 from users limit 1`)
}
