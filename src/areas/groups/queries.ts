import type { Actor, Caller } from '../../access/actor.ts'
import { levels, visibilities } from '../../access/levels.ts'
import type { Direction, List } from '../../api/page.ts'
import type { Db, Tx } from '../../db/db.ts'
import { fuzzy } from '../../db/fuzzy.ts'
import { and, empty, raw, type Sql, sql } from '../../db/sql.ts'
import type { DateOnly, Timestamp } from '../../db/types.ts'
import { forCaller } from '../access-index/caller-queries.ts'
import { groupLevel, groupWithinLimits, within } from '../access-index/queries.ts'
import type { ProjectStatistics } from '../projects/record-queries.ts'

export type GroupRow = {
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
  /** The caller's; null without any. */
  level: number | null
  reads_project_inside: boolean
  /** Only with a token that is limited. */
  within_limits?: boolean
  /** The groups it is shared with, in the order of that; of a group that was looked for by itself. */
  shared_with_groups?: readonly GroupShareRow[]
  /** Only when asked for. */
  statistics?: Omit<ProjectStatistics, 'commit_count'>
  custom_attributes?: { key: string; value: string }[]
}

const columns = raw(
  'g.id, g.parent_id, g.traversal_ids, g.name, g.path, g.full_path, g.full_name, g.description, g.visibility, g.avatar, g.share_with_group_lock, g.membership_lock, g.require_two_factor_authentication, g.two_factor_grace_period, g.project_creation_level, g.subgroup_creation_level, g.auto_devops_enabled, g.emails_disabled, g.mentions_disabled, g.lfs_enabled, g.request_access_enabled, g.file_template_project_id, g.shared_runners_minutes_limit, g.extra_shared_runners_minutes_limit, g.runners_token, g.created_at, g.updated_at, g.marked_for_deletion_on',
)

/** Groups around projects that a membership lets the caller into, be it of the project or of a group between. */
const aroundHisProjects = (userId: number): Sql => sql`g.id in (
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
  where l.shared_group_id = g.id and not s.deleting), '[]') as shared_with_groups`)

export type GroupOptions = { statistics?: boolean; customAttributes?: boolean; shares?: boolean }

const select = (caller: Caller, options: GroupOptions): Sql =>
  sql`select ${columns}, ${callerColumns(caller)}${options.statistics ? statisticsColumn : empty}${options.customAttributes ? attributesColumn : empty}${options.shares ? sharesColumn : empty} ${tables(caller)}`

/** By number or, in any case, full path. Groups that are being removed are not found. One statement. */
export const findGroup = (
  db: Db,
  caller: Caller,
  idOrPath: number | string,
  options: GroupOptions = {},
): Promise<GroupRow | undefined> =>
  db.kept.row<GroupRow>(
    options.statistics || options.customAttributes
      ? named(
          select(caller, { ...options, shares: true }),
          typeof idOrPath === 'number' ? { number: idOrPath } : { path: idOrPath },
        )
      : found(caller, idOrPath),
  )

const named = (selected: Sql, name: { number: number } | { path: string }): Sql =>
  'number' in name
    ? sql`${selected} where g.id = ${name.number} and g.kind = 'group' and not g.deleting`
    : sql`${selected} join routes r on r.namespace_id = g.id where r.path_key = lower(${name.path}) and g.kind = 'group' and not g.deleting`

const found = forCaller((caller, name) => named(select(caller, { shares: true }), name))

/** Groups the caller may know about: SQL twin of `groupPolicy.read_group`. */
export function visibleGroups(caller: Caller): Sql {
  if (caller === null) return sql`g.visibility = ${visibilities.public}`
  if (caller.admin) return raw('true')
  const visible = sql`(${openGroups(caller)} or ${hisGroups(caller.id, levels.guest)} or ${aroundHisProjects(caller.id)})`
  return caller.limits ? sql`(${visible} and ${groupWithinLimits(caller, raw('g.id'))})` : visible
}

const openGroups = ({ admin, external }: Actor): Sql =>
  admin ? raw('true') : sql`g.visibility >= ${external ? visibilities.public : visibilities.internal}`

const hisGroups = (userId: number, level: number): Sql =>
  sql`g.id in (select group_id from group_access where user_id = ${userId} and level >= ${level} and expires_on > current_date)`

/** Groups he is a member of, those around his projects, and those above his groups as far as he may know about them. */
const authorisedGroups = (
  caller: Actor,
): Sql => sql`(${hisGroups(caller.id, levels.guest)} or ${aroundHisProjects(caller.id)}
  or (${openGroups(caller)} and g.id in (select unnest(n.traversal_ids) from group_access a join namespaces n on n.id = a.group_id
    where a.user_id = ${caller.id} and a.expires_on > current_date)))`

export type GroupFilters = {
  skip_groups?: number[]
  all_available?: boolean
  search?: string
  order_by: 'name' | 'path' | 'id'
  sort: Direction
  owned: boolean
  min_access_level?: number
  custom_attributes?: Record<string, string>
}

const orderColumns = { name: raw('g.name'), path: raw('g.path'), id: raw('g.id') }

/** Where a list of groups begins. */
export type GroupSet =
  | { of: 'everyone' }
  | { of: 'children'; id: number }
  | { of: 'descendants'; id: number; traversalIds: readonly number[] }

const setCondition = (set: GroupSet): Sql[] => {
  if (set.of === 'everyone') return []
  if (set.of === 'children') return [sql`g.parent_id = ${set.id}`]
  return [sql`g.id <> ${set.id}`, within(raw('g.traversal_ids'), sql`${set.traversalIds}::bigint[]`)]
}

/** Groups the caller can see. Ties by id, oldest first. */
export function listGroups(caller: Caller, set: GroupSet, filters: GroupFilters, options: GroupOptions): List {
  const where: Sql[] = [raw(`g.kind = 'group' and not g.deleting`), ...setCondition(set)]
  const available = filters.all_available ?? (caller === null || caller.admin)
  if (filters.owned) where.push(caller ? ownedBy(caller.id) : raw('false'))
  else if (filters.min_access_level !== undefined)
    where.push(caller ? hisGroups(caller.id, filters.min_access_level) : raw('false'))
  else where.push(available || !caller ? visibleGroups(caller) : authorisedGroups(caller))
  if (caller?.limits) where.push(groupWithinLimits(caller, raw('g.id')))
  if (filters.skip_groups && filters.skip_groups.length > 0)
    where.push(sql`g.id <> all(${filters.skip_groups}::bigint[])`)
  if (filters.search?.trim()) where.push(fuzzy(filters.search, ['g.name', 'g.path']))
  if (caller?.admin && filters.custom_attributes)
    where.push(
      and(
        Object.entries(filters.custom_attributes).map(
          ([key, value]) =>
            sql`exists (select from custom_attributes a where a.namespace_id = g.id and a.key = ${key} and a.value = ${value})`,
        ),
      ),
    )
  return {
    type: 'Group',
    select: select(caller, options),
    from: sql`from namespaces g`,
    key: raw('g.id'),
    where,
    order: [
      { by: orderColumns[filters.order_by], direction: filters.sort },
      ...(filters.order_by === 'id' ? [] : [{ by: raw('g.id'), direction: 'asc' as const }]),
    ],
    keyset: filters.order_by === 'id' ? { direction: filters.sort } : undefined,
  }
}

const ownedBy = (userId: number): Sql => sql`g.id in (
  select m.namespace_id from members m where m.user_id = ${userId} and m.access_level = ${levels.owner}
  and (m.expires_at is null or m.expires_at > current_date))`

/** Attributes of a group that create and edit set, as columns. */
export type GroupAttributes = {
  name: string
  description: string
  visibility: number
  share_with_group_lock: boolean
  membership_lock: boolean
  require_two_factor_authentication: boolean
  two_factor_grace_period: number
  project_creation_level: string
  subgroup_creation_level: string
  auto_devops_enabled: boolean | null
  emails_disabled: boolean | null
  mentions_disabled: boolean | null
  lfs_enabled: boolean | null
  request_access_enabled: boolean
  file_template_project_id: number | null
  shared_runners_minutes_limit: number | null
  extra_shared_runners_minutes_limit: number | null
}

/** What `updateGroupAttributes` takes; everything else that was sent is not an attribute. */
export const groupAttributeNames: ReadonlySet<string> = new Set([
  'name',
  'description',
  'visibility',
  'share_with_group_lock',
  'membership_lock',
  'require_two_factor_authentication',
  'two_factor_grace_period',
  'project_creation_level',
  'subgroup_creation_level',
  'auto_devops_enabled',
  'emails_disabled',
  'mentions_disabled',
  'lfs_enabled',
  'request_access_enabled',
  'file_template_project_id',
  'shared_runners_minutes_limit',
  'extra_shared_runners_minutes_limit',
] satisfies (keyof GroupAttributes)[])

const assignments = (attributes: Partial<GroupAttributes>): Sql =>
  Object.entries(attributes).reduce((all, [name, value]) => {
    if (!groupAttributeNames.has(name)) throw new Error(`not an attribute of groups: ${name}`)
    return sql`${all}, ${raw(name)} = ${value}`
  }, sql`updated_at = now()`)

/** A new group below `parent` (or at the top), its attributes at their defaults. */
export const insertGroup = async (
  tx: Tx,
  group: {
    name: string
    path: string
    parent: Pick<GroupRow, 'id' | 'traversal_ids' | 'full_path' | 'full_name'> | undefined
    runnersToken: string
  },
): Promise<number> => {
  const { parent } = group
  const row = await tx.row<{ id: number }>(sql`
    with next as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id)
    insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_path, full_name, runners_token)
    select id, 'group', ${parent?.id ?? null}::bigint, ${parent?.traversal_ids ?? []}::bigint[] || id, ${group.name}, ${group.path},
      ${parent ? `${parent.full_path}/${group.path}` : group.path}, ${parent ? `${parent.full_name} / ${group.name}` : group.name}, ${group.runnersToken}
    from next returning id`)
  return row!.id
}

export const updateGroupAttributes = (tx: Tx, id: number, attributes: Partial<GroupAttributes>): Promise<number> =>
  tx.run(sql`update namespaces set ${assignments(attributes)} where id = ${id}`)

/** Groups below a locked one are locked, too. */
export const lockSharingBelow = (tx: Tx, traversalIds: readonly number[]): Promise<number> =>
  tx.run(sql`update namespaces d set share_with_group_lock = true
    where not d.share_with_group_lock and ${within(raw('d.traversal_ids'), sql`${traversalIds}::bigint[]`)}`)

/** Locks the group against other edits until the transaction ends. */
export const lockGroup = (tx: Tx, id: number): Promise<GroupRow | undefined> =>
  tx.row<GroupRow>(sql`select ${columns}, null as level, false as reads_project_inside from namespaces g
    where g.id = ${id} and g.kind = 'group' and not g.deleting for update`)

/** Highest visibility of the projects and of the subgroups directly inside; null without any. */
export const visibilitiesInside = async (
  db: Db,
  id: number,
): Promise<{ projects: number | null; groups: number | null }> =>
  (await db.row(sql`select (select max(visibility) from projects where namespace_id = ${id} and not deleting) as projects,
    (select max(visibility) from namespaces where parent_id = ${id} and not deleting) as groups`))!

/** From here on nobody finds the group, nor what is inside; a job removes it for good. */
export async function markGroupDeleting(tx: Tx, traversalIds: readonly number[]): Promise<void> {
  const inside = within(raw('d.traversal_ids'), sql`${traversalIds}::bigint[]`)
  // Namespaces first: whoever is just making a project in one holds its row, and is waited for; nobody starts after that.
  await tx.run(sql`update namespaces d set deleting = true where ${inside}`)
  await tx.run(sql`update projects p set deleting = true from namespaces d where d.id = p.namespace_id and ${inside}`)
}

/** Puts it away for some days, after which a job removes it. */
export const markGroupForDeletion = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update namespaces set marked_for_deletion_on = coalesce(marked_for_deletion_on, current_date), updated_at = now()
    where id = ${id}`)

/** False when it was not put away. */
export const unmarkGroupForDeletion = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`update namespaces set marked_for_deletion_on = null, updated_at = now()
    where id = ${id} and marked_for_deletion_on is not null`)) > 0

/** Groups put away at least `days` ago. */
export async function groupsDueForRemoval(db: Db, days: number): Promise<number[]> {
  const rows = await db.rows<{ id: number }>(sql`
    select id from namespaces where marked_for_deletion_on <= current_date - ${days}::integer and not deleting order by id limit 1000`)
  return rows.map(({ id }) => id)
}

/** Whether the group is still put away since so long. Locks it as `lockGroup` does. */
export const lockDueGroup = async (tx: Tx, id: number, days: number): Promise<GroupRow | undefined> => {
  const held = await lockGroup(tx, id)
  const due = await tx.row<{ due: boolean }>(sql`
    select marked_for_deletion_on <= current_date - ${days}::integer as due from namespaces where id = ${id}`)
  return due?.due ? held : undefined
}

export type GroupShareRow = {
  group_id: number
  group_name: string
  group_full_path: string
  group_access_level: number
  expires_at: DateOnly | null
}

/** Projects inside a group that is being removed. */
export async function projectsToRemove(db: Db, groupId: number): Promise<number[]> {
  const rows = await db.rows<{ id: number }>(sql`
    select p.id from namespaces g join namespaces d on ${within(raw('d.traversal_ids'), raw('g.traversal_ids'))}
    join projects p on p.namespace_id = d.id where g.id = ${groupId} and g.deleting order by p.id`)
  return rows.map(({ id }) => id)
}

/** Removes the rows of an emptied group and of the groups below it, the deepest first. */
export async function deleteGroupRows(tx: Tx, groupId: number): Promise<void> {
  const rows = await tx.rows<{ id: number }>(sql`
    select d.id from namespaces g join namespaces d on ${within(raw('d.traversal_ids'), raw('g.traversal_ids'))}
    where g.id = ${groupId} and g.deleting order by cardinality(d.traversal_ids) desc`)
  for (const { id } of rows) await tx.run(sql`delete from namespaces where id = ${id}`)
}

/** The creator's own membership. */
export const insertOwner = (tx: Tx, groupId: number, userId: number): Promise<number> =>
  tx.run(
    sql`insert into members (namespace_id, user_id, access_level, created_by_id) values (${groupId}, ${userId}, ${levels.owner}, ${userId})`,
  )
