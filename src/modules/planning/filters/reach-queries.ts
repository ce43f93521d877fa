import type { Actor, Caller } from '../../../access/actor.ts'
import { featureLevels } from '../../../access/levels.ts'
import { matchingParts } from '../../../api/matching-queries.ts'
import type { List, ListPart } from '../../../api/page.ts'
import { and, join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { passedOn } from '../../../db/table-catalogue.ts'
import {
  featureOf,
  kindOf,
  lowestReader,
  notHidden,
  readableKind,
  readableRow,
  type ScheduledType,
  tableOf,
} from '../../discussion/index.ts'
import { projectParts, within } from '../../namespaces/index.ts'
import { memberAtLeast, openVisibility, visibleProjects, withinLimits } from '../../projects/index.ts'
import { numberFor } from './audience-queries.ts'
import type { MatchingFilters, NoteableSet } from './filters.ts'
import { issuesIn } from './issue-number-queries.ts'
import { type Labelled, labelledBy, labelledOnce } from './label-queries.ts'
import { ownConfidential } from './own-confidential-queries.ts'
import { hasLabels, looksUpLabels, matchesText } from './queries.ts'

/** What a list of noteables reads: the conditions of the caller's access, or the parts that imply them. */
type Reach = {
  /** `from <table> m join projects p …` */
  readonly from: Sql
  readonly where: readonly Sql[]
  readonly parts?: List['parts']
  readonly given?: List['given']
  readonly onePlan?: List['onePlan']
}

type Reached = {
  readonly type: ScheduledType
  readonly caller: Caller
  readonly set: NoteableSet
  /** The conditions of the filters. */
  readonly filters: readonly Sql[]
  /** The conditions lead to few noteables. */
  readonly few: boolean
  /** The filters leave confidential ones only. */
  readonly confidential?: boolean
  /** There is an index of the table in the order of the list. */
  readonly ordered?: boolean
  /** Leaves those with labels of these titles; the conditions of the filters do not say so. */
  readonly labels?: readonly string[] | undefined
  /** Leaves those that match this text; the conditions do not say so. */
  readonly search?: MatchingFilters['search'] | undefined
  /** The state that one of the filters requires; undefined if none does. */
  readonly state: string | undefined
}

/** The noteables `m` of a set that the caller may read, and that meet the filters. */
export function reach(given: Reached): Reach {
  const { type, caller, set, labels, state } = given
  const matches = given.search && matchesText(given.search)
  const bySearch = set.of === 'everyone' && !given.few ? matches : undefined
  const few = given.few || matches !== undefined
  const byLabel = set.of === 'everyone' && given.ordered && !few ? labels : undefined
  const filters = [
    ...given.filters,
    ...(labels ? [(byLabel ? looksUpLabels : hasLabels)(type, labels)] : []),
    ...(matches && !bySearch ? [matches] : []),
  ]
  const reached = { ...given, few, filters }
  const from = sql`from ${tableOf(type)} m join projects p on p.id = m.project_id`
  if (set.of === 'project') {
    const own = [sql`m.project_id = ${set.id}`, ...filters]
    return kindOf(type).hiddenBy
      ? { from, where: [...own, notHidden(type, caller)] }
      : { from: sql`from ${tableOf(type)} m`, where: own }
  }
  const visible = [raw('not p.deleting'), visibleProjects(caller)]
  const readable = [...visible, readableRow(type, caller), ...filters]
  if (set.of === 'group') {
    const unarchived = set.archived ? [] : [raw('not p.archived')]
    const part = partOfProjects(reached, inGroup(set))
    const number = numberIn(reached, and([...visible, readableKind(type, caller), ...unarchived, inGroup(set)]))
    return {
      from,
      where: [...readable, ...unarchived],
      parts: [{ ...part, number }],
      onePlan: ofState(reached),
    }
  }
  if (bySearch) {
    const table = sql`${tableOf(type)} m`
    const parts = matchingParts({
      table,
      key: raw('m.id'),
      condition: bySearch,
      walked: walked(type, ofStateOnly(state)),
    })
    return { from, where: readable, ...parts }
  }
  if (few) return { from, where: readable }
  if (caller !== null && !caller.admin) return reachInParts(reached, caller, from)
  if (!byLabel) return { from, where: readable }
  const labelled = labelledBy(type, { titles: byLabel, state })
  const everything = { where: raw('true'), counted: { from, where: and(readable) } }
  return { from, where: readable, parts: [labelledPart(reached, labelled, everything, [])], given: labelled.given }
}

/** What a caller other than an administrator may read of all noteables. */
function reachInParts(reached: Reached, caller: Actor, from: Sql): Reach {
  const projects = [
    raw('not p.deleting'),
    sql`${feature(reached.type)} > ${featureLevels.disabled}`,
    ...(caller.limits ? [withinLimits(caller)] : []),
  ]
  const where = [...projects, ...reached.filters]
  const labelled = reached.ordered ? labelledApart(reached, caller) : undefined
  return {
    from,
    where,
    parts: partsOf(reached, caller, projects, labelled),
    ...(labelled && { given: sql`${labelled.open.given}, ${labelled.closed.given}` }),
    onePlan: ofState(reached) && !caller.limits,
  }
}

/** No filter leaves fewer than that of the state does, if there is one. */
const ofState = ({ filters, state }: Reached): boolean => filters.length === (state === undefined ? 0 : 1)

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

/**
 * The first rows of the table that meet conditions on `m`, with their projects. `offset 0` keeps the planner from reading all projects, and
 * from leaving the order.
 */
const walked =
  (type: ScheduledType, where: readonly Sql[] = []) =>
  (range: Sql): Sql =>
    sql`
      from (select m${raw(passedOn)} from ${tableOf(type)} m where ${and([raw('true'), ...where])} ${range}) as m
        cross join lateral (select p${raw(passedOn)} from projects p where p.id = m.project_id offset 0) as p
    `

const ofStateOnly = (state: string | undefined): Sql[] => (state === undefined ? [] : [sql`m.state = ${state}`])

/** The noteables of a part that have labels; the filters require them, too. `rows` are conditions on `m` that the part implies. */
const labelledPart = (
  { type, state }: Reached,
  labelled: Labelled,
  part: ListPart,
  rows: readonly Sql[],
): ListPart => ({
  ...part,
  where: sql`${part.where} and m.id = any(array(${labelled.few} union all ${labelled.many}))`,
  few: true,
  crowded: {
    when: () => labelled.common,
    from: walked(type, [...rows, ...ofStateOnly(state)]),
    where: part.where,
  },
})

/** The noteables of these projects `p` that meet a condition, found from the projects if these are few. */
function partOfProjects(reached: Reached, projects: Sql, condition = raw('true')): ListPart {
  const ids = sql`select p.id from projects p where ${projects}`
  // An array leads to the projects, and they to the noteables, in every plan.
  const part = { where: sql`${condition} and p.id = any(array(${ids}))`, few: true }
  if (!reached.ordered || reached.few) return part
  const number = (rows: number): Sql => {
    const many = manyProjects(reached, rows)
    return sql`(select count(*) from (select from projects p where ${projects} limit ${many}) as counted) >= ${many}`
  }
  return {
    ...part,
    crowded: {
      when: number,
      from: walked(reached.type),
      // Looked up in a hash table before the project is: the planner makes a join of a bare `in`.
      where: sql`${condition} and coalesce(m.project_id in (${ids}), false)`,
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
  projects: readonly Sql[],
  labelled: ReturnType<typeof labelledApart>,
): List['parts'] {
  const { type, confidential = false } = reached
  const open = openVisibility(caller)
  const { enabled } = featureLevels
  const audience = sql`m.audience >= ${open}`
  const openProject = sql`p.visibility >= ${open} and ${feature(type)} >= ${enabled}`
  const openRows: ListPart = {
    where: sql`${audience} and ${openProject}`,
    ...(!caller.limits && openNumber(reached, open)),
  }
  const everyones = labelled ? labelledPart(reached, labelled.open, openRows, [audience]) : openRows
  const closedRow = and([sql`m.audience < ${open}`, ...(kindOf(type).hiddenBy ? [notHidden(type, caller)] : [])])
  // Those of few are found by their labels, not by their projects.
  const isClosed = labelled ? sql`${labelled.closed.common} and ${closedRow}` : closedRow
  const memberships = projectParts(caller, lowestReader(type), raw('p.id'), raw('p.namespace_id'))
  const members = memberships.map(
    (part): ListPart => ({
      ...partOfProjects(reached, part, isClosed),
      number: numberIn(reached, and([...projects, part]), openProject),
    }),
  )
  const own: ListPart[] = kindOf(type).hiddenBy
    ? [
        {
          where: sql`
            m.id = any(array(${ownConfidential(type, caller)}))
            and ${openProject}
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
  const parts = [...(confidential ? [] : [everyones]), ...ofLabel, ...members, ...own]
  return parts as [ListPart, ...ListPart[]]
}

/** How many noteables are open to a caller: stored, or counted from fewer tables. `open` is the least audience of these. */
function openNumber(reached: Reached, open: Sql): Pick<ListPart, 'counted' | 'number'> {
  const { type, filters, labels, state } = reached
  const audience = sql`m.audience >= ${open}`
  if (labels && filters.length === (state === undefined ? 1 : 2)) {
    const once = labelledOnce(type, { titles: labels, state, audience: (of) => sql`${of} >= ${open}` })
    return { counted: { from: sql`from (${once}) as m`, where: raw('true') } }
  }
  return {
    counted: { from: sql`from ${tableOf(type)} m`, where: and([audience, ...filters]) },
    number: ofState(reached) ? numberFor(type, open, state) : undefined,
  }
}
