import { everything, type List, type ListPart, type Matching } from '../../../api/list.ts'
import { and, raw, type Sql, sql } from '../../../db/sql.ts'
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
import { isAmongLabelled } from './label-queries.ts'
import { labelledEverything, labelledOfProject, labelledParts } from './labelled-queries.ts'
import {
  inListProjects,
  isPlannedOnce,
  listProjects,
  numberIn,
  ofState,
  partOfProjects,
  partsOf,
  type Wanted,
  walked,
} from './parts-queries.ts'
import { hasLabels, inRange, looksUpLabels, matchesText, type TimeRange } from './queries.ts'

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
}

const isFilteredByTime = ({ updated = {} }: Wanted): boolean => Object.keys(updated).length > 0

/** Whether a list starts from times of update. Few noteables are found by other columns, and sorted. */
function startsFromUpdates(wanted: Wanted): boolean {
  const { set, few, order, search } = wanted
  if (search) return order === 'updated' && set.of === 'everyone' && !few
  return !few && (order === 'updated' || (isFilteredByTime(wanted) && (order === undefined || set.of === 'group')))
}

/** How few that were updated in a range are found, for lists in another order; many are checked in that order. */
function updatedIn({ type, set }: Wanted, range: TimeRange, where: readonly Sql[]): Matching {
  const ofProject = set.of === 'project' ? [sql`m.project_id = ${set.id}`] : []
  return {
    table: sql`${updatesTableOf(type)} m`,
    key: raw('m.id'),
    condition: and([...ofProject, ...inRange(raw('m.updated_at'), range)]),
    whereFew: where,
  }
}

/** The noteables `m` of a set that the caller may read, and that meet the filters. */
export function reach(wanted: Wanted): Reach {
  const { few, search, updated = {} } = wanted
  const byUpdate = startsFromUpdates(wanted)
  const list = reachOf(wanted, byUpdate)
  if (byUpdate || few || search || !isFilteredByTime(wanted)) return list
  const { where } = reachOf({ ...wanted, few: true }, false)
  const matching = updatedIn(wanted, updated, where)
  return list.decide ? { ...list, matching } : { ...list, parts: countedAs(list, reachOf(wanted, true)), matching }
}

/** The parts of a list, of which the rows are counted as those of another one that has the same. */
function countedAs({ parts = [everything] }: Reach, other: Reach): NonNullable<List['parts']> {
  const others = other.parts ?? [everything]
  const made = parts.map((part, index) => {
    const { where, counted, own = { from: other.from, where: and(other.where) } } = others[index]!
    return { ...part, counted: counted ?? { from: own.from, where: and([own.where, where]) } }
  })
  return made as [ListPart, ...ListPart[]]
}

function reachOf(wanted: Wanted, byUpdate: boolean): Reach {
  const { type, caller, set, labels, search } = wanted
  const matches = search && matchesText(search)
  const bySearch = set.of === 'everyone' && !wanted.few ? matches : undefined
  const few = wanted.few || matches !== undefined
  const byLabel = set.of === 'everyone' && wanted.order && !few ? labels : undefined
  const rows = (byUpdate ? byUpdateOf : tableOf)(type)
  const range = wanted.updated ?? {}
  const others = [...wanted.filters, ...inRange(raw('m.updated_at'), range), ...(matches && !bySearch ? [matches] : [])]
  const counted = [...others, ...(labels ? [hasLabels(type, labels)] : [])]
  const labelCondition = labels && looksUpLabels(type, labels)
  const filters = [...others, ...(labelCondition ? [labelCondition] : [])]
  const reached = { ...wanted, few, rows, byUpdate, filters, others, labelCondition, counted }
  const from = sql`from ${rows} m join projects p on p.id = m.project_id`
  if (set.of === 'project') {
    const own = [sql`m.project_id = ${set.id}`, ...filters]
    const list = kindOf(type).hiddenBy
      ? { from, where: [...own, notHidden(type, caller)] }
      : { from: sql`from ${rows} m`, where: own }
    return labels && !few ? { ...list, decide: (db) => labelledOfProject(db, reached, list.where) } : list
  }
  const visible = [raw('not p.deleting'), visibleProjects(caller)]
  const readableOnes = [...visible, readableRow(type, caller)]
  const readable = [...readableOnes, ...filters]
  if (set.of === 'group') {
    const unarchived = set.archived ? [] : [raw('not p.archived')]
    const projects = sql`select p.id from projects p where ${inGroup(set)}`
    const number = numberIn(reached, and([...visible, readableKind(type, caller), ...unarchived, inListProjects]))
    return {
      from,
      // The part of a total has the condition on labels.
      where: [...readableOnes, ...(wanted.order || few ? filters : others), ...unarchived],
      parts: [{ ...partOfProjects(reached), number }],
      given: listProjects(projects),
      onePlan: isPlannedOnce(reached),
    }
  }
  if (bySearch) {
    const table = sql`${tableOf(type)} m`
    // Counted with labels that the planner may start from.
    const total = { from, where: and([...readableOnes, ...counted, bySearch]) }
    const matching = {
      ...{ table, key: raw('m.id'), condition: bySearch, walked: walked(rows) },
      ...(labels && { counted: total }),
    }
    return { from, where: readable, matching, onePlan: ofState(reached) }
  }
  if (few) return { from, where: readable }
  const inParts = caller !== null && !caller.admin
  if (!byLabel && inParts) return { from, ...partsOf(reached, caller) }
  if (!byLabel) {
    const labelled = labels ? [isAmongLabelled(type, { titles: labels, state: wanted.state })] : []
    return { from, where: [...readableOnes, ...others, ...labelled] }
  }
  const decide: Reach['decide'] = inParts
    ? (db) => labelledParts(db, reached, caller, readable)
    : (db) => labelledEverything(db, reached, { from, where: readableOnes })
  return { from, where: readable, decide, onePlan: isPlannedOnce(reached) }
}

/** The project `p` belongs to the group or one below it. */
const inGroup = ({ traversalIds }: Extract<NoteableSet, { of: 'group' }>): Sql => sql`
  p.namespace_id = any(array(${idsInside(traversalIds)}))
`
