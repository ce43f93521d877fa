import type { Actor, Caller } from '../../access/actor.ts'
import { levels, visibilities } from '../../access/levels.ts'
import type { Db, Tx } from '../../db/db.ts'
import { empty, raw, type Sql, sql } from '../../db/sql.ts'
import type { DateOnly, Timestamp } from '../../db/types.ts'
import { forCaller } from '../access-index/caller-queries.ts'
import { groupLevel, groupWithinLimits, within } from '../access-index/queries.ts'
import type { ProjectStatistics } from '../projects/record-queries.ts'

export type GroupShareRow = {
  group_id: number
  group_name: string
  group_full_path: string
  group_access_level: number
  expires_at: DateOnly | null
}

/** What records of groups show. */
export type GroupRecordRow = {
  id: number
  parent_id: number | null
  traversal_ids: number[]
  name: string
  path: string
  full_path: string
  full_name: string
  description: string
  visibility: number
  avatar: string | null
  share_with_group_lock: boolean
  membership_lock: boolean
  require_two_factor_authentication: boolean
  two_factor_grace_period: number
  project_creation_level: 'noone' | 'maintainer' | 'developer'
  subgroup_creation_level: 'owner' | 'maintainer'
  auto_devops_enabled: boolean | null
  emails_disabled: boolean | null
  mentions_disabled: boolean | null
  lfs_enabled: boolean | null
  request_access_enabled: boolean
  file_template_project_id: number | null
  shared_runners_minutes_limit: number | null
  extra_shared_runners_minutes_limit: number | null
  runners_token: string
  created_at: Timestamp
  updated_at: Timestamp
  marked_for_deletion_on: DateOnly | null
  /** Only when asked for. */
  statistics?: Omit<ProjectStatistics, 'commit_count'>
  custom_attributes?: { key: string; value: string }[]
}

/** A group with what rules on it ask. */
export type GroupRow = GroupRecordRow & {
  /** The caller's; null without any. */
  level: number | null
  reads_project_inside: boolean
  /** Only with a token that is limited. */
  within_limits?: boolean
  /** The groups it is shared with, in the order of that; of a group that was looked for by itself. */
  shared_with_groups?: readonly GroupShareRow[]
}

const columns = raw(
  'g.id, g.parent_id, g.traversal_ids, g.name, g.path, g.full_path, g.full_name, g.description, g.visibility, g.avatar, g.share_with_group_lock, g.membership_lock, g.require_two_factor_authentication, g.two_factor_grace_period, g.project_creation_level, g.subgroup_creation_level, g.auto_devops_enabled, g.emails_disabled, g.mentions_disabled, g.lfs_enabled, g.request_access_enabled, g.file_template_project_id, g.shared_runners_minutes_limit, g.extra_shared_runners_minutes_limit, g.runners_token, g.created_at, g.updated_at, g.marked_for_deletion_on',
)

/** Groups around projects that a membership lets the caller into, be it of the project or of a group between. */
export const aroundHisProjects = (userId: number): Sql => sql`g.id in (
  select unnest(n.traversal_ids) from project_access a join projects p on p.id = a.project_id and not p.deleting
    join namespaces n on n.id = p.namespace_id where a.user_id = ${userId} and a.expires_on > current_date
  union
  select unnest(n.traversal_ids) from group_access a join namespaces n on n.id = a.group_id
    where a.user_id = ${userId} and a.expires_on > current_date
    and exists (select from projects p where p.namespace_id = n.id and not p.deleting))`

/** Rules never ask for an administrator's. */
const callerColumns = (caller: Caller): Sql =>
  caller === null || caller.admin
    ? raw('null::smallint as level, false as reads_project_inside')
    : sql`his.level, case when his.level is null then ${aroundHisProjects(caller.id)} else false end as reads_project_inside${caller.limits ? sql`, ${groupWithinLimits(caller, raw('g.id'))} as within_limits` : empty}`

/** Whether a project inside lets him in matters only without a level, and costs more than all else together. */
const tables = (caller: Caller): Sql =>
  caller === null || caller.admin
    ? raw('from namespaces g')
    : sql`from namespaces g cross join lateral (select ${groupLevel(caller.id, raw('g.id'))} as level) as his`

const statisticsColumn = sql`, (select json_build_object(
    'repository_size', coalesce(sum(s.repository_size), 0), 'wiki_size', coalesce(sum(s.wiki_size), 0),
    'lfs_objects_size', coalesce(sum(s.lfs_objects_size), 0), 'job_artifacts_size', coalesce(sum(s.job_artifacts_size), 0),
    'packages_size', coalesce(sum(s.packages_size), 0))
  from namespaces d join projects p on p.namespace_id = d.id join project_statistics s on s.project_id = p.id
  where ${within(raw('d.traversal_ids'), raw('g.traversal_ids'))}) as statistics`

const attributesColumn = raw(
  `, coalesce((select json_agg(json_build_object('key', a.key, 'value', a.value) order by a.id) from custom_attributes a where a.namespace_id = g.id), '[]') as custom_attributes`,
)

const sharesColumn =
  raw(`, coalesce((select json_agg(json_build_object('group_id', s.id, 'group_name', s.name, 'group_full_path', s.full_path,
    'group_access_level', l.group_access, 'expires_at', l.expires_at) order by l.id)
  from group_group_links l join namespaces s on s.id = l.shared_with_group_id
  where l.shared_group_id = g.id and not s.deleting and (l.expires_at is null or l.expires_at > current_date)), '[]') as shared_with_groups`)

export type GroupOptions = { statistics?: boolean; customAttributes?: boolean }

/** Columns of GroupRecordRow, of the namespace named `g`. */
export const recordColumns = (options: GroupOptions): Sql =>
  sql`${columns}${options.statistics ? statisticsColumn : empty}${options.customAttributes ? attributesColumn : empty}`

/** `select … from namespaces g …` for GroupRow. */
const select = (caller: Caller, options: GroupOptions = {}): Sql =>
  sql`select ${recordColumns(options)}, ${callerColumns(caller)}${sharesColumn} ${tables(caller)}`

/** By number or, in any case, full path. Groups that are being removed are not found. One statement. */
export const findGroup = (
  db: Db,
  caller: Caller,
  idOrPath: number | string,
  options: GroupOptions = {},
): Promise<GroupRow | undefined> =>
  db.kept.row<GroupRow>(
    options.statistics || options.customAttributes
      ? named(select(caller, options), typeof idOrPath === 'number' ? { number: idOrPath } : { path: idOrPath })
      : found(caller, idOrPath),
  )

const named = (selected: Sql, name: { number: number } | { path: string }): Sql =>
  'number' in name
    ? sql`${selected} where g.id = ${name.number} and g.kind = 'group' and not g.deleting`
    : sql`${selected} join routes r on r.namespace_id = g.id where r.path_key = lower(${name.path}) and g.kind = 'group' and not g.deleting`

const found = forCaller((caller, name) => named(select(caller), name))

/** Groups the caller may know about: SQL twin of `groupPolicy.read_group`. */
export function visibleGroups(caller: Caller): Sql {
  if (caller === null) return sql`g.visibility = ${visibilities.public}`
  if (caller.admin) return raw('true')
  const visible = sql`(${openGroups(caller)} or ${hisGroups(caller.id, levels.guest)} or ${aroundHisProjects(caller.id)})`
  return caller.limits ? sql`(${visible} and ${groupWithinLimits(caller, raw('g.id'))})` : visible
}

export const openGroups = ({ admin, external }: Actor): Sql =>
  admin ? raw('true') : sql`g.visibility >= ${external ? visibilities.public : visibilities.internal}`

export const hisGroups = (userId: number, level: number): Sql =>
  sql`g.id in (select group_id from group_access where user_id = ${userId} and level >= ${level} and expires_on > current_date)`

/** Locks the group against other edits until the transaction ends. */
export const lockGroup = (tx: Tx, id: number): Promise<GroupRow | undefined> =>
  tx.row<GroupRow>(sql`select ${columns}, null as level, false as reads_project_inside from namespaces g
    where g.id = ${id} and g.kind = 'group' and not g.deleting for update`)
