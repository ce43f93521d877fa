import type { Actor, Caller } from '../../../access/actor.ts'
import { featureLevels, levels, type Visibility, visibilities } from '../../../access/levels.ts'
import { lowestOpen } from '../../../access/policy.ts'
import { type Direction, type List, type ListPart, type Matching, numbered } from '../../../api/list.ts'
import { and, raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import { passedOn } from '../../../db/table-catalogue.ts'
import { hasCustomAttributes } from '../../accounts/index.ts'
import { idsInside, namespacesOfMember, numberFor, projectParts, projectWhere } from '../../namespaces/index.ts'
import { type NarrowFilters, type Narrowing, narrowings, rangesOfOrder } from './narrow-queries.ts'
import { openVisibility, visibleProjects, withinLimits } from './queries.ts'
import { type RecordOptions, recordSelect, stampSelect } from './record-queries.ts'

export type ProjectOrder = 'id' | 'name' | 'path' | 'created_at' | 'updated_at' | 'last_activity_at'

export type ProjectFilters = NarrowFilters & {
  archived?: boolean
  visibility?: Visibility
  order_by: ProjectOrder
  sort: Direction
  owned?: boolean
  membership?: boolean
  starred?: boolean
  with_issues_enabled?: boolean
  with_merge_requests_enabled?: boolean
  with_programming_language?: string
  min_access_level?: number
  id_after?: number
  id_before?: number
  custom_attributes?: Record<string, string>
  repository_checksum_failed?: boolean
  wiki_checksum_failed?: boolean
  with_security_reports?: boolean
}

/** The projects that a list starts from. */
export type ProjectSet =
  | { of: 'everyone' }
  | { of: 'nothing' }
  | { of: 'user'; userId: number }
  | { of: 'stars'; userId: number }
  /** Of these ids, which a statement selects: with activity of a user that the caller may see. */
  | { of: 'contributions'; ids: Sql }
  | { of: 'forks'; sourceId: number }
  | {
      of: 'group'
      groupId: number
      traversalIds: readonly number[]
      /** Whether projects shared with the group are included, excluded, or the only ones. */
      shared: 'with' | 'without' | 'only'
      includeSubgroups: boolean
    }

const orderColumns: Record<ProjectOrder, Sql> = {
  id: raw('p.id'),
  name: raw('p.name'),
  path: raw('p.path'),
  created_at: raw('p.created_at'),
  updated_at: raw('p.updated_at'),
  last_activity_at: raw('p.last_activity_at'),
}

// Arrays rather than `in`: both sides of an `or` can then use an index.
const setCondition = (set: ProjectSet): Sql[] => {
  if (set.of === 'everyone') return []
  if (set.of === 'nothing') return [raw('false')]
  if (set.of === 'user') return [sql`p.namespace_id = (select id from namespaces where owner_id = ${set.userId})`]
  if (set.of === 'stars') return [sql`p.id in (select project_id from stars where user_id = ${set.userId})`]
  if (set.of === 'contributions') return [sql`p.id = any(array(${set.ids}))`]
  if (set.of === 'forks') return [sql`p.forked_from_project_id = ${set.sourceId}`]
  return [
    set.shared === 'only' ? sharedWith(set) : insideOrShared(set, sql`p.namespace_id = any(array(${groupsIn(set)}))`),
  ]
}

type GroupSet = Extract<ProjectSet, { of: 'group' }>

const groupsIn = ({ groupId, includeSubgroups, traversalIds }: GroupSet): Sql =>
  includeSubgroups ? idsInside(traversalIds) : sql`select ${groupId}::bigint`

const sharedWith = ({ groupId }: GroupSet): Sql => sql`
  p.id = any(array(select l.project_id from project_group_links l where l.group_id = ${groupId} and ${unexpired('l')}))
`

const insideOrShared = (set: GroupSet, inside: Sql): Sql =>
  set.shared === 'with' ? sql`(${inside} or ${sharedWith(set)})` : inside

/** Whether more projects meet a condition than would be read in the order to find the first ones. */
function isMany(where: Sql) {
  // With n of P projects, reading in order until `rows` are found takes `rows` · P / n rows, and sorting all takes n.
  const many = (rows: number) => sql`
    (
      select greatest(200, sqrt(${rows}::double precision * greatest(p.reltuples, 1)))::integer
      from pg_class p
      where p.oid = 'projects'::regclass
    )
  `
  return (rows: number) => sql`
    (select count(*) from (select from projects p where ${where} limit ${many(rows)}) as counted) >= ${many(rows)}
  `
}

/** The projects of a set, which are found from the set unless they are a great part of all. */
function partOfSet(set: ProjectSet, ids: readonly Sql[], order: ProjectOrder): ListPart {
  const where = and(setCondition(set))
  return {
    where,
    few: true,
    crowded: {
      when: isMany(where),
      from: walked(ids, order),
      where:
        set.of === 'group' && set.shared !== 'only'
          ? // Looked up in a hash table.
            insideOrShared(set, sql`coalesce(p.namespace_id in (${groupsIn(set)}), false)`)
          : where,
    },
  }
}

/** Whether the feature is enabled for the caller: for everyone, or for members if they are one. */
const featureOn = (caller: Caller, column: string, from: number): Sql =>
  caller?.admin === true
    ? sql`${raw(column)} > ${featureLevels.disabled}`
    : sql`
      (
        ${raw(column)} >= ${featureLevels.enabled}
        or (${raw(column)} = ${featureLevels.private} and ${callerAtLeast(caller, from)})
      )
    `

const callerAtLeast = (caller: Caller, level: number): Sql =>
  caller === null ? raw('false') : projectWhere(caller, level, raw('p.id'), raw('p.namespace_id'))

/** The level that the filters require of the caller. */
const memberLevel = ({ membership, min_access_level }: ProjectFilters): number | undefined =>
  membership ? Math.max(levels.guest, min_access_level ?? 0) : min_access_level

/**
 * Of a list over all projects. Projects that other conditions lead to, as those of a user or those found by words, are checked one
 * by one.
 */
function partsOf(caller: Caller, set: ProjectSet, filters: ProjectFilters): List['parts'] {
  if (set.of !== 'everyone' || filters.search?.trim()) return undefined
  const level = memberLevel(filters)
  // A lower level does not imply that the caller sees the project.
  if (filters.owned || filters.starred || (level !== undefined && level < levels.guest)) return undefined
  if (level === undefined) return visibleParts(caller, filters)
  return caller === null ? undefined : partsOfMember(caller, level, filters)
}

/**
 * As `visibleProjects`, in parts of a list: the projects open to the caller, those of their namespaces, and their other projects. `undefined` if one
 * condition is enough.
 */
function visibleParts(caller: Caller, filters: ProjectFilters): List['parts'] {
  if (caller?.admin) return undefined
  const open = openVisibility(caller)
  const everyones = { where: sql`p.visibility >= ${open}` }
  if (caller === null) return [everyones]
  const closed = partsOfMember(caller, levels.guest, filters, sql`p.visibility < ${open}`)
  if (filters.visibility === undefined) return [everyones, ...closed]
  return visibilities[filters.visibility] >= lowestOpen(caller) ? [everyones] : closed
}

/** Projects in which the user has at least this level and that meet a condition: those of their namespaces, and their other projects. */
function partsOfMember(
  actor: Actor,
  level: number,
  filters: ProjectFilters,
  condition = raw('true'),
): [ListPart, ListPart] {
  const [inGroups, others] = projectParts(actor, level, raw('p.id'), raw('p.namespace_id'))
  const groups = namespacesOfMember(actor.id, level)
  const ofGroups: ListPart = {
    where: and([condition, inGroups]),
    few: true,
    crowded: {
      when: isMany(inGroups),
      from: walked(idsBetween(filters), filters.order_by),
      where: and([condition, sql`coalesce(p.namespace_id in (${groups}), false)`]),
    },
  }
  return [ofGroups, { where: and([condition, others]), few: true }]
}

/** Projects the caller can see, newest first unless `sort` is ascending; ties by id. As stamps or as whole records. */
export function listProjects(
  caller: Caller,
  set: ProjectSet,
  filters: ProjectFilters,
  options: RecordOptions | 'stamps',
): List {
  const [narrowing, ...others] = narrowings(filters)
  const level = memberLevel(filters)
  const isOwn = filters.owned || filters.starred
  const few = set.of !== 'everyone' || isOwn || level !== undefined
  const matching = narrowing && !few ? found(narrowing, idsBetween(filters), filters.order_by) : undefined
  const parts = matching ? undefined : partsOf(caller, set, filters)
  const ofSet =
    set.of !== 'everyone' && !filters.search?.trim() && !isOwn && level === undefined
      ? partOfSet(set, idsBetween(filters), filters.order_by)
      : undefined
  const where: Sql[] = [raw('not p.deleting'), ...(ofSet ? [] : setCondition(set))]
  if (!parts) where.push(visibleProjects(caller))
  else if (caller?.limits) where.push(withinLimits(caller))
  if (filters.archived !== undefined) where.push(sql`p.archived = ${filters.archived}`)
  if (filters.visibility !== undefined) where.push(sql`p.visibility = ${visibilities[filters.visibility]}`)
  if (narrowing && !matching) where.push(narrowing.condition)
  where.push(...others.map(({ condition }) => condition), ...rangesOfOrder(filters))
  if (filters.owned) where.push(caller ? ownedBy(caller.id) : raw('false'))
  if (level !== undefined && !parts) where.push(callerAtLeast(caller, level))
  if (filters.starred)
    where.push(caller ? sql`p.id in (select project_id from stars where user_id = ${caller.id})` : raw('false'))
  if (filters.with_issues_enabled) where.push(featureOn(caller, 'p.issues_access_level', levels.guest))
  if (filters.with_merge_requests_enabled)
    where.push(featureOn(caller, 'p.merge_requests_access_level', levels.reporter))
  if (filters.with_programming_language !== undefined)
    where.push(
      sql`
        p.id in (
          select project_id from project_languages where lower(name) = lower(${filters.with_programming_language})
        )
      `,
    )
  if (filters.repository_checksum_failed) where.push(raw('p.repository_check_failed'))
  if (filters.wiki_checksum_failed) where.push(raw('p.wiki_check_failed'))
  // Security reports come from CI jobs, which are not run yet, so no project has one.
  if (filters.with_security_reports) where.push(raw('false'))
  where.push(...idsBetween(filters))
  if (caller?.admin && filters.custom_attributes) where.push(hasAttributes(filters.custom_attributes))
  const counted = 1 + Number(filters.archived !== undefined) + Number(filters.visibility !== undefined)
  const listed = parts && where.length === counted ? numbered(parts, openNumber(caller, filters)) : parts
  const direction = filters.sort
  return {
    type: 'Project',
    capped: true,
    select: options === 'stamps' ? stampSelect(caller, {}) : recordSelect(caller, options),
    // Few are found by other columns, and sorted.
    from: sql`from ${few ? raw('projects') : tableOf(filters.order_by)} p`,
    key: raw('p.id'),
    where,
    // Indexes lead to the projects, in the order or by the set, whatever the values are.
    onePlan:
      (!narrowing || matching !== undefined) &&
      filters.with_programming_language === undefined &&
      filters.custom_attributes === undefined,
    matching,
    parts: listed ?? (ofSet ? [ofSet] : isOwn ? [{ where: raw('true'), few: true }] : undefined),
    order:
      filters.order_by === 'id'
        ? [{ by: raw('p.id'), direction }]
        : [
            { by: orderColumns[filters.order_by], direction },
            { by: raw('p.id'), direction: 'desc' },
          ],
    keyset: filters.order_by === 'id' ? { direction } : undefined,
  }
}

/** How many projects are open to the caller, of a state and visibility. */
function openNumber(caller: Caller, { archived, visibility }: ProjectFilters): Sql {
  const state = archived === undefined ? undefined : archived ? 'archived' : 'active'
  const isOpen = (of: Sql) => sql`${of} >= ${openVisibility(caller)}`
  const isListed = (of: Sql) =>
    visibility === undefined ? isOpen(of) : sql`${isOpen(of)} and ${of} = ${visibilities[visibility]}`
  return numberFor('Project', isListed, state)
}

const idsBetween = ({ id_after, id_before }: ProjectFilters): Sql[] => [
  ...(id_after === undefined ? [] : [sql`p.id > ${id_after}`]),
  ...(id_before === undefined ? [] : [sql`p.id < ${id_before}`]),
]

/** The table, or the view of the same columns, that has an index of the order. */
const tableOf = (order: ProjectOrder): Sql => raw(order === 'last_activity_at' ? 'projects_by_activity' : 'projects')

/** The first projects that meet conditions. `offset 0` keeps the planner from leaving the order. */
const walked =
  (where: readonly Sql[], order: ProjectOrder) =>
  (range: Sql): Sql =>
    sql`from (select p${raw(passedOn)} from ${tableOf(order)} p where ${and(where)} ${range} offset 0) as p`

/** How the projects that meet a condition are found. The order starts at the ids. */
const found = (narrowing: Narrowing, ids: readonly Sql[], order: ProjectOrder): Matching => ({
  ...narrowing,
  key: raw('p.id'),
  walked: walked(ids, order),
})

/** In the user's personal namespace, or in a group that they own directly or through a parent. */
const ownedBy = (userId: number): Sql => sql`
  p.namespace_id = any(
    array(
      select group_id
      from group_access
      where user_id = ${userId} and level >= ${levels.owner} and expires_on > current_date
    )
  )
`

const hasAttributes = (attributes: Record<string, string>): Sql =>
  hasCustomAttributes(raw('a.project_id'), raw('p.id'), attributes)
