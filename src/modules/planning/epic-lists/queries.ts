import type { Caller } from '../../../access/actor.ts'
import type { Direction, List } from '../../../api/list.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { joinHolder, readableRow, visibleHolder } from '../../discussion/index.ts'
import { insideOf } from '../../namespaces/index.ts'
import { epicSelect } from '../epics/record-queries.ts'
import type { EpicState } from '../epics/states.ts'
import type { MatchingFilters, NoteableFilters } from '../filters/filters.ts'
import { filtered, notMatching } from '../filters/queries.ts'

export const epicOrders = ['created_at', 'updated_at', 'title'] as const

export type EpicOrder = { readonly by: (typeof epicOrders)[number]; readonly sort: Direction }

/** Filters that can be negated. Epics have no milestones and assignees. */
export type EpicMatching = Omit<MatchingFilters, 'milestone' | 'assignee'>

export type EpicFilters = EpicMatching &
  Pick<NoteableFilters, 'createdAfter' | 'createdBefore' | 'updatedAfter' | 'updatedBefore'> & {
    readonly state?: EpicState
    readonly confidential?: boolean
    /** Epics that match any of these are left out. */
    readonly not?: EpicMatching
  }

/** A group, perhaps with those above and below it. */
export type EpicGroups = {
  readonly id: number
  readonly traversalIds: readonly number[]
  readonly ancestors: boolean
  readonly descendants: boolean
}

const type = 'Epic'

/** The ids of the groups, as an array: they lead to the epics in every plan. */
function idsOf({ id, traversalIds, ancestors, descendants }: EpicGroups): Sql {
  const around = ancestors ? [...traversalIds] : [id]
  if (!descendants) return sql`${around}::bigint[]`
  return sql`array(select d.id from namespaces d where ${insideOf(traversalIds)} or d.id = any(${around}::bigint[]))`
}

/** Conditions on the epic `m`. */
export function epicConditions(caller: Caller, { confidential, not, ...filters }: EpicFilters): Sql[] {
  return [
    ...filtered(type, caller, filters),
    ...(confidential === undefined ? [] : [raw(confidential ? 'm.confidential' : 'not m.confidential')]),
    ...(not ? notMatching(type, caller, not) : []),
  ]
}

/** Epics that the caller may read. */
export const listEpics = (caller: Caller, groups: EpicGroups, filters: EpicFilters, { by, sort }: EpicOrder): List => ({
  type,
  cached: true,
  select: epicSelect(caller),
  from: sql`from epics m ${joinHolder(type)}`,
  key: raw('m.id'),
  where: [
    sql`m.namespace_id = any(${idsOf(groups)})`,
    visibleHolder(type, caller),
    readableRow(type, caller),
    ...epicConditions(caller, filters),
  ],
  order: [
    { by: raw(`m.${by}`), direction: sort },
    { by: raw('m.id'), direction: 'desc' },
  ],
})
