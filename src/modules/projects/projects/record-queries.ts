import type { Actor, Caller } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import { byKey, type Db, ofPage } from '../../../db/db.ts'
import {
  boolean,
  date,
  integer,
  json,
  listOf,
  nullable,
  oneOf,
  optional,
  type RowOf,
  text,
  timestamp,
} from '../../../db/row.ts'
import { empty, literal, raw, type Sql, sql, unexpired, wireTime } from '../../../db/sql.ts'
import type { DateOnly, Timestamp } from '../../../db/types.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { forCaller, visibleGroups } from '../../namespaces/index.ts'
import {
  columns,
  levelOf,
  limitsColumn,
  named,
  type ProjectRow,
  projectRow,
  readableCode,
  visibleProject,
  withinLimits,
} from './queries.ts'
import type { StoredSettings } from './settings.ts'

/**
 * Version of a project's record for the caller. `stamp` changes with every row that the record shows, and with the
 * caller's level and memberships; row versions are identified by transaction and place. Shares change the version of
 * the project's row (0024_shares_endings_and_commit_addresses.sql). Which shares the caller can see is loaded
 * separately, for shared projects only (`completeStamps`); their stamps are marked.
 */
export const projectStampRow = { id: integer, stamp: text, seen_shares: optional(nullable(text)) }
export type ProjectStamp = RowOf<typeof projectStampRow>

type Membership = { access_level: number; notification_level: number }

/** All columns of the full record. */
export const projectRecordRow = {
  ...projectRow,
  /** See ProjectStamp. */
  stamp: text,
  seen_shares: nullable(text),
  description: nullable(text),
  creator_id: nullable(integer),
  topics: listOf(text),
  avatar: nullable(text),
  star_count: integer,
  forks_count: integer,
  /** Open issues, and those of them that are confidential. */
  open_issues: integer,
  open_confidential_issues: integer,
  import_error: nullable(text),
  mirror: boolean,
  mirror_user_id: nullable(integer),
  runners_token: text,
  settings: json<StoredSettings>(),
  readme_path: nullable(text),
  license_path: nullable(text),
  license_key: nullable(text),
  created_at: timestamp,
  last_activity_at: timestamp,
  marked_for_deletion_on: nullable(date),
  namespace_name: text,
  namespace_path: text,
  namespace_kind: oneOf('user', 'group'),
  namespace_full_path: text,
  namespace_full_name: text,
  namespace_parent_id: nullable(integer),
  namespace_avatar: nullable(text),
  /** Null inherits the setting of the installation. */
  namespace_lfs_enabled: nullable(boolean),
  owner: nullable(json<UserReferenceRow & { created_at: Timestamp }>()),
  has_repository: boolean,
  project_member: nullable(json<Membership>()),
  group_member: nullable(json<Membership>()),
  shared_with_groups:
    json<
      {
        group_id: number
        group_name: string
        group_full_path: string
        group_access_level: number
        expires_at: DateOnly | null
      }[]
    >(),
  forked_from: nullable(json<ForkSource>()),
  /** Only when requested. */
  statistics: optional(nullable(json<ProjectStatistics>())),
  custom_attributes: optional(json<{ key: string; value: string }[]>()),
}
export type ProjectRecordRow = RowOf<typeof projectRecordRow>

export type ForkSource = {
  id: number
  description: string | null
  name: string
  path: string
  full_path: string
  namespace_full_name: string
  default_branch: string | null
  topics: string[]
  created_at: Timestamp
  last_activity_at: Timestamp
  avatar: string | null
  star_count: number
  forks_count: number
  readme_path: string | null
  visibility: number
  /** Whether the caller may read its code. */
  readable: boolean
}

export type ProjectStatistics = {
  commit_count: number
  repository_size: number
  wiki_size: number
  snippets_size: number
  lfs_objects_size: number
  job_artifacts_size: number
  packages_size: number
  container_registry_size: number
}

export type RecordOptions = {
  statistics?: boolean
  customAttributes?: boolean
  /** The highest membership of the group and its ancestors, rather than that of the group itself. */
  inheritedMembership?: boolean
}

/**
 * `shown` of the caller's membership `m`: of the project, of its group, or with `inherited` the highest of the groups
 * above.
 */
const membership = (caller: Caller, of: 'project' | 'group', inherited: boolean | undefined, shown: Sql): Sql => {
  if (caller === null) return raw('null::json')
  const valid = sql`m.user_id = ${caller.id} and ${unexpired('m')}`
  if (of === 'project') return sql`(select ${shown} from members m where m.project_id = p.id and ${valid})`
  return sql`case when n.kind = 'group' then (select ${shown} from members m where ${
    inherited ? raw('m.namespace_id = any(n.traversal_ids)') : raw('m.namespace_id = n.id')
  } and ${valid} ${inherited ? raw('order by m.access_level desc limit 1') : empty}) end`
}

const versionOf = (alias: string): Sql => raw(`${alias}.xmin, ${alias}.ctid`)

const membershipVersion = raw(`m.access_level || '.' || m.notification_level`)
const membershipJson = raw(
  `json_build_object('access_level', m.access_level, 'notification_level', m.notification_level)`,
)

/**
 * The links `l` and groups `g` that a project is shared with. Maintainers, who manage shares, see all; others see those with groups
 * they can see.
 */
const sharesFrom = (caller: Caller, level: Sql): Sql => {
  const seen =
    caller === null || caller.admin
      ? visibleGroups(caller)
      : sql`(${level} >= ${literal(levels.maintainer)} or ${visibleGroups(caller)})`
  return sql`
    from project_group_links l join namespaces g on g.id = l.group_id
    where p.is_shared and l.project_id = p.id and ${unexpired('l')} and ${seen}
  `
}

const shareJson =
  raw(`coalesce(json_agg(json_build_object('group_id', g.id, 'group_name', g.name, 'group_full_path', g.full_path,
    'group_access_level', l.group_access, 'expires_at', l.expires_at) order by l.id), '[]')`)
const shareIds = raw(`coalesce(string_agg(l.id::text, ',' order by l.id), '')`)

/** Suffix of the stamps of shared projects. Without a user, records have no shares. */
const sharedMark = 'shared'
const seesShares = (caller: Caller): caller is Actor => caller !== null

/**
 * Adds the shares that the caller sees to the stamps: an administrator sees all, but they end without a new version of the project.
 * One statement, none if no project is shared.
 */
export async function completeStamps(db: Db, caller: Caller, stamps: readonly ProjectStamp[]): Promise<ProjectStamp[]> {
  const ids = stamps.filter(({ stamp }) => stamp.endsWith(` ${sharedMark}`)).map(({ id }) => id)
  if (ids.length === 0) return [...stamps]
  const rows = await db.snapshotCache.rows(
    { id: integer, seen_shares: nullable(text) },
    ofPage(sql`
      select p.id, (select ${shareIds} ${sharesFrom(caller, levelOf(caller))}) as seen_shares
      from projects p
      where p.id = any(${ids}::bigint[])
    `),
  )
  const seen = new Map(rows.map(({ id, seen_shares }) => [id, seen_shares]))
  return stamps.map((stamp) => ({ ...stamp, seen_shares: seen.get(stamp.id) ?? null }))
}

/** Administrators see the same record at any level. */
const stampOf = (caller: Caller, { inheritedMembership: inherited }: RecordOptions, level: Sql): Sql => sql`
  concat_ws(
    ' ', ${versionOf('p')}, ${versionOf('n')},
    case
      when n.kind = 'user' then (select concat_ws(' ', 'o', ${versionOf('u')}) from users u where u.id = n.owner_id)
    end,
    case
      when p.forked_from_project_id is not null then ${forkSource(caller, sql`concat_ws(' ', 'f', ${versionOf('p')}, ${versionOf('n')}, ${readableCode(caller)})`)}
    end,
    ${caller === null || caller.admin ? empty : sql`${level},`} ${caller?.limits ? sql`'l' || ${withinLimits(caller)},` : empty} 'p' || ${membership(caller, 'project', inherited, membershipVersion)},
    'g' || ${membership(caller, 'group', inherited, membershipVersion)},
    'i' || ic.opened || '.' || ic.confidential ${seesShares(caller) ? raw(`, case when p.is_shared then '${sharedMark}' end`) : empty}
  )
`

/** The tables of a stamp. */
const tables = raw(`
  from projects p join namespaces n on n.id = p.namespace_id left join issue_counts ic on ic.project_id = p.id
`)

/** The same with the level of the caller, which `offset 0` makes PostgreSQL look up once rather than for each use. */
const tablesFor = (caller: Caller): Sql =>
  sql`${tables} cross join lateral (select ${levelOf(caller)} as level offset 0) as own`

const ownLevel = raw('own.level')

/** `select … from projects p …` for ProjectStamp. */
export const stampSelect = (caller: Caller, options: RecordOptions): Sql =>
  sql`select p.id, ${stampOf(caller, options, levelOf(caller))} as stamp ${tables}`

/** `select … from projects p …` for full records. One statement for any number. */
export const recordSelect = (caller: Caller, options: RecordOptions): Sql => sql`
  select ${columns}, own.level${limitsColumn(caller)}, ${stampOf(caller, options, ownLevel)} as stamp,
    ${raw(seesShares(caller) ? 'case when p.is_shared then shares.ids end' : 'null')} as seen_shares,
    ${membership(caller, 'project', options.inheritedMembership, membershipJson)} as project_member,
    ${membership(caller, 'group', options.inheritedMembership, membershipJson)} as group_member, p.description,
    p.creator_id, p.topics, p.avatar, p.star_count, p.forks_count, coalesce(ic.opened, 0) as open_issues,
    coalesce(ic.confidential, 0) as open_confidential_issues, p.import_error, p.mirror, p.mirror_user_id,
    p.runners_token, p.settings, p.readme_path, p.license_path, p.license_key, p.created_at, p.last_activity_at,
    p.marked_for_deletion_on, n.name as namespace_name, n.path as namespace_path, n.kind as namespace_kind,
    n.full_path as namespace_full_path, n.full_name as namespace_full_name, n.parent_id as namespace_parent_id,
    n.avatar as namespace_avatar, n.lfs_enabled as namespace_lfs_enabled,
    case
      when n.kind = 'user' then (
        select (${userReferenceJson('u')})::jsonb || jsonb_build_object('created_at', ${wireTime(raw('u.created_at'))})
        from users u
        where u.id = n.owner_id
      )
    end as owner,
    p.default_branch is not null as has_repository, shares.groups as shared_with_groups,
    case
      when p.forked_from_project_id is not null then ${forkSource(caller, forkSourceJson(caller))}
    end as forked_from ${options.statistics ? raw(`, (select to_json(s) from project_statistics s where s.project_id = p.id) as statistics`) : empty} ${
      options.customAttributes
        ? raw(
            `, coalesce((select json_agg(json_build_object('key', a.key, 'value', a.value) order by a.id) from custom_attributes a where a.project_id = p.id), '[]') as custom_attributes`,
          )
        : empty
    } ${tablesFor(caller)}
    cross join lateral (select ${shareIds} as ids, ${shareJson} as groups ${sharesFrom(caller, ownLevel)}) as shares
`

const forkSourceJson = (caller: Caller): Sql => sql`
  json_build_object(
    'id', p.id, 'description', p.description, 'name', p.name, 'path', p.path, 'full_path', p.full_path,
    'namespace_full_name', n.full_name, 'default_branch', p.default_branch, 'topics', p.topics, 'created_at',
    ${wireTime(raw('p.created_at'))}, 'last_activity_at', ${wireTime(raw('p.last_activity_at'))}, 'avatar', p.avatar,
    'star_count', p.star_count, 'forks_count', p.forks_count, 'readme_path', p.readme_path, 'visibility', p.visibility,
    'readable', ${readableCode(caller)}
  )
`

/** Attributes of a fork's source, if the caller may see it. */
function forkSource(caller: Caller, shown: Sql): Sql {
  // The alias `p` is the source in here, so that the SQL twin of read_project applies to it.
  return sql`
    (
      select ${shown}
      from (select p.forked_from_project_id as source_id) as fork
        join projects p on p.id = fork.source_id
        join namespaces n on n.id = p.namespace_id
      where not p.deleting and ${visibleProject(caller)}
    )
  `
}

/** Columns for permissions, with the stamp of the record. One statement. */
export const findStampedProject = (
  db: Db,
  caller: Caller,
  idOrPath: number | string,
): Promise<(ProjectRow & ProjectStamp) | undefined> =>
  db.snapshotCache.row({ ...projectRow, ...projectStampRow }, byKey(stamped(caller, idOrPath)))

const stamped = forCaller((caller, name) => {
  const { join, condition } = named(name)
  return sql`
    select ${columns}, own.level,
      ${stampOf(caller, { inheritedMembership: true }, ownLevel)} as stamp${limitsColumn(caller)} ${tablesFor(caller)} ${join}
    where ${condition} and not p.deleting
  `
})

/** Full records of these projects, unordered. */
export const listProjectRecords = (
  db: Db,
  caller: Caller,
  ids: readonly number[],
  options: RecordOptions,
): Promise<ProjectRecordRow[]> =>
  db.rows(
    projectRecordRow,
    ofPage(sql`${recordSelect(caller, options)} where p.id = any(${ids}::bigint[]) and not p.deleting`),
  )

export function findProjectRecord(
  db: Db,
  caller: Caller,
  idOrPath: number | string,
  options: RecordOptions = {},
): Promise<ProjectRecordRow | undefined> {
  const { join, condition } = named(typeof idOrPath === 'number' ? { number: idOrPath } : { path: idOrPath })
  return db.row(
    projectRecordRow,
    byKey(sql`
      ${recordSelect(caller, { inheritedMembership: true, ...options })} ${join} where ${condition} and not p.deleting
    `),
  )
}
