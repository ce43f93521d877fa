import type { Actor, Caller } from '../../../access/actor.ts'
import { featureLevels } from '../../../access/levels.ts'
import { everything, type List, type ListPart, type Matching } from '../../../api/list.ts'
import { and, join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { passedOn } from '../../../db/table-catalogue.ts'
import {
  byUpdateOf,
  featureOf,
  kindOf,
  lowestReader,
  notHidden,
  readableKind,
  readableRow,
  type ScheduledType,
  tableOf,
  updatesTableOf,
} from '../../discussion/index.ts'
import { numberFor, projectParts, within } from '../../namespaces/index.ts'
import { memberAtLeast, openVisibility, projectOf, visibleProjects, withinLimits } from '../../projects/index.ts'
import type { MatchingFilters, NoteableSet } from './filters.ts'
import { issuesIn } from './issue-number-queries.ts'
import { type Labelled, labelledBy, labelledOnce } from './label-queries.ts'
import { ownConfidential } from './own-confidential-queries.ts'
import { hasLabels, inRange, looksUpLabels, matchesText, type TimeRange } from './queries.ts'

/** What a list of noteables reads: the conditions of the caller's access, or the parts that imply them. */
type Reach = {
  /** `from <table> m join projects p …` */
  readonly from: Sql
  readonly where: readonly Sql[]
  readonly parts?: List['parts']
  readonly given?: List['given']
  readonly matching?: List['matching']
  readonly onePlan?: List['onePlan']
}

/** A list or total of noteables. */
type Wanted = {
  readonly type: ScheduledType
  readonly caller: Caller
  readonly set: NoteableSet
  /** The conditions of the filters. */
  readonly filters: readonly Sql[]
  /** The conditions lead to few noteables. */
  readonly few: boolean
  /** The filters leave confidential ones only. */
  readonly confidential?: boolean
  /** The order of the list, in which there is an index: by a time also of what is open to others, by state. Absent for totals. */
  readonly order?: 'created' | 'updated' | 'other' | undefined
  /** Leaves those that were last updated between these times; the conditions do not say so. */
  readonly updated?: TimeRange | undefined
  /** Leaves those with labels of these titles; the conditions of the filters do not say so. */
  readonly labels?: readonly string[] | undefined
  /** Leaves those that match this text; the conditions do not say so. */
  readonly search?: MatchingFilters['search'] | undefined
  /** The state that one of the filters requires; undefined if none does. */
  readonly state: string | undefined
}

type Reached = Wanted & {
  /** The table or view of the noteables `m`. */
  readonly rows: Sql
  /** The rows are those of the view. */
  readonly byUpdate: boolean
  /** The conditions of the filters without the one of `labels`, and that. */
  readonly others: readonly Sql[]
  readonly labelCondition: Sql | undefined
  /** As `filters` with the labels, which suits a total: PostgreSQL may start from them. */
  readonly counted: readonly Sql[]
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
  return { ...list, parts: countedAs(list, reachOf(wanted, true)), matching: updatedIn(wanted, updated, where) }
}

/** The parts of a list, of which the rows are counted as those of another one that has the same. */
function countedAs({ parts = [everything] }: Reach, other: Reach): NonNullable<List['parts']> {
  const others = other.parts ?? [everything]
  const made = parts.map((part, index) => {
    const { where, counted } = others[index]!
    return { ...part, counted: counted ?? { from: other.from, where: and([...other.where, where]) } }
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
    const byRareLabel = labels && !few ? partsByLabel(labelledBy(type, { titles: labels, state: wanted.state })) : {}
    return kindOf(type).hiddenBy
      ? { from, where: [...own, notHidden(type, caller)], ...byRareLabel }
      : { from: sql`from ${rows} m`, where: own, ...byRareLabel }
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
      where: [...readable, ...unarchived],
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
  if (caller !== null && !caller.admin) return reachInParts(reached, caller, from)
  if (!byLabel) return { from, where: readable }
  const labelled = labelledBy(type, { titles: byLabel, state: wanted.state })
  const all = { ...everything, counted: countedByLabel(reached, labelled, from, readableOnes) }
  const where = [...readableOnes, ...filtersBesideLabel(reached)]
  return { from, where, parts: [labelledPart(reached, labelled, all, [])], given: labelled.given }
}

/** The noteables of a project with labels: found by a label that few have anywhere, else in the order of the list. */
const partsByLabel = ({ given, few, common }: Labelled): Pick<Reach, 'given' | 'parts'> => ({
  given,
  parts: [{ where: sql`m.id = any(array(${few}))`, few: true }, { where: common }],
})

/** What a caller other than an administrator may read of all noteables. */
function reachInParts(reached: Reached, caller: Actor, from: Sql): Reach {
  const projects = [
    raw('not p.deleting'),
    sql`${feature(reached.type)} > ${featureLevels.disabled}`,
    ...(caller.limits ? [withinLimits(caller)] : []),
  ]
  const labelled = reached.order ? labelledApart(reached, caller) : undefined
  const where = [...projects, ...(labelled ? filtersBesideLabel(reached) : reached.filters)]
  const memberships = projectParts(caller, lowestReader(reached.type), raw('p.id'), raw('p.namespace_id'))
  const given = [
    listProjects(
      join(
        memberships.map((part) => sql`select p.id from projects p where ${part}`),
        ' union all ',
      ),
    ),
    ...(labelled ? [labelled.open.given, labelled.closed.given] : []),
  ]
  return {
    from,
    where,
    parts: partsOf(reached, caller, { projects, memberships, labelled }),
    given: join(given, ', '),
    onePlan: isPlannedOnce(reached) && !caller.limits,
  }
}

/** No filter leaves fewer than that of the state does, if there is one. */
const ofState = ({ filters, state }: Reached): boolean => filters.length === (state === undefined ? 0 : 1)

/** The plan is the same for all values: an index has the rows of the state in the order, if they are of one. */
const isPlannedOnce = (reached: Reached): boolean =>
  ofState(reached) && (reached.state === undefined || reached.order !== 'other')

/** Their numbers are stored by project. */
const isNumbered = (reached: Reached): boolean => reached.type === 'Issue' && ofState(reached)

/** The labelled noteables that are open to a caller, and the others: few of one of them may have a label that is common among the others. */
function labelledApart({ type, labels, state }: Reached, caller: Actor) {
  if (!labels) return undefined
  const open = openVisibility(caller)
  const search = { titles: labels, state }
  return {
    open: labelledBy(type, { ...search, audience: (audience) => sql`${audience} >= ${open}` }),
    closed: labelledBy(type, { ...search, audience: (audience) => sql`${audience} < ${open}` }, 'rarest_closed_label'),
  }
}

/** The condition of the only label. What is found by the label is not asked for it; parts that are found otherwise are. */
const onlyLabel = ({ labels, labelCondition }: Reached): readonly Sql[] =>
  labels?.length === 1 ? [labelCondition!] : []

const filtersBesideLabel = (reached: Reached): readonly Sql[] =>
  onlyLabel(reached).length > 0 ? reached.others : reached.filters

/** How many noteables of these projects the caller may read, where that is stored. */
function numberIn(reached: Reached, projects: Sql, hiddenOnly?: Sql): Sql | undefined {
  const { caller, state } = reached
  return isNumbered(reached) ? issuesIn({ caller, projects, hiddenOnly, state }) : undefined
}

/**
 * Projects of a caller or group from which on a part counts as crowded. With n of P projects and r noteables in each, reading in order
 * until `rows` are found takes `rows` · P / n rows, and sorting all takes n · r; PostgreSQL estimates P and r. With filters, above
 * all by labels, the first one takes longer.
 */
function manyProjects({ type, filters, labels }: Reached, rows: number): Sql {
  const factor = labels ? 16 : filters.length > 0 ? 4 : 1
  const many = sql`${literal(factor)} * p.reltuples * sqrt(${literal(rows)} / greatest(m.reltuples, 1))`
  return sql`
    (
      select greatest(200, least(5000, ${many}))::integer
      from pg_class p, pg_class m
      where p.oid = 'projects'::regclass and m.oid = '${tableOf(type)}'::regclass
    )
  `
}

/** The first rows of the table that meet conditions on `m`, with their projects. Looking these up keeps the planner in the order. */
const walked =
  (rows: Sql, where: readonly Sql[] = []) =>
  (range: Sql): Sql =>
    sql`from (select m${raw(passedOn)} from ${rows} m where ${and(where)} ${range}) as m cross join ${projectOf('m')}`

/**
 * The noteables of a part that have labels; the filters require them, too. `implied` are conditions on `m` that the part implies: an index by
 * time has the rows that meet them and are of the state, so that these alone are looked at.
 */
function labelledPart(reached: Reached, labelled: Labelled, part: ListPart, implied: readonly Sql[]): ListPart {
  const { order, state } = reached
  const inState = state === undefined ? [] : [sql`m.state = ${state}`]
  const asked = onlyLabel(reached)
  return {
    ...part,
    where: sql`${part.where} and m.id = any(array(${labelled.few} union all ${labelled.many}))`,
    few: true,
    crowded: {
      when: () => labelled.common,
      from: walked(reached.rows, order !== 'other' && implied.length > 0 ? [...implied, ...inState] : []),
      where: and([part.where, ...asked]),
    },
  }
}

/** Counts the noteables that meet conditions: few from their labels, else as PostgreSQL decides, which may start from the labels, too. */
function countedByLabel(
  { filters, counted }: Reached,
  { few, common }: Labelled,
  from: Sql,
  where: readonly Sql[],
): NonNullable<ListPart['counted']> {
  const fromLabels = sql`(select 1 ${from} where ${and([...where, ...filters, sql`m.id = any(array(${few}))`])})`
  const others = sql`(select 1 ${from} where ${and([common, ...where, ...counted])})`
  return { from: sql`from (${fromLabels} union all ${others}) as labelled`, where: raw('true') }
}

/** A common table expression: the projects from which the noteables of a part are read, each once. `rows` selects their `id`. */
const listProjects = (rows: Sql): Sql => sql`list_projects as materialized (${rows})`

/** An array leads to the projects, and they to the noteables, in every plan. */
const inListProjects = raw('p.id = any(array(select id from list_projects))')

/** The condition that a noteable of the `listProjects` was updated in the range: these are found in the table of times. */
function updatedInProjects({ type, byUpdate, few, updated = {} }: Reached): Sql[] {
  const times = inRange(raw('u.updated_at'), updated)
  if (byUpdate || few || times.length === 0) return []
  const inProjects = raw('u.project_id = any(array(select id from list_projects))')
  return [sql`m.id = any(array(select u.id from ${updatesTableOf(type)} u where ${and([inProjects, ...times])}))`]
}

/** The noteables of the `listProjects` that meet a condition, found from the projects if these are few. */
function partOfProjects(reached: Reached, condition = raw('true')): ListPart {
  const part = { where: and([condition, inListProjects, ...updatedInProjects(reached)]), few: true }
  if (!reached.order || reached.few) return part
  return {
    ...part,
    crowded: {
      when: (rows) => sql`(select count(*) from list_projects) >= ${manyProjects(reached, rows)}`,
      from: walked(reached.rows),
      // Looked up in a hash table before the project is: the planner makes a join of a bare `in`.
      where: sql`${condition} and coalesce(m.project_id in (select id from list_projects), false)`,
    },
  }
}

/** The project `p` belongs to the group or one below it. */
const inGroup = ({ traversalIds }: Extract<NoteableSet, { of: 'group' }>): Sql => sql`
  p.namespace_id = any(
    array(select d.id from namespaces d where ${within(raw('d.traversal_ids'), sql`${traversalIds}::bigint[]`)})
  )
`

const feature = (type: ScheduledType): Sql => raw(`p.${featureOf(type)}`)

/**
 * The noteables of projects that are open to the caller, those of the caller's projects, and the confidential ones that the caller
 * wrote or is assigned to elsewhere: `visibleProjects` and `readableRow` in parts.
 */
function partsOf(
  reached: Reached,
  caller: Actor,
  {
    projects,
    memberships,
    labelled,
  }: {
    readonly projects: readonly Sql[]
    readonly memberships: readonly Sql[]
    readonly labelled: ReturnType<typeof labelledApart>
  },
): List['parts'] {
  const { type, confidential = false } = reached
  const open = openVisibility(caller)
  const { enabled } = featureLevels
  const audience = sql`m.audience >= ${open}`
  const openProject = sql`p.visibility >= ${open} and ${feature(type)} >= ${enabled}`
  const openRows: ListPart = {
    where: sql`${audience} and ${openProject}`,
    ...(!caller.limits && openNumber(reached, open, labelled?.open)),
  }
  const everyones = labelled ? labelledPart(reached, labelled.open, openRows, [audience]) : openRows
  const closedRow = and([sql`m.audience < ${open}`, ...(kindOf(type).hiddenBy ? [notHidden(type, caller)] : [])])
  // Those of few are found by their labels, not by their projects.
  const asked = labelled ? onlyLabel(reached) : []
  const isClosed = labelled ? and([labelled.closed.common, closedRow, ...asked]) : closedRow
  const members: ListPart = {
    ...partOfProjects(reached, isClosed),
    number: numberIn(reached, and([...projects, inListProjects]), openProject),
  }
  const own: ListPart[] = kindOf(type).hiddenBy
    ? [
        {
          where: sql`
            m.id = any(array(${ownConfidential(type, caller)}))
            and ${and([openProject, ...asked])}
            and not ${memberAtLeast(caller, lowestReader(type))}
          `,
          few: true,
        },
      ]
    : []
  const ofLabel: ListPart[] = labelled
    ? [
        {
          where: sql`${closedRow} and (${join(memberships, ' or ')}) and m.id = any(array(${labelled.closed.few}))`,
          few: true,
        },
      ]
    : []
  const parts = [...(confidential ? [] : [everyones]), ...ofLabel, members, ...own]
  return parts as [ListPart, ...ListPart[]]
}

/** How many noteables are open to a caller: stored, or counted from fewer tables. `open` is the least audience of these. */
function openNumber(reached: Reached, open: Sql, labelled: Labelled | undefined): Pick<ListPart, 'counted' | 'number'> {
  const { type, rows, filters, counted, labels, state } = reached
  const audience = sql`m.audience >= ${open}`
  if (labels && filters.length === (state === undefined ? 1 : 2)) {
    const once = labelledOnce(type, { titles: labels, state, audience: (of) => sql`${of} >= ${open}` })
    return { counted: { from: sql`from (${once}) as m`, where: raw('true') } }
  }
  const from = sql`from ${rows} m`
  return {
    counted: labelled
      ? countedByLabel(reached, labelled, from, [audience])
      : { from, where: and([audience, ...counted]) },
    number: ofState(reached) ? numberFor(type, (of) => sql`${of} >= ${open}`, state) : undefined,
  }
}
