import type { Actor, Caller } from '../../../access/actor.ts'
import { featureLevels } from '../../../access/levels.ts'
import { countedRows, type List, type ListPart } from '../../../api/page.ts'
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
import type { NoteableSet } from './filters.ts'
import { issuesIn } from './issue-number-queries.ts'
import { type Labelled, labelledBy } from './label-queries.ts'
import { ownConfidential } from './own-confidential-queries.ts'

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
  /** The filters lead to few noteables. */
  readonly few: boolean
  /** The filters leave confidential ones only. */
  readonly confidential?: boolean
  /** There is an index of the table in the order of the list. */
  readonly ordered?: boolean
  /** The filters leave those with labels of these titles. */
  readonly labels?: readonly string[] | undefined
  /** The state that one of the filters requires; undefined if none does. */
  readonly state: string | undefined
}

/** The noteables `m` of a set that the caller may read, and that meet the filters. */
export function reach(reached: Reached): Reach {
  const { type, caller, set, filters, few, ordered = false, labels } = reached
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
    const part = partIn(reached, set)
    const number = numberIn(reached, and([...visible, readableKind(type, caller), ...unarchived, part.where]))
    return {
      from,
      where: [...readable, ...unarchived],
      parts: [{ ...part, number }],
      onePlan: ofTotal(isNumbered(reached)),
    }
  }
  const inParts =
    caller === null || caller.admin || few ? { from, where: readable } : reachInParts(reached, caller, from)
  if (!ordered || few || !labels) return inParts
  const labelled = labelledBy(type, labels)
  return { from, where: readable, parts: [partOfLabelled(type, labelled, inParts)], given: labelled.given }
}

/** What a caller other than an administrator may read of all noteables. */
function reachInParts(reached: Reached, caller: Actor, from: Sql): Reach {
  const projects = [
    raw('not p.deleting'),
    sql`${feature(reached.type)} > ${featureLevels.disabled}`,
    ...(caller.limits ? [withinLimits(caller)] : []),
  ]
  const where = [...projects, ...reached.filters]
  return {
    from,
    where,
    parts: partsOf(reached, caller, projects),
    onePlan: ofTotal(isNumbered(reached) && !caller.limits),
  }
}

const ofTotal = (numbered: boolean): List['onePlan'] => (numbered ? 'total' : undefined)

/** No filter leaves fewer than that of the state does, if there is one. */
const ofState = ({ filters, state }: Reached): boolean => filters.length === (state === undefined ? 0 : 1)

/** Their numbers are stored by project. */
const isNumbered = (reached: Reached): boolean => reached.type === 'Issue' && ofState(reached)

/** How many noteables of these projects the caller may read, where that is stored. */
function numberIn(reached: Reached, projects: Sql, hiddenOnly?: Sql): Sql | undefined {
  const { caller, state } = reached
  return isNumbered(reached) ? issuesIn({ caller, projects, hiddenOnly, state }) : undefined
}

/** About as many rows as a page needs. */
const pageRows = 32

/**
 * Projects of a caller or group from which on a part counts as crowded. With n of P projects and r noteables in each, reading in order
 * until a page is full takes `pageRows` · P / n rows, and sorting all takes n · r; PostgreSQL estimates P and r. With filters, above
 * all by labels, the first one takes longer.
 */
function manyProjects({ type, filters, labels }: Reached): Sql {
  const factor = labels ? 16 : filters.length > 0 ? 4 : 1
  const many = sql`${literal(factor)} * p.reltuples * sqrt(${literal(pageRows)} / greatest(m.reltuples, 1))`
  return sql`
    (
      select greatest(200, least(5000, ${many}))::integer
      from pg_class p, pg_class m
      where p.oid = 'projects'::regclass and m.oid = '${tableOf(type)}'::regclass
    )
  `
}

/** The first rows of the table, with their projects. `offset 0` keeps the planner from reading all projects, and from leaving the order. */
const walked =
  (type: ScheduledType) =>
  (range: Sql): Sql =>
    sql`
      from (select m${raw(passedOn)} from ${tableOf(type)} m ${range}) as m
        cross join lateral (select p${raw(passedOn)} from projects p where p.id = m.project_id offset 0) as p
    `

/** The noteables that have labels as one part, which is counted in the parts that it has without them. */
const partOfLabelled = (type: ScheduledType, { ids, common }: Labelled, { from, where, parts }: Reach): ListPart => ({
  where: sql`m.id = any(array(${ids}))`,
  few: true,
  crowded: { when: common, from: walked(type), where: raw('true') },
  counted: {
    from: sql`
      from (
        ${join(
          (parts ?? [{ where: raw('true') }]).map((part: ListPart) => {
            const counted = part.counted ?? { from, where: and([...where, part.where]) }
            return sql`(select 1 ${counted.from} where ${counted.where} limit ${literal(countedRows + 1)})`
          }),
          ' union all ',
        )}
      ) as labelled
    `,
    where: raw('true'),
  },
})

/** The part of these projects `p`, found from the index of projects if there are few. */
function partOfProjects(reached: Reached, where: Sql, projects: Sql, one: Sql): ListPart {
  if (!reached.ordered || reached.few) return { where, few: true }
  const many = manyProjects(reached)
  return {
    where,
    few: true,
    crowded: {
      when: sql`(select count(*) from (select from projects p where ${projects} limit ${many}) as counted) >= ${many}`,
      from: walked(reached.type),
      where: one,
    },
  }
}

function partIn(reached: Reached, { traversalIds }: Extract<NoteableSet, { of: 'group' }>): ListPart {
  const groups = sql`
    select d.id from namespaces d where ${within(raw('d.traversal_ids'), sql`${traversalIds}::bigint[]`)}
  `
  const inGroup = sql`p.namespace_id = any(array(${groups}))`
  return partOfProjects(reached, inGroup, inGroup, sql`p.namespace_id in (${groups})`)
}

const feature = (type: ScheduledType): Sql => raw(`p.${featureOf(type)}`)

/**
 * The noteables of projects that are open to the caller, those of the caller's projects, and the confidential ones that the caller
 * wrote or is assigned to elsewhere: `visibleProjects` and `readableRow` in parts.
 */
function partsOf(reached: Reached, caller: Actor, projects: readonly Sql[]): List['parts'] {
  const { type, filters, confidential = false, state } = reached
  const open = openVisibility(caller)
  const { enabled } = featureLevels
  const audience = sql`m.audience >= ${open}`
  const openProject = sql`p.visibility >= ${open} and ${feature(type)} >= ${enabled}`
  const everyones: ListPart = {
    where: sql`${audience} and ${openProject}`,
    ...(!caller.limits && {
      counted: { from: sql`from ${tableOf(type)} m`, where: and([audience, ...filters]) },
      number: ofState(reached) ? numberFor(type, open, state) : undefined,
    }),
  }
  const shown = kindOf(type).hiddenBy ? sql`and ${notHidden(type, caller)}` : raw('')
  const isClosed = sql`m.audience < ${open}`
  const members = projectParts(caller, lowestReader(type), raw('p.id'), raw('p.namespace_id')).map((part): ListPart => {
    // An array of the projects: they lead to the noteables in every plan.
    const closed = sql`${isClosed} and m.project_id = any(array(select p.id from projects p where ${part})) ${shown}`
    return {
      ...partOfProjects(reached, closed, part, sql`${isClosed} and ${part} ${shown}`),
      number: numberIn(reached, and([...projects, part]), openProject),
    }
  })
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
  const parts = [...(confidential ? [] : [everyones]), ...members, ...own]
  return parts as [ListPart, ...ListPart[]]
}
