import { below, type Holder, type Relation } from '../../../db/portable/relation.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'

/** Ids of a group and all groups below it that are not being deleted. */
export const groupsBelow = (id: number): Sql => sql`
  select d.id
  from namespaces g join namespaces d on ${within(raw('d.traversal_ids'), raw('g.traversal_ids'))}
  where g.id = ${id} and not d.deleting
`

/** Orders rows by their group `n`: parents before their subgroups, and these by path. */
export const groupOrder = ['cardinality(n.traversal_ids)', { text: 'n.full_path' }] as const

/** Where rows of a table `t` with the id of their group are found: of a group and all groups below it. */
export const heldByGroups = (table: string): Pick<Relation, 'from' | 'where' | 'table'> => ({
  table,
  from: raw(`from ${table} t join namespaces n on n.id = t.namespace_id`),
  where: ({ id }) => sql`t.namespace_id in (${groupsBelow(id)})`,
})

/**
 * Where rows of a table `t` that belong to rows of a table of a project or of groups, `m`, are found. `order` comes first in their order:
 * rows of groups are ordered by their group.
 */
export const belowHeld = (
  of: Holder['of'],
  parent: string,
  column: string,
  table: string,
): Pick<Relation, 'from' | 'where' | 'table' | 'order'> => {
  const found = below(parent, column, table)
  if (of === 'project') return { ...found, order: [] }
  return {
    table,
    from: sql`${found.from} join namespaces n on n.id = m.namespace_id`,
    where: ({ id }) => sql`m.namespace_id in (${groupsBelow(id)})`,
    order: groupOrder,
  }
}
