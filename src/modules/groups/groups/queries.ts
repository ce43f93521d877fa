import type { Caller } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
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
import { empty, literal, raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import type { DateOnly } from '../../../db/types.ts'
import {
  forCaller,
  groupLevel,
  groupsAroundProjectsOfMember,
  groupWithinLimits,
  visibleGroups,
  within,
} from '../../namespaces/index.ts'
import type { ProjectStatistics } from '../../projects/index.ts'

export type GroupShareRow = {
  group_id: number
  group_name: string
  group_full_path: string
  group_access_level: number
  expires_at: DateOnly | null
}

/** Columns that a group has as its owners set them. */
export const groupSettings = {
  share_with_group_lock: boolean,
  membership_lock: boolean,
  require_two_factor_authentication: boolean,
  two_factor_grace_period: integer,
  project_creation_level: oneOf('noone', 'maintainer', 'developer'),
  subgroup_creation_level: oneOf('owner', 'maintainer'),
  auto_devops_enabled: nullable(boolean),
  emails_disabled: nullable(boolean),
  mentions_disabled: nullable(boolean),
  lfs_enabled: nullable(boolean),
  request_access_enabled: boolean,
}

/** Columns of group records. */
export const groupRecordRow = {
  id: integer,
  parent_id: nullable(integer),
  traversal_ids: listOf(integer),
  name: text,
  path: text,
  full_path: text,
  full_name: text,
  description: text,
  visibility: integer,
  avatar: nullable(text),
  ...groupSettings,
  file_template_project_id: nullable(integer),
  shared_runners_minutes_limit: nullable(integer),
  extra_shared_runners_minutes_limit: nullable(integer),
  runners_token: text,
  created_at: timestamp,
  updated_at: timestamp,
  marked_for_deletion_on: nullable(date),
  /** Only when requested. */
  statistics: optional(json<Omit<ProjectStatistics, 'commit_count'>>()),
  custom_attributes: optional(json<{ key: string; value: string }[]>()),
}
export type GroupRecordRow = RowOf<typeof groupRecordRow>

/** A group with the columns that permissions need. */
export const groupRow = {
  ...groupRecordRow,
  /** The caller's; null without membership. */
  level: nullable(integer),
  reads_project_inside: boolean,
  /** An archive is being imported into it. */
  importing: optional(boolean),
  /** For limited tokens only. */
  within_limits: optional(boolean),
  /** Groups it is shared with that the caller can see, oldest share first; loaded for a single group only. */
  shared_with_groups: optional(json<readonly GroupShareRow[]>()),
}
export type GroupRow = RowOf<typeof groupRow>

const columns = raw(
  'g.id, g.parent_id, g.traversal_ids, g.name, g.path, g.full_path, g.full_name, g.description, g.visibility, g.avatar, g.share_with_group_lock, g.membership_lock, g.require_two_factor_authentication, g.two_factor_grace_period, g.project_creation_level, g.subgroup_creation_level, g.auto_devops_enabled, g.emails_disabled, g.mentions_disabled, g.lfs_enabled, g.request_access_enabled, g.file_template_project_id, g.shared_runners_minutes_limit, g.extra_shared_runners_minutes_limit, g.runners_token, g.created_at, g.updated_at, g.marked_for_deletion_on',
)

/** Permissions do not use an administrator's level. */
const callerColumns = (caller: Caller): Sql =>
  caller === null || caller.admin
    ? raw('null::smallint as level, false as reads_project_inside')
    : sql`
      caller_access.level,
      case
        when caller_access.level is null then ${groupsAroundProjectsOfMember(caller.id)}
        else false
      end as reads_project_inside${caller.limits ? sql`, ${groupWithinLimits(caller, raw('g.id'))} as within_limits` : empty}
    `

/** The check of projects inside is needed only without a level, and costs more than all other columns together. */
const tables = (caller: Caller): Sql =>
  caller === null || caller.admin
    ? raw('from namespaces g')
    : sql`from namespaces g cross join lateral (select ${groupLevel(caller.id, raw('g.id'))} as level) as caller_access`

const statisticsColumn = sql`
  ,
  (
    select json_build_object(
      'repository_size', coalesce(sum(s.repository_size), 0), 'wiki_size',
      coalesce(sum(s.wiki_size), 0) + (
        select coalesce(sum(w.size), 0)
        from namespaces d join side_repositories w on w.group_id = d.id
        where ${within(raw('d.traversal_ids'), raw('g.traversal_ids'))}
      ),
      'snippets_size', coalesce(sum(s.snippets_size), 0), 'lfs_objects_size',
      coalesce(sum(s.lfs_objects_size), 0), 'job_artifacts_size', coalesce(sum(s.job_artifacts_size), 0),
      'packages_size', coalesce(sum(s.packages_size), 0)
    )
    from namespaces d join projects p on p.namespace_id = d.id join project_statistics s on s.project_id = p.id
    where ${within(raw('d.traversal_ids'), raw('g.traversal_ids'))}
  ) as statistics
`

const attributesColumn = raw(
  `, coalesce((select json_agg(json_build_object('key', a.key, 'value', a.value) order by a.id) from custom_attributes a where a.namespace_id = g.id), '[]') as custom_attributes`,
)

/** Owners see all shares, because they manage them; others see those with groups they can see. */
const sharesColumn = (caller: Caller): Sql => {
  const seen =
    caller === null || caller.admin
      ? visibleGroups(caller)
      : sql`(caller_access.level >= ${literal(levels.owner)} or ${visibleGroups(caller)})`
  // The alias `g` is the other group in here, so that the SQL twin of read_group applies to it.
  return sql`
    ,
    coalesce(
      (
        select json_agg(
          json_build_object(
            'group_id', g.id, 'group_name', g.name, 'group_full_path', g.full_path, 'group_access_level',
            l.group_access, 'expires_at', l.expires_at
          )
          order by l.id
        )
        from (select g.id as shared_group_id) as shared
          join group_group_links l using (shared_group_id)
          join namespaces g on g.id = l.shared_with_group_id
        where not g.deleting and ${unexpired('l')} and ${seen}
      ),
      '[]'
    ) as shared_with_groups
  `
}

export type GroupOptions = { statistics?: boolean; customAttributes?: boolean }

/** Columns of GroupRecordRow, of the namespace with the alias `g`. */
export const recordColumns = (options: GroupOptions): Sql =>
  sql`${columns}${options.statistics ? statisticsColumn : empty}${options.customAttributes ? attributesColumn : empty}`

const importingColumn = raw(', exists (select from archive_imports i where i.namespace_id = g.id) as importing')

/** `select … from namespaces g …` for GroupRow. */
const select = (caller: Caller, options: GroupOptions = {}): Sql =>
  sql`
    select ${recordColumns(options)},
      ${callerColumns(caller)}${sharesColumn(caller)}${importingColumn} ${tables(caller)}
  `

/** By id or, ignoring case, full path. Excludes groups that are being deleted. One statement. */
export const findGroup = (
  db: Db,
  caller: Caller,
  idOrPath: number | string,
  options: GroupOptions = {},
): Promise<GroupRow | undefined> =>
  db.snapshotCache.row(
    groupRow,
    byKey(
      options.statistics || options.customAttributes
        ? named(select(caller, options), typeof idOrPath === 'number' ? { number: idOrPath } : { path: idOrPath })
        : found(caller, idOrPath),
    ),
  )

const named = (selected: Sql, name: { number: number } | { path: string }): Sql =>
  'number' in name
    ? sql`${selected} where g.id = ${name.number} and g.kind = 'group' and not g.deleting`
    : sql`
      ${selected}
      join routes r on r.namespace_id = g.id
      where r.path_key = lower(${name.path}) and g.kind = 'group' and not g.deleting
    `

const found = forCaller((caller, name) => named(select(caller), name))

const held = (id: number): Sql => sql`
  select ${columns}, null::smallint as level, false as reads_project_inside${importingColumn}
  from namespaces g
  where g.id = ${id} and g.kind = 'group' and not g.deleting
`

/** Locks the group against concurrent edits until the transaction ends. What is added to it meanwhile does not wait. */
export const lockGroup = (tx: Tx, id: number): Promise<GroupRow | undefined> =>
  tx.row(groupRow, sql`${held(id)} for no key update`)

/** As `lockGroup`, for a transfer: it waits for those that keep its place (`holdPlace`). */
export const lockGroupPlace = (tx: Tx, id: number): Promise<GroupRow | undefined> =>
  tx.row(groupRow, sql`${held(id)} for update`)
