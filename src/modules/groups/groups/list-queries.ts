import type { Actor, Caller } from '../../../access/actor.ts'
import { levels } from '../../../access/levels.ts'
import { type Direction, type List, type Matching, numbered } from '../../../api/list.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { raw, type Sql, sql, unexpired } from '../../../db/sql.ts'
import { passedOn } from '../../../db/table-catalogue.ts'
import { hasCustomAttributes } from '../../accounts/index.ts'
import {
  groupsFromMemberships,
  groupsOfMember,
  groupWithinLimits,
  numberOfOpenGroups,
  openGroups,
  visibleGroupParts,
  visibleGroups,
  within,
} from '../../namespaces/index.ts'
import { type GroupOptions, recordColumns } from './queries.ts'

export type GroupFilters = {
  skip_groups?: number[]
  all_available?: boolean
  top_level_only?: boolean
  search?: string
  order_by: 'name' | 'path' | 'id'
  sort: Direction
  owned: boolean
  min_access_level?: number
  custom_attributes?: Record<string, string>
}

const orderColumns = { name: raw('g.name'), path: raw('g.path'), id: raw('g.id') }

/** The groups that a list starts from. */
export type GroupSet =
  | { of: 'everyone' }
  | { of: 'children'; id: number }
  | { of: 'descendants'; id: number; traversalIds: readonly number[] }

const setCondition = (set: GroupSet): Sql[] => {
  if (set.of === 'everyone') return []
  if (set.of === 'children') return [sql`g.parent_id = ${set.id}`]
  return [sql`g.id <> ${set.id}`, within(raw('g.traversal_ids'), sql`${set.traversalIds}::bigint[]`)]
}

/** Groups the caller can see. Ties are ordered by id, oldest first. */
export function listGroups(caller: Caller, set: GroupSet, filters: GroupFilters, options: GroupOptions): List {
  const where: Sql[] = [raw(`g.kind = 'group' and not g.deleting`), ...setCondition(set)]
  const listsAll = filters.all_available ?? (caller === null || caller.admin)
  const matches = filters.search?.trim() ? fuzzy(filters.search, ['g.name', 'g.path']) : undefined
  const isBroad = listsAll && set.of === 'everyone' && !filters.owned && !matches
  // Those below one group, or of an owner, are few, and are checked one by one.
  const matching = matches && set.of === 'everyone' && !filters.owned ? found(matches) : undefined
  const parts = isBroad && filters.min_access_level === undefined ? visibleGroupParts(caller) : undefined
  if (filters.owned) where.push(caller ? ownedBy(caller.id) : raw('false'))
  else if (filters.min_access_level !== undefined)
    where.push(caller ? groupsOfMember(caller.id, filters.min_access_level) : raw('false'))
  else if (caller && !listsAll) where.push(authorisedGroups(caller))
  else if (!parts) where.push(visibleGroups(caller))
  if (caller?.limits) where.push(groupWithinLimits(caller, raw('g.id')))
  if (filters.skip_groups && filters.skip_groups.length > 0)
    where.push(sql`g.id <> all(${filters.skip_groups}::bigint[])`)
  if (filters.top_level_only) where.push(raw('g.parent_id is null'))
  if (matches && !matching) where.push(matches)
  if (caller?.admin && filters.custom_attributes)
    where.push(hasCustomAttributes(raw('a.namespace_id'), raw('g.id'), filters.custom_attributes))
  return {
    type: 'Group',
    cached: true,
    select: sql`select ${recordColumns(options)} from namespaces g`,
    from: sql`from namespaces g`,
    key: raw('g.id'),
    where,
    // Indexes lead to the groups, in the order, by the set or by membership, whatever the values are.
    onePlan: (!matches || matching !== undefined) && filters.custom_attributes === undefined,
    matching,
    // There are no further conditions.
    parts: parts && where.length === 1 ? numbered(parts, numberOfOpenGroups(caller)) : parts,
    order: [
      { by: orderColumns[filters.order_by], direction: filters.sort },
      ...(filters.order_by === 'id' ? [] : [{ by: raw('g.id'), direction: 'asc' as const }]),
    ],
    keyset: filters.order_by === 'id' ? { direction: filters.sort } : undefined,
  }
}

/** How the groups that match a text are found. `offset 0` keeps the planner from leaving the order. */
const found = (condition: Sql): Matching => ({
  table: raw('namespaces g'),
  key: raw('g.id'),
  condition: sql`(g.kind = 'group' and ${condition})`,
  walked: (range) =>
    sql`
      from (select g${raw(passedOn)} from namespaces g where g.kind = 'group' and not g.deleting ${range} offset 0) as g
    `,
})

const ownedBy = (userId: number): Sql => sql`
  g.id in (
    select m.namespace_id
    from members m
    where m.user_id = ${userId} and m.access_level = ${levels.owner} and ${unexpired('m')}
  )
`

/** The user's groups, those above their projects, and the visible ones above their groups. */
const authorisedGroups = (caller: Actor): Sql =>
  groupsFromMemberships(
    caller.id,
    sql`
      select g.id
      from (
          select distinct unnest(n.traversal_ids) as id
          from group_access a join namespaces n on n.id = a.group_id
          where a.user_id = ${caller.id} and a.expires_on > current_date
        ) above
        join namespaces g on g.id = above.id
      where ${openGroups(caller)}
    `,
  )
