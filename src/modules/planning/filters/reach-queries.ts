import type { Actor, Caller } from '../../../access/actor.ts'
import { featureLevels } from '../../../access/levels.ts'
import type { List, ListPart } from '../../../api/page.ts'
import { and, join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import {
  assigneesTableOf,
  columnOf,
  featureOf,
  kindOf,
  lowestReader,
  notHidden,
  readableRow,
  type ScheduledType,
  tableOf,
} from '../../discussion/index.ts'
import { projectParts, within } from '../../namespaces/index.ts'
import { memberAtLeast, openVisibility, visibleProjects, withinLimits } from '../../projects/index.ts'
import type { NoteableSet } from './filters.ts'

/** What a list of noteables reads: the conditions of the caller's access, or the parts that imply them. */
type Reach = {
  /** `from <table> m join projects p …` */
  readonly from: Sql
  readonly where: readonly Sql[]
  readonly parts?: List['parts']
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
}

/** The noteables `m` of a set that the caller may read, and that meet the filters. */
export function reach(reached: Reached): Reach {
  const { type, caller, set, filters, few } = reached
  const from = sql`from ${tableOf(type)} m join projects p on p.id = m.project_id`
  if (set.of === 'project') {
    const own = [sql`m.project_id = ${set.id}`, ...filters]
    return kindOf(type).hiddenBy
      ? { from, where: [...own, notHidden(type, caller)] }
      : { from: sql`from ${tableOf(type)} m`, where: own }
  }
  if (caller !== null && !caller.admin && set.of === 'everyone' && !few)
    return {
      from,
      where: [
        raw('not p.deleting'),
        sql`${feature(type)} > ${featureLevels.disabled}`,
        ...(caller.limits ? [withinLimits(caller)] : []),
        ...filters,
      ],
      parts: partsOf(reached, caller),
    }
  const readable = [raw('not p.deleting'), visibleProjects(caller), readableRow(type, caller), ...filters]
  if (set.of === 'everyone') return { from, where: readable }
  return { from, where: [...readable, ...(set.archived ? [] : [raw('not p.archived')])], parts: [partIn(reached, set)] }
}

/** Projects of a caller or group from which on a part counts as crowded. */
const manyProjects = 5_000

/** The part of these projects `p`, found from the index of projects if there are few. */
function partOfProjects({ type, ordered, few }: Reached, where: Sql, projects: Sql, one: Sql): ListPart {
  if (!ordered || few) return { where, few: true }
  return {
    where,
    few: true,
    crowded: {
      when: sql`
        (
          select count(*) from (select from projects p where ${projects} limit ${literal(manyProjects)}) as many
        ) = ${literal(manyProjects)}
      `,
      // `offset 0` keeps the planner from reading all projects, and from leaving the order.
      from: (range) => sql`
        from (select m.* from ${tableOf(type)} m ${range}) as m
          cross join lateral (select p.* from projects p where p.id = m.project_id offset 0) as p
      `,
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
function partsOf(reached: Reached, caller: Actor): List['parts'] {
  const { type, filters, confidential = false } = reached
  const open = openVisibility(caller)
  const { enabled } = featureLevels
  const audience = sql`m.audience >= ${open}`
  const openProject = sql`p.visibility >= ${open} and ${feature(type)} >= ${enabled}`
  const counted = { from: sql`from ${tableOf(type)} m`, where: and([audience, ...filters]) }
  const everyones: ListPart = {
    where: sql`${audience} and ${openProject}`,
    ...(!caller.limits && { counted }),
  }
  const shown = kindOf(type).hiddenBy ? sql`and ${notHidden(type, caller)}` : raw('')
  const isClosed = sql`m.audience < ${open}`
  const members = projectParts(caller, lowestReader(type), raw('p.id'), raw('p.namespace_id')).map((part): ListPart => {
    // An array of the projects: they lead to the noteables in every plan.
    const closed = sql`${isClosed} and m.project_id = any(array(select p.id from projects p where ${part})) ${shown}`
    return partOfProjects(reached, closed, part, sql`${isClosed} and ${part} ${shown}`)
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

/** Confidential noteables that the caller wrote or is assigned to. */
const ownConfidential = (type: ScheduledType, caller: Actor): Sql =>
  join(
    [
      sql`select c.id from ${tableOf(type)} c where c.author_id = ${caller.id} and c.confidential`,
      sql`
        select c.id
        from ${assigneesTableOf(type)} a join ${tableOf(type)} c on c.id = a.${columnOf(type)}
        where a.user_id = ${caller.id} and c.confidential
      `,
    ],
    ' union ',
  )
