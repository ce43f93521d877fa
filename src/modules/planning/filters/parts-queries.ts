import type { Actor, Caller } from '../../../access/actor.ts'
import { featureLevels } from '../../../access/levels.ts'
import type { List, ListPart, Preceding, Scanned } from '../../../api/list.ts'
import { and, join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { passedOn } from '../../../db/table-catalogue.ts'
import {
  featureOf,
  kindOf,
  lowestReader,
  notHidden,
  type ScheduledType,
  tableOf,
  updatesTableOf,
} from '../../discussion/index.ts'
import { numberFor, projectParts } from '../../namespaces/index.ts'
import { memberAtLeast, openVisibility, projectOf, withinLimits } from '../../projects/index.ts'
import type { MatchingFilters, NoteableSet } from './filters.ts'
import { issuesIn } from './issue-number-queries.ts'
import { isAmongLabelled, labelledOnce, veryMany } from './label-queries.ts'
import { ownConfidential } from './own-confidential-queries.ts'
import { inRange, type Narrowing, type TimeRange } from './queries.ts'

/*
 * Words of these files ([ADR 24](docs/adr/0024-lists-in-parts.md)); `api/list.ts` has the types.
 *
 * - Wanted: the list or total that is asked for. Reached: the same with the tables and conditions that lead to its rows. Reach: how it is read.
 * - part: some rows of a list, which no other part has, read by themselves up to the end of the page.
 * - few rows: all are read, and then sorted. Rows that are not few are read in the order of the list until the page is full.
 * - few, many and very many noteables with a label: less than 1,000, whose ids are read first; less than 20,000, whose ids fit into a hash table; and
 *   more, of which each noteable is asked for its labels.
 * - walked: rows of the whole table, read in the order of the list and checked one by one, up to a limit.
 * - crowded: a part that is read as few, but has more rows than pay to be sorted; the table is walked first.
 * - scanned: a part for which the whole table is read, in any order, because what leads to its rows takes longer.
 * - own, of a part: tables and conditions of its own, instead of those of the list. Of a caller: confidential issues that they wrote or are assigned to.
 * - preceding: rows of the other parts that come before the last row of the page; that row is of the first part, of what is open to the caller.
 */

/** A list or total of noteables. */
export type Wanted = {
  readonly type: ScheduledType
  readonly caller: Caller
  readonly set: NoteableSet
  /** The conditions of the filters. */
  readonly filters: readonly Sql[]
  /** The conditions lead to few noteables. */
  readonly few: boolean
  /** An index finds those that meet one of the conditions, which may be few or many. */
  readonly indexed?: Narrowing | undefined
  /** The filters leave confidential ones only. */
  readonly confidential?: boolean
  /** The order of the list, in which there is an index: by a time also of what is open to others, by state. Absent for totals. */
  readonly order?: 'created' | 'updated' | 'other' | undefined
  /** Leaves those that were last updated between these times; the conditions do not say so. */
  readonly updated?: TimeRange | undefined
  /** Leaves those with labels of these titles; the conditions of the filters do not say so. */
  readonly labels?: readonly string[] | undefined
  /** All that have the labels are counted, however many these are. */
  readonly countsAll?: boolean
  /** Leaves those that match this text; the conditions do not say so. */
  readonly search?: MatchingFilters['search'] | undefined
  /** The state that one of the filters requires; undefined if none does. */
  readonly state: string | undefined
}

export type Reached = Wanted & {
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

/** No filter leaves fewer than that of the state does, if there is one. */
export const ofState = ({ filters, state }: Pick<Reached, 'filters' | 'state'>): boolean =>
  filters.length === (state === undefined ? 0 : 1)

/** The same of the filters beside those of labels. */
const ofStateAndLabels = ({ others, state }: Reached): boolean => ofState({ filters: others, state })

/**
 * The plan is the same for all values: an index has the rows of the state in the order, if they are of one. Labels are looked up or asked
 * for in every plan.
 */
export const isPlannedOnce = (reached: Reached): boolean => ofStateAndLabels(reached) && !reached.caller?.limits

/** Their numbers are stored by project. */
const isNumbered = (reached: Reached): boolean => reached.type === 'Issue' && ofState(reached)

/** How many noteables of these projects the caller may read, where that is stored. */
export function numberIn(reached: Reached, projects: Sql, hiddenOnly?: Sql): Sql | undefined {
  const { caller, state } = reached
  return isNumbered(reached) ? issuesIn({ caller, projects, hiddenOnly, state }) : undefined
}

/** What PostgreSQL estimates: `p.reltuples` projects and `m.reltuples` noteables. */
const fromSizes = (type: ScheduledType): Sql => sql`
  from pg_class p, pg_class m where p.oid = 'projects'::regclass and m.oid = '${tableOf(type)}'::regclass
`

/**
 * Projects of a caller or group from which on a part counts as crowded. With n of P projects and r noteables in each, reading in order
 * until `rows` are found takes `rows` · P / n rows, and sorting all takes n · r; PostgreSQL estimates P and r. With filters, the first one takes
 * longer. If `labelled` of N have the labels, it takes N / `labelled` times as many rows, but asking one of the others for its labels takes as long as
 * thirty of them.
 */
function manyProjects({ type, filters, labels }: Reached, rows: number, labelled?: number): Sql {
  const usual = literal(labels ? 16 : filters.length > 0 ? 4 : 1)
  const factor = labelled ? sql`greatest(1, sqrt(0.03 * m.reltuples / ${labelled}::double precision))` : usual
  const many = sql`${factor} * p.reltuples * sqrt(${rows}::double precision / greatest(m.reltuples, 1))`
  return sql`(select greatest(200, least(5000, ${many}))::integer ${fromSizes(type)})`
}

/** Noteables, of which few meet the conditions, with their projects. */
export const withEachProject = (rows: Sql): Sql => sql`from ${rows} m cross join ${projectOf('m')}`

/** The first rows of the table that meet conditions on `m`. */
export const walkedAlone =
  (rows: Sql, where: readonly Sql[]) =>
  (range: Sql): Sql =>
    sql`from (select m${raw(passedOn)} from ${rows} m where ${and(where)} ${range}) as m`

/** The same with their projects. Looking these up keeps the planner in the order. */
export const walked =
  (rows: Sql, where: readonly Sql[] = []) =>
  (range: Sql): Sql =>
    sql`${walkedAlone(rows, where)(range)} cross join ${projectOf('m')}`

/** A common table expression: the projects from which the noteables of a part are read, each once. `rows` selects their `id`. */
export const listProjects = (rows: Sql): Sql => sql`list_projects as materialized (${rows})`

/** An array leads to the projects, and they to the noteables, in every plan. */
export const inListProjects = raw('p.id = any(array(select id from list_projects))')

/**
 * The noteables of the `listProjects`, looked up from these: with further conditions PostgreSQL might start from one of those, and then look for each
 * project among thousands. What was updated in a range is found in the table of times.
 */
function fromListProjects({ type, rows, byUpdate, others, updated = {} }: Reached): Sql {
  // Conditions within lead to the rows of a project, such as by their numbers.
  const looked = (where: Sql) =>
    sql`lateral (select m${raw(passedOn)} from ${rows} m where ${and([where, ...others])} offset 0) as m`
  const times = inRange(raw('u.updated_at'), updated)
  const updates = and([raw('u.project_id = p.id'), ...times])
  return sql`
    from list_projects
      cross join lateral (select p${raw(passedOn)} from projects p where p.id = list_projects.id offset 0) as p
      cross join ${
        byUpdate || times.length === 0
          ? looked(raw('m.project_id = p.id'))
          : sql`
            lateral (select u.id from ${updatesTableOf(type)} u where ${updates} offset 0) as u
              cross join ${looked(raw('m.id = u.id'))}
          `
      }
  `
}

/** Rows of a table that are looked at in the time in which those of one project are looked up. */
const scannedForOne = 16

/** The noteables of the `listProjects` among all, if there are more of these projects than pay to be looked up one by one. */
function amongAll({ type, others }: Reached): Scanned {
  const inProjects = raw('coalesce(m.project_id in (select id from list_projects), false)')
  const rows = sql`select m${raw(passedOn)} from ${tableOf(type)} m where ${and([inProjects, ...others])} offset 0`
  return {
    when: sql`
      (
        select m.reltuples between 0 and ${literal(scannedForOne)} * (
          select count(*) from list_projects
        ) ${fromSizes(type)}
      )
    `,
    from: sql`from (${rows}) as m join projects p on p.id = m.project_id`,
  }
}

/**
 * Projects of a caller or group from which on their noteables with labels are found in a hash table of all that have these. With n of P
 * projects, of N noteables, n · N / P are asked for their labels otherwise, each of which takes fourteen times as long as an entry of the table. Of
 * very many, or where their number is not known, one in eight is expected to have the labels.
 */
function projectsOfHash(type: ScheduledType, labelled = veryMany): Sql {
  const share =
    labelled < veryMany ? sql`${labelled}::double precision / greatest(m.reltuples, 1)` : raw('0.125::double precision')
  return sql`
    (select greatest(${literal(labelled < veryMany ? 20 : 500)}, p.reltuples * ${share} / 14) ${fromSizes(type)})
  `
}

/** The condition that a noteable of the `listProjects` has the labels. */
function labelledInProjects(
  { type, few, labels, state, labelCondition }: Reached,
  ofAudience?: Access['isOpen'],
  labelled?: number,
) {
  if (!labels || few) return []
  const search = { titles: labels, state, ...(ofAudience && { audience: ofAudience }) }
  return [
    sql`
      case
        when (
          select count(*) from list_projects
        ) >= ${projectsOfHash(type, labelled)} then ${isAmongLabelled(type, search)}
        else ${labelCondition!}
      end
    `,
  ]
}

/**
 * The noteables of the `listProjects` that meet a condition and have the labels, found from the projects if these are few. `labelled` is how many of the audience
 * have the labels, if that is known.
 */
export function partOfProjects(
  reached: Reached,
  condition = raw('true'),
  ofAudience?: Access['isOpen'],
  labelled?: number,
): ListPart {
  const { type } = reached
  const filters = labelledInProjects(reached, ofAudience, labelled)
  const part: ListPart =
    reached.few || ofStateAndLabels(reached)
      ? { where: and([condition, inListProjects, ...filters]), few: true }
      : {
          where: and([condition, ...filters]),
          few: true,
          own: { from: fromListProjects(reached) },
          scanned: amongAll(reached),
        }
  if (!reached.order || reached.few) return part
  return {
    ...part,
    crowded: {
      when: (rows) => sql`(select count(*) from list_projects) >= ${manyProjects(reached, rows, labelled)}`,
      // Only times of update are in an index of the view.
      from: walked(reached.order === 'updated' ? reached.rows : tableOf(type)),
      where: and([
        condition,
        // Looked up in a hash table before the project is: the planner makes a join of a bare `in`.
        raw('coalesce(m.project_id in (select id from list_projects), false)'),
        ...(reached.labelCondition ? [reached.labelCondition] : []),
      ]),
      // All that have the labels take long to find.
      ...(reached.labels && { among: 1024 }),
    },
  }
}

const feature = (type: ScheduledType): Sql => raw(`p.${featureOf(type)}`)

/** What leads to the noteables that a caller other than an administrator may read. */
export type Access = {
  /** Conditions on the project of each of them. */
  readonly projects: readonly Sql[]
  /** A common table expression: the projects of the caller. */
  readonly given: Sql
  /** A condition on the project: it is open to the caller, with its noteables that are not confidential. */
  readonly openProject: Sql
  /** A condition on an audience: the noteable is open to the caller. */
  readonly isOpen: (audience: Sql) => Sql
  /** The part of those that are open to the caller and meet conditions, without `number` and `counted`, which say how many they are. */
  readonly open: (filters: readonly Sql[]) => ListPart
  /** A condition on the others that are not confidential. */
  readonly isClosed: Sql
  /** Conditions on the projects of the caller, disjoint. */
  readonly memberships: readonly Sql[]
  /** Those of the caller's projects that meet a condition. `labelled` of them, in all projects, have the labels, if that is known. */
  readonly members: (condition: Sql, labelled?: number) => ListPart
  /** The confidential ones that the caller wrote or is assigned to elsewhere. */
  readonly own: (conditions: readonly Sql[]) => readonly ListPart[]
}

/** `visibleProjects` and `readableRow` in parts. */
export function accessOf(reached: Reached, caller: Actor): Access {
  const { type, rows } = reached
  const open = openVisibility(caller)
  const isOpen = (audience: Sql) => sql`${audience} >= ${open}`
  const openProject = sql`p.visibility >= ${open} and ${feature(type)} >= ${featureLevels.enabled}`
  const limits = caller.limits ? [withinLimits(caller)] : []
  const projects = [raw('not p.deleting'), sql`${feature(type)} > ${featureLevels.disabled}`, ...limits]
  const memberships = projectParts(caller, lowestReader(type), raw('p.id'), raw('p.namespace_id'))
  const closedTo = (audience: Sql) => sql`${audience} < ${open}`
  const audience = isOpen(raw('m.audience'))
  return {
    projects,
    given: listProjects(
      join(
        memberships.map((part) => sql`select p.id from projects p where ${part}`),
        ' union all ',
      ),
    ),
    openProject,
    isOpen,
    // The audience says it all, so that an index is enough.
    open: (filters) =>
      caller.limits
        ? { where: sql`${audience} and ${openProject}` }
        : { where: audience, own: { from: sql`from ${rows} m`, where: and(filters) } },
    isClosed: and([closedTo(raw('m.audience')), ...(kindOf(type).hiddenBy ? [notHidden(type, caller)] : [])]),
    memberships,
    members: (condition, labelled) => ({
      ...partOfProjects(reached, condition, closedTo, labelled),
      number: numberIn(reached, and([...projects, inListProjects]), openProject),
    }),
    own: (conditions) =>
      kindOf(type).hiddenBy
        ? [
            {
              where: sql`
                m.id = any(array(${ownConfidential(type, caller)}))
                and ${and([openProject, ...conditions])}
                and not ${memberAtLeast(caller, lowestReader(type))}
              `,
              few: true,
            },
          ]
        : [],
  }
}

/** What a caller other than an administrator may read of all noteables. */
export function partsOf(reached: Reached, caller: Actor): Pick<List, 'parts' | 'given' | 'onePlan'> & { where: Sql[] } {
  const { confidential = false, labelCondition } = reached
  // Parts are found by labels or asked for them, unless a token has limits: it leaves few.
  const filters = caller.limits ? reached.filters : reached.others
  const access = accessOf(reached, caller)
  const { projects, given, isOpen, open, isClosed, members, own } = access
  const openPart = {
    ...open(filters),
    ...(!caller.limits && { ...openNumber(reached, isOpen), preceding: precedingOf(reached, access) }),
  }
  const ownLabelled = labelCondition ? [labelCondition] : []
  const parts = [...(confidential ? [] : [openPart]), members(isClosed), ...own(ownLabelled)]
  return {
    where: [...projects, ...filters],
    parts: parts as [ListPart, ...ListPart[]],
    given,
    onePlan: isPlannedOnce(reached),
  }
}

/**
 * The noteables that are not open to a caller who may read them, among the first ones in the order of a time. There are as many more of these than rows of the page as
 * there are more noteables than open ones of the state. To find and sort those of a project takes as long as to look up two projects.
 */
function precedingOf(reached: Reached, access: Access): Preceding | undefined {
  const { type, rows, order, state } = reached
  if (order === undefined || order === 'other') return undefined
  const { isOpen, isClosed, openProject, memberships } = access
  const opened = sql`greatest(1, ${numberFor(type, isOpen, state)})`
  const enough = (rows: number) => sql`
    (select least(5000, 20 + ${rows} * greatest(m.reltuples, 1) / ${opened} / 2)::integer ${fromSizes(type)})
  `
  const isReader = join([...memberships, ...(kindOf(type).hiddenBy ? [openProject] : [])], ' or ')
  return {
    when: (rows) => sql`exists (select from list_projects offset ${enough(rows)})`,
    from: walked(rows),
    where: sql`${isClosed} and (${isReader})`,
  }
}

/** How many noteables are open to a caller: stored, or counted from labels. */
function openNumber(reached: Reached, isOpen: Access['isOpen']): Pick<ListPart, 'counted' | 'number'> {
  const { type, labels, state } = reached
  if (labels) return { counted: countedByLabels(reached, isOpen) }
  return { number: ofState(reached) ? numberFor(type, isOpen, state) : undefined }
}

/** Those that are open to a caller and have labels, to be counted. */
export function countedByLabels(reached: Reached, isOpen: Access['isOpen']): NonNullable<ListPart['counted']> {
  const { type, rows, counted, labels, state, countsAll: all = false } = reached
  // Labels and a state are enough, so that an index of labels is.
  if (ofStateAndLabels(reached)) {
    return labelledOnce(type, { titles: labels!, state, audience: isOpen }, { all })
  }
  return { from: sql`from ${rows} m`, where: and([isOpen(raw('m.audience')), ...counted]) }
}
