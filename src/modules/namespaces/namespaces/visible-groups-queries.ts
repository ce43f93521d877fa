import type { Actor, Caller } from '../../../access/actor.ts'
import { levels, visibilities } from '../../../access/levels.ts'
import { lowestOpen } from '../../../access/policy.ts'
import type { List } from '../../../api/list.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { groupWithinLimits, namespacesOfMember } from '../access-index/queries.ts'
import { numberFor } from '../audience-counts/queries.ts'

/** The group `g` is one the caller may see: SQL twin of `groupPolicy.read_group`. */
export function visibleGroups(caller: Caller): Sql {
  if (caller === null) return sql`g.visibility = ${visibilities.public}`
  if (caller.admin) return raw('true')
  const visible = sql`
    (${openGroups(caller)} or ${groupsOfMember(caller.id, levels.guest)} or ${groupsAroundProjectsOfMember(caller.id)})
  `
  return caller.limits ? sql`(${visible} and ${groupWithinLimits(caller, raw('g.id'))})` : visible
}

export const openGroups = (caller: Actor): Sql =>
  caller.admin ? raw('true') : sql`g.visibility >= ${lowestOpen(caller)}`

export const groupsOfMember = (userId: number, level: number): Sql =>
  sql`g.id in (${namespacesOfMember(userId, level)})`

const idsAroundProjectsOfMember = (userId: number): Sql => sql`
  select unnest(n.traversal_ids)
  from project_access a
    join projects p on p.id = a.project_id and not p.deleting
    join namespaces n on n.id = p.namespace_id
  where a.user_id = ${userId} and a.expires_on > current_date
  union
  select unnest(n.traversal_ids)
  from group_access a join namespaces n on n.id = a.group_id
  where a.user_id = ${userId}
    and a.expires_on > current_date
    and exists (select from projects p where p.namespace_id = n.id and not p.deleting)
`

/** Groups above projects that the user reaches by a membership of the project or of a group between. */
export const groupsAroundProjectsOfMember = (userId: number): Sql => sql`g.id in (${idsAroundProjectsOfMember(userId)})`

/**
 * Groups of the user and those above their projects, for lists, and `others`, which selects ids. One array, so that the memberships lead to the groups in
 * every plan: however many groups others have, they are not read. The rows that two arrays lead to would be looked for in both again, one by one.
 */
export function groupsFromMemberships(userId: number, others?: Sql): Sql {
  const own = sql`${namespacesOfMember(userId, levels.guest)} union ${idsAroundProjectsOfMember(userId)}`
  return sql`g.id = any(array(${others ? sql`${own} union ${others}` : own}))`
}

/** As `visibleGroups`, in parts of a list; `undefined` if one condition is enough. */
export function visibleGroupParts(caller: Caller): List['parts'] {
  if (caller === null) return [{ where: visibleGroups(caller) }]
  if (caller.admin) return undefined
  const open = openGroups(caller)
  return [{ where: open }, { where: sql`not ${open} and ${groupsFromMemberships(caller.id)}`, few: true }]
}

/** How many groups are open to a caller who is no administrator. */
export const numberOfOpenGroups = (caller: Caller): Sql =>
  numberFor('Group', (of) => sql`${of} >= ${lowestOpen(caller)}`, undefined)
