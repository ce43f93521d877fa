import type { Caller } from '../../../access/actor.ts'
import type { Matching } from '../../../api/list.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { and, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import {
  assigneesTableOf,
  columnOf,
  labelsTableOf,
  type PlannedType,
  type ScheduledType,
  tableOf,
} from '../../discussion/index.ts'
import type { MatchingFilters, NoteableFilters, NoteableSet, Presence, UserFilter } from './filters.ts'

/** Whether rows exist, or do not, as requested. */
const present = (filter: Presence, rows: Sql): Sql =>
  filter === 'Any' ? sql`exists (${rows})` : sql`not exists (${rows})`

/** The same of rows that very many noteables have. `offset` keeps the first condition from becoming a join with all of them; the second ends with the page. */
const presentForEach = (filter: Presence, rows: Sql): Sql =>
  filter === 'Any' ? sql`exists (${rows} offset 0)` : present(filter, rows)

/** The labels `ml` of the noteable `m`. */
const labelsOfIt = (type: PlannedType) => ({
  labels: sql`from ${labelsTableOf(type)} ml`,
  own: sql`ml.${columnOf(type)} = m.id`,
})

function labelled(type: PlannedType, filter: NonNullable<MatchingFilters['labels']>): Sql {
  if (typeof filter !== 'string') return hasLabels(type, filter)
  const { labels, own } = labelsOfIt(type)
  return presentForEach(filter, sql`select ${labels} where ${own}`)
}

/**
 * Names that have a condition each. More of them share one, because PostgreSQL tries the orders of all joins: it plans the conditions of
 * a hundred names for seconds.
 */
export const namesApart = 5

/** The rows `from … where …` have each of these names, whatever its case. */
function haveNames(rows: Sql, name: Sql, names: readonly string[]): Sql {
  const lower = sql`select distinct lower(n.name) from unnest(${names}::text[]) as n (name)`
  const found = sql`select count(distinct lower(${name})) ${rows} and lower(${name}) = any(array(${lower}))`
  return sql`(${found}) = cardinality(array(${lower}))`
}

/** The conditions that rows have each of these names: the first by themselves, and one for all others. */
function named(names: readonly string[], has: (name: string) => Sql, rows: Sql, name: Sql): Sql {
  const others = names.slice(namesApart)
  return and([...names.slice(0, namesApart).map(has), ...(others.length > 0 ? [haveNames(rows, name, others)] : [])])
}

/** The noteable `m` has a label of each of these titles. PostgreSQL may read all that have a title, which suits those of a project. */
export function hasLabels(type: PlannedType, titles: readonly string[]): Sql {
  const { labels, own } = labelsOfIt(type)
  const rows = sql`${labels} join labels l on l.id = ml.label_id where ${own}`
  const has = (title: string) => sql`exists (select ${rows} and lower(l.title) = lower(${title}))`
  return named(titles, has, rows, raw('l.title'))
}

/** Labels of a title up to which they are kept in a hash table; of one of more, the title of each label of a noteable is looked up. */
const keptLabels = 200

/** The same, but the labels of `m` are looked up in every plan: many labels may have a title, of which the planner expects one. */
export function looksUpLabels(type: PlannedType, titles: readonly string[]): Sql {
  const { labels, own } = labelsOfIt(type)
  const titled = (title: string) => sql`from labels l where lower(l.title) = lower(${title})`
  const isTitled = (title: string) => sql`
    case
      when (
        select count(*) from (select ${titled(title)} limit ${literal(keptLabels + 1)}) as first_ones
      ) <= ${literal(keptLabels)} then coalesce(ml.label_id in (select l.id ${titled(title)}), false)
      else (select lower(l.title) from labels l where l.id = ml.label_id) = lower(${title})
    end
  `
  // `offset` keeps it from becoming a join.
  const has = (title: string) => sql`exists (select ${labels} where ${own} and ${isTitled(title)} offset 0)`
  return named(titles, has, sql`${labels} join labels l on l.id = ml.label_id where ${own}`, raw('l.title'))
}

const userNamed = (username: string): Sql => sql`select u.id from users u where lower(u.username) = lower(${username})`

/** The noteable `m` has such users in a table of users with a task in it. */
export function byUsers(type: PlannedType, table: Sql, filter: UserFilter): Sql {
  const rows = sql`select from ${table} a where a.${columnOf(type)} = m.id`
  if (typeof filter === 'string') return presentForEach(filter, rows)
  if ('id' in filter) return sql`exists (${rows} and a.user_id = ${filter.id})`
  const has = (username: string) => sql`exists (${rows} and a.user_id = (${userNamed(username)}))`
  const users = sql`from ${table} a join users u on u.id = a.user_id where a.${columnOf(type)} = m.id`
  return named(filter.usernames, has, users, raw('u.username'))
}

/** Lists of kinds without assignees do not have this filter. */
const byAssignee = (type: PlannedType, filter: UserFilter): Sql =>
  byUsers(type, assigneesTableOf(type as ScheduledType), filter)

function ofMilestone(filter: NonNullable<MatchingFilters['milestone']>): Sql {
  if (filter === 'None') return raw('m.milestone_id is null')
  if (filter === 'Any') return raw('m.milestone_id is not null')
  // Looked up for each noteable: very many milestones may meet the condition.
  if (typeof filter === 'string')
    return sql`exists (select from milestones ms where ms.id = m.milestone_id and ${milestoneWith[filter]} offset 0)`
  if ('id' in filter) return sql`m.milestone_id = ${filter.id}`
  return sql`m.milestone_id in (select ms.id from milestones ms where ms.title = ${filter.title})`
}

const isDue = (alias: string): string => `${alias}.state = 'active' and ${alias}.due_date > current_date`

const isPreceded = (holder: 'project_id' | 'namespace_id'): string => `exists (
    select from milestones e
    where e.${holder} = ms.${holder} and ${isDue('e')} and (e.due_date, e.id) < (ms.due_date, ms.id)
  )`

/** Conditions on a milestone `ms`. Of those that are due, only the first of its project or group is upcoming. */
const milestoneWith = {
  started: raw(`ms.state = 'active' and ms.start_date < current_date`),
  upcoming: raw(`${isDue('ms')} and not ${isPreceded('project_id')} and not ${isPreceded('namespace_id')}`),
} as const

/** What leads to the noteables that meet a filter, if these may be few or many. */
export type Narrowing = Pick<Matching, 'table' | 'key' | 'condition'>

/** The narrowing by one of the filters; undefined if none of them has one. Those of a project are few in any case. */
export function narrowing(type: ScheduledType, filters: NoteableFilters): Narrowing | undefined {
  const { milestone, assignee, createdAfter, createdBefore } = filters
  const created = inRange(raw('m.created_at'), rangeOf(createdAfter, createdBefore))
  if (created.length > 0) return narrowedBy(type, created)
  if (milestone === 'started' || milestone === 'upcoming') {
    const table = sql`milestones ms join ${tableOf(type)} m on m.milestone_id = ms.id`
    return narrowedBy(type, [milestoneWith[milestone], ...ofState(filters)], table)
  }
  if (milestone !== undefined && milestone !== 'None')
    return narrowedBy(type, [ofMilestone(milestone), ...ofState(filters)])
  return assignee === 'Any' ? havingUsers(type, assigneesTableOf(type)) : undefined
}

export const ofState = ({ state }: NoteableFilters): Sql[] => (state === undefined ? [] : [sql`m.state = ${state}`])

/** The noteable `m` has one of the states: written as in the indexes of orders that begin with it. */
export const inOrderOf = (states: readonly string[]): Sql =>
  states.length === 1 ? sql`m.state || '' = ${states[0]}` : sql`m.state || '' = any(${states}::text[])`

/** The noteables `m` that meet conditions, which an index has. */
export const narrowedBy = (
  type: ScheduledType,
  conditions: readonly Sql[],
  table = sql`${tableOf(type)} m`,
): Narrowing => ({ table, key: raw('m.id'), condition: and(conditions) })

/** The noteables that have any user in a table of users with a task in them; one for each user. */
export const havingUsers = (type: ScheduledType, table: Sql): Narrowing => ({
  table: sql`(select a.${columnOf(type)} as id from ${table} a) as m`,
  key: raw('m.id'),
  condition: raw('true'),
})

function byAuthor(filter: NonNullable<MatchingFilters['author']>): Sql {
  if (filter === 'None') return raw('false')
  return 'id' in filter ? sql`m.author_id = ${filter.id}` : sql`m.author_id = (${userNamed(filter.username)})`
}

function byReaction(type: PlannedType, caller: Caller, filter: NonNullable<MatchingFilters['reaction']>): Sql {
  if (caller === null) return raw('false')
  const mine = sql`
    select from award_emoji e where e.${columnOf(type)} = m.id and e.note_id is null and e.user_id = ${caller.id}
  `
  return typeof filter === 'string' ? present(filter, mine) : sql`exists (${mine} and e.name = ${filter.name})`
}

/** The noteable `m` matches a text. */
export const matchesText = (search: NonNullable<MatchingFilters['search']>): Sql =>
  fuzzy(
    search.text,
    search.in.map((column) => `m.${column}`),
    'short texts',
  )

/** A condition on the noteable `m` for each of the filters. */
function matching(type: PlannedType, caller: Caller, f: MatchingFilters): Sql[] {
  const where: Sql[] = []
  if (f.author !== undefined) where.push(byAuthor(f.author))
  if (f.assignee !== undefined) where.push(byAssignee(type, f.assignee))
  if (f.labels !== undefined) where.push(labelled(type, f.labels))
  if (f.milestone !== undefined) where.push(ofMilestone(f.milestone))
  if (f.reaction !== undefined) where.push(byReaction(type, caller, f.reaction))
  if (f.search?.text.trim()) where.push(matchesText(f.search))
  if (f.iids !== undefined) where.push(sql`m.iid = any(${f.iids}::bigint[])`)
  return where
}

/** For each of the filters the condition that the noteable `m` does not meet it. */
export function notMatching(
  type: PlannedType,
  caller: Caller,
  { labels, assignee, reaction, ...others }: MatchingFilters,
): Sql[] {
  const where = matching(type, caller, others).map(negated)
  // Looked up row by row: a join may read all that have a label before the first row of the page.
  if (labels !== undefined)
    where.push(
      without(labels, (filter) => (typeof filter === 'string' ? labelled(type, filter) : looksUpLabels(type, filter))),
    )
  if (assignee !== undefined) where.push(without(assignee, (filter) => byAssignee(type, filter)))
  if (reaction !== undefined) where.push(without(reaction, (filter) => byReaction(type, caller, filter)))
  return where
}

/**
 * The opposite of a filter whose condition is never null. A bare `not exists` is an anti-join, which ends with the page; otherwise
 * PostgreSQL might read all labelled rows first.
 */
function without<Filter>(filter: Filter | Presence, condition: (filter: Filter | Presence) => Sql): Sql {
  if (filter === 'Any') return condition('None')
  return filter === 'None' ? condition('Any') : sql`not (${condition(filter)})`
}

/** Also true where the condition is null, as for a milestone that is missing. */
export const negated = (condition: Sql): Sql => sql`(${condition}) is not true`

function ofScope(type: PlannedType, caller: Caller, scope: NonNullable<NoteableFilters['scope']>): Sql {
  if (caller === null) return raw('false')
  return scope === 'created_by_me' ? sql`m.author_id = ${caller.id}` : byAssignee(type, { id: caller.id })
}

/** Records show milliseconds, but stored times are more precise: a time counts as before its displayed value. */
const after = (time: Date): Date => new Date(time.getTime() + 1)

/** From one time on, before another. */
export type TimeRange = { readonly from?: Date; readonly before?: Date }

export const inRange = (column: Sql, { from, before }: TimeRange): Sql[] => [
  ...(from ? [sql`${column} >= ${from}`] : []),
  ...(before ? [sql`${column} < ${before}`] : []),
]

const rangeOf = (from: Date | undefined, to: Date | undefined): TimeRange => ({
  ...(from && { from }),
  ...(to && { before: after(to) }),
})

/** Conditions on the noteable `m` of this kind. */
export function filtered(type: PlannedType, caller: Caller, f: NoteableFilters): Sql[] {
  const where: Sql[] = []
  if (f.scope) where.push(ofScope(type, caller, f.scope))
  if (f.state) where.push(sql`m.state = ${f.state}`)
  where.push(...inRange(raw('m.created_at'), rangeOf(f.createdAfter, f.createdBefore)))
  where.push(...inRange(raw('m.updated_at'), rangeOf(f.updatedAfter, f.updatedBefore)))
  return [...where, ...matching(type, caller, f)]
}

/** Filters that leave few noteables of a set: these are checked one by one. */
export const leavesFew = (
  { scope, author, reaction, assignee, milestone, iids, createdAfter, createdBefore }: NoteableFilters,
  set: NoteableSet,
): boolean =>
  [scope, author].some((filter) => filter !== undefined) ||
  // An index of the project has those.
  (set.of === 'project' && [iids, createdAfter, createdBefore].some((filter) => filter !== undefined)) ||
  (reaction !== undefined && reaction !== 'None') ||
  namesFew(assignee, set) ||
  namesFew(milestone, set)

/** Whether a filter leaves few: it names one, or any of a project. */
export const namesFew = (filter: object | string | undefined, set: NoteableSet): boolean =>
  set.of === 'project' ? filter !== undefined && filter !== 'None' : typeof filter === 'object' && !('title' in filter)

/** Required labels, texts and times of update, by which `reach` finds noteables, and the other filters. */
export function lookedUp<Filters extends NoteableFilters>({
  labels,
  search,
  updatedAfter,
  updatedBefore,
  ...others
}: Filters) {
  return {
    updated: rangeOf(updatedAfter, updatedBefore),
    labels: typeof labels === 'string' ? undefined : labels,
    search: search?.text.trim() ? search : undefined,
    others: { ...others, ...(typeof labels === 'string' && { labels }) },
  }
}
