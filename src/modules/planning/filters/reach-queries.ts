import type { Caller } from '../../../access/actor.ts'
import { everything, type List, type ListPart, type Matching } from '../../../api/list.ts'
import { countOf } from '../../../api/page-queries.ts'
import { and, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import {
  byUpdateOf,
  kindOf,
  notHidden,
  readableKind,
  readableRow,
  tableOf,
  updatesTableOf,
} from '../../discussion/index.ts'
import { idsInside } from '../../namespaces/index.ts'
import { visibleProjects } from '../../projects/index.ts'
import type { NoteableSet } from './filters.ts'
import { isAmongLabelled, labelledOnce } from './label-queries.ts'
import { labelledEverything, labelledFew, labelledOfProject, labelledParts } from './labelled-queries.ts'
import {
  inListProjects,
  isPlannedOnce,
  listProjects,
  numberIn,
  ofState,
  partOfProjects,
  partsOf,
  type Reached,
  type Wanted,
  walked,
  withEachProject,
} from './parts-queries.ts'
import {
  hasLabels,
  inOrderOf,
  inRange,
  looksUpLabels,
  matchesText,
  type Narrowing,
  narrowedBy,
  type TimeRange,
} from './queries.ts'

/** What a list of noteables reads: the conditions of the caller's access, or the parts that imply them. */
type Reach = {
  /** `from <table> m join projects p …` */
  readonly from: Sql
  readonly where: readonly Sql[]
  readonly parts?: List['parts']
  readonly given?: List['given']
  readonly matching?: List['matching']
  readonly decide?: List['decide']
  readonly onePlan?: List['onePlan']
  readonly slices?: List['slices']
}

const isFilteredByTime = ({ updated = {} }: Wanted): boolean => Object.keys(updated).length > 0

/** Whether a list starts from times of update. Few noteables are found by other columns, and sorted. */
function startsFromUpdates(wanted: Wanted): boolean {
  const { set, few, order, search } = wanted
  if (search) return order === 'updated' && set.of === 'everyone' && !few
  return !few && (order === 'updated' || (isFilteredByTime(wanted) && (order === undefined || set.of === 'group')))
}

/** Noteables that meet an indexed condition: fewer than this are found by it, and the caller's access to each is checked. */
const fewIndexed = 5000

/** What was updated in a range, for lists in another order. */
function updatedIn({ type, set }: Wanted, range: TimeRange): Narrowing {
  const ofProject = set.of === 'project' ? [sql`m.project_id = ${set.id}`] : []
  return narrowedBy(type, [...ofProject, ...inRange(raw('m.updated_at'), range)], sql`${updatesTableOf(type)} m`)
}

/** The noteables `m` of a set that the caller may read, and that meet the filters. */
export function reach(wanted: Wanted): Reach {
  const { type, set, few, search, indexed, updated = {} } = wanted
  const byUpdate = startsFromUpdates(wanted)
  const own = reachOf(wanted, byUpdate)
  const list = decidedByLabels(wanted, own)
  if (search && set.of === 'group' && !few) {
    const matching = matchingOf(wanted, narrowedBy(type, [matchesText(search)]))
    return { ...list, matching: { ...matching, isSlow: true } }
  }
  if (few || search) return list
  if (isFilteredByTime(wanted) && !byUpdate) {
    const matching = matchingOf(wanted, updatedIn(wanted, updated))
    return own.decide ? { ...list, matching } : { ...list, parts: countedAs(own, reachOf(wanted, true)), matching }
  }
  if (!indexed || set.of === 'project') return list
  return { ...list, matching: matchingOf(wanted, indexed) }
}

type GroupSet = Extract<NoteableSet, { of: 'group' }>

/** Noteables of a group from which on those that match a text or a filter are looked for in an index before all are read. */
const manyOfGroup = 1000

/** How few that meet a condition, which the list has, are found by its index; many are checked in the order. */
function matchingOf(wanted: Wanted, found: Narrowing): Matching {
  const unless = wanted.set.of === 'group' && { unless: isSmall(wanted, wanted.set) }
  return { ...found, ...unless, few: fewOf(wanted), fewBelow: fewIndexed }
}

/** A group has few noteables, which are read before others are looked at. */
function isSmall({ type }: Wanted, set: GroupSet): Sql {
  const projects = sql`array(select p.id from projects p where ${inGroup(set)})`
  const own = sql`select from ${tableOf(type)} m where m.project_id = any(${projects}) limit ${literal(manyOfGroup)}`
  return sql`(select count(*) from (${own}) as own) < ${literal(manyOfGroup)}`
}

/** All conditions, for noteables that are found by their ids, and what to read them from. */
function fewOf(wanted: Wanted): Pick<Reach, 'from' | 'where'> {
  const { from, where } = reachOf({ ...wanted, few: true }, false)
  if (wanted.set.of !== 'group') return { from, where }
  return { from: withEachProject(tableOf(wanted.type)), where: [...where, inGroup(wanted.set)] }
}

/** A list with labels that few have is one of these few. Those of a project are few as well. */
function decidedByLabels(wanted: Wanted, list: Reach): Reach {
  const { set, labels, search, few } = wanted
  if (!labels || search || list.decide || set.of === 'project' || few) return list
  return { ...list, decide: (db) => labelledFew(db, wanted, fewOf(wanted)) }
}

/** The parts of a list, of which the rows are counted as those of another one that has the same. */
function countedAs({ parts = [everything] }: Reach, other: Reach): NonNullable<List['parts']> {
  const others = other.parts ?? [everything]
  const made = parts.map((part, index) => {
    const { where, counted, own: ownOfOther } = others[index]!
    const own = { from: other.from, where: and(other.where), ...ownOfOther }
    return { ...part, counted: counted ?? { from: own.from, where: and([own.where, where]) } }
  })
  return made as [ListPart, ...ListPart[]]
}

function reachOf(wanted: Wanted, byUpdate: boolean): Reach {
  const { set, few, search } = wanted
  const matches = search && matchesText(search)
  const isSearchOfAll = set.of === 'everyone' && !few
  const reached = reachedBy(wanted, byUpdate, isSearchOfAll ? undefined : matches)
  if (set.of === 'project') return ofProject(reached, set.id)
  if (set.of === 'group') return ofGroup(reached, set)
  return isSearchOfAll && matches ? ofSearch(reached, matches) : ofEveryone(reached)
}

/** What is wanted with the conditions of its filters, and of `matches`, a text. */
function reachedBy(wanted: Wanted, byUpdate: boolean, matches: Sql | undefined): Reached {
  const { type, labels, filters, search, updated = {} } = wanted
  const others = [...filters, ...inRange(raw('m.updated_at'), updated), ...(matches ? [matches] : [])]
  const labelCondition = labels && looksUpLabels(type, labels)
  return {
    ...wanted,
    few: wanted.few || search !== undefined,
    rows: (byUpdate ? byUpdateOf : tableOf)(type),
    byUpdate,
    others,
    labelCondition,
    filters: [...others, ...(labelCondition ? [labelCondition] : [])],
    counted: [...others, ...(labels ? [hasLabels(type, labels)] : [])],
  }
}

const withProjects = (rows: Sql): Sql => sql`from ${rows} m join projects p on p.id = m.project_id`

/** The conditions on a project `p` that the caller may see it. */
const visible = (caller: Caller): readonly Sql[] => [raw('not p.deleting'), visibleProjects(caller)]

const readable = ({ type, caller }: Reached): readonly Sql[] => [...visible(caller), readableRow(type, caller)]

function ofProject(reached: Reached, id: number): Reach {
  const { type, caller, rows, filters, labels, few, order } = reached
  const { hiddenBy } = kindOf(type)
  const from = hiddenBy ? withProjects(rows) : sql`from ${rows} m`
  const whereOf = (filters: readonly Sql[]) => [
    sql`m.project_id = ${id}`,
    ...filters,
    ...(hiddenBy ? [notHidden(type, caller)] : []),
  ]
  const list: Reach = {
    from,
    where: whereOf(filters),
    ...(order === 'other' && { parts: [sortedOfProject(reached, id)] }),
  }
  return labels && !few ? { ...list, decide: (db) => labelledOfProject(db, reached, id, whereOf) } : list
}

/** Issues of a project from which on the first ones of an order are looked for among those of all projects, before all are sorted. */
const manyOfProject = 20_000

/**
 * The rows of a project in an order that only an index of all projects has. Those of an old project may be at the end of it: PostgreSQL, which
 * expects them everywhere, would read a million rows to find the first of some thousand.
 */
function sortedOfProject({ rows, few }: Reached, id: number): ListPart {
  const number = sql`(select c.opened + c.closed from issue_counts c where c.project_id = ${id})`
  const when = () => sql`${number} >= ${literal(manyOfProject)}`
  return { ...everything, few: true, ...(!few && { crowded: { when, from: walked(rows), where: raw('true') } }) }
}

function ofGroup(reached: Reached, set: GroupSet): Reach {
  const { type, caller, rows, filters, others, few } = reached
  const unarchived = set.archived ? [] : [raw('not p.archived')]
  const projects = sql`select p.id from projects p where ${inGroup(set)}`
  const readableProjects = [...visible(caller), readableKind(type, caller), ...unarchived, inListProjects]
  return {
    from: withProjects(rows),
    // The part has the condition on labels.
    where: [...readable(reached), ...(few ? filters : others), ...unarchived],
    parts: [{ ...partOfProjects(reached), number: numberIn(reached, and(readableProjects)) }],
    given: listProjects(projects),
    onePlan: isPlannedOnce(reached),
  }
}

/** Those of everyone that match a text, which is the condition `matches`. */
function ofSearch(reached: Reached, matches: Sql): Reach {
  const { type, rows, labels, filters, counted } = reached
  const from = withProjects(rows)
  // Counted with labels that the planner may start from.
  const total = { from, where: and([...readable(reached), ...counted, matches]) }
  return {
    from,
    where: [...readable(reached), ...filters],
    matching: {
      table: sql`${tableOf(type)} m`,
      key: raw('m.id'),
      condition: matches,
      isSlow: true,
      walked: walked(rows),
      ...(labels && { counted: total }),
    },
    onePlan: ofState(reached),
  }
}

function ofEveryone(reached: Reached): Reach {
  const { type, caller, rows, filters, others, labels, state, order, few } = reached
  const where = [...readable(reached), ...filters]
  if (few) return { from: withEachProject(rows), where }
  const from = withProjects(rows)
  const inParts = caller !== null && !caller.admin
  if (labels && order) {
    const decide: Reach['decide'] = inParts
      ? (db) => labelledParts(db, reached, caller, where)
      : (db) => labelledEverything(db, reached, { from, where: readable(reached) })
    return { from, where, decide, onePlan: isPlannedOnce(reached) }
  }
  if (inParts) return { from, ...partsOf(reached, caller) }
  const labelled = labels ? [isAmongLabelled(type, { titles: labels, state })] : []
  // The first ones of the table may all be of another state. Callers who read parts have indexes of these by state.
  const slices = order === 'created' && state !== undefined ? [inOrderOf([state])] : undefined
  return { from, where: [...readable(reached), ...others, ...labelled], slices }
}

/** The project `p` belongs to the group or one below it. */
const inGroup = ({ traversalIds }: GroupSet): Sql => sql`p.namespace_id = any(array(${idsInside(traversalIds)}))`

/** More than there are noteables. */
const unlimited = 10 ** 15

/**
 * How many issues of a set and state the caller may read that do not have all of these labels, up to `most`: an expression. They are all
 * issues, whose numbers are stored, less those that have the labels. If there are `most` more than all that have the labels anywhere, which
 * an index says, nothing else is read. Undefined where such numbers are not stored.
 */
export function withoutLabels(
  wanted: Pick<Wanted, 'caller' | 'set' | 'state'>,
  labels: readonly string[],
  most: number,
): Sql | undefined {
  const { caller, set, state } = wanted
  if (set.of === 'project' || (set.of === 'everyone' && caller === null) || caller?.limits) return undefined
  const type = 'Issue'
  const filters = state === undefined ? [] : [sql`m.state = ${state}`]
  const list: Wanted = { ...wanted, type, filters, few: false }
  const exactly = ({ from, where, parts, given }: Reach): Sql => countOf({ from, parts, given }, and(where), unlimited)
  const seen = and([...visible(caller), readableKind(type, caller)])
  const ofAdministrator =
    set.of === 'everyone' && caller?.admin ? numberIn(reachedBy(list, false, undefined), seen) : undefined
  const having = exactly(reach({ ...list, labels, countsAll: true }))
  const { from, where } = labelledOnce(type, { titles: labels, state }, { all: true })
  const anywhere = sql`(select count(*) ${from} where ${where})`
  const limit = literal(most)
  // In a `case`, what decides nothing is not counted.
  const isEnough = sql`case when issues.number < ${limit} then false else issues.number - ${anywhere} >= ${limit} end`
  return sql`
    (
      select case when ${isEnough} then ${limit} else least(issues.number - ${having}, ${limit}) end
      from (select ${ofAdministrator ?? exactly(reach(list))} as number offset 0) as issues
    )
  `
}
