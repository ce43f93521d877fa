import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, nullable } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { deleteNamespace, idsInside, insideOf, markNamespacesDeleting, within } from '../../namespaces/index.ts'
import { lockToHide, markProjectsDeleting } from '../../projects/index.ts'
import { type GroupRow, lockGroup } from './queries.ts'
import { type EndedGroupShare, type EndedProjectShare, endedGroupShareRow, endedProjectShareRow } from './unshared.ts'

/**
 * Locks the group with those below it, then the projects there and those that are shared with them, which the end of the shares changes:
 * an edit of a project locks its group first.
 */
export async function lockToRemove(tx: Tx, traversalIds: readonly number[]): Promise<void> {
  const groups = idsInside(traversalIds)
  await tx.run(sql`select from namespaces d where ${insideOf(traversalIds)} order by d.id for no key update`)
  // Ids, because an index finds each of the two sets, but not what is in either of them.
  await lockToHide(
    tx,
    sql`
      p.id = any(
        array(
          select id from projects where namespace_id in (${groups})
          union select project_id from project_group_links where group_id in (${groups})
        )
      )
    `,
  )
}

/** Hides the group and its content; a job deletes them. */
export async function markGroupDeleting(tx: Tx, traversalIds: readonly number[]): Promise<void> {
  const inside = insideOf(traversalIds)
  // Namespaces first: who creates a project in one has locked its row, and is waited for; none is created after that.
  await markNamespacesDeleting(tx, inside)
  await markProjectsDeleting(tx, inside)
}

/** Whether there is a project in the group or below it. */
export const containsProject = (db: Db, traversalIds: readonly number[]): Promise<boolean> =>
  db.exists(sql`
    select 1
    from projects p join namespaces d on d.id = p.namespace_id
    where not p.deleting and ${insideOf(traversalIds)}
    limit 1
  `)

/** Groups marked for deletion at least `days` ago, at most 1,000. */
export async function groupsDueForRemoval(db: Db, days: number): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select id
      from namespaces
      where marked_for_deletion_on <= current_date - ${days}::integer and not deleting
      order by id
      limit 1000
    `,
  )
  return rows.map(({ id }) => id)
}

/** The group if it is still marked since `days` ago, locked as by `lockGroup`. */
export const lockDueGroup = async (tx: Tx, id: number, days: number): Promise<GroupRow | undefined> => {
  const held = await lockGroup(tx, id)
  const due = await tx.row(
    { due: nullable(boolean) },
    sql`select marked_for_deletion_on <= current_date - ${days}::integer as due from namespaces where id = ${id}`,
  )
  return due?.due ? held : undefined
}

/** Projects inside a group that is being deleted. */
export async function projectsToRemove(db: Db, groupId: number): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select p.id
      from namespaces g
        join namespaces d on ${within(raw('d.traversal_ids'), raw('g.traversal_ids'))}
        join projects p on p.namespace_id = d.id
      where g.id = ${groupId} and g.deleting
      order by p.id
    `,
  )
  return rows.map(({ id }) => id)
}

/** A group that is being deleted, with its subgroups, deepest first. */
export async function groupsToRemove(db: Db, groupId: number): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select d.id
      from namespaces g join namespaces d on ${within(raw('d.traversal_ids'), raw('g.traversal_ids'))}
      where g.id = ${groupId} and g.deleting
      order by cardinality(d.traversal_ids) desc
    `,
  )
  return rows.map(({ id }) => id)
}

/** Deletes the rows of an emptied group and its subgroups. */
export async function deleteGroupRows(tx: Tx, groupId: number): Promise<void> {
  for (const id of await groupsToRemove(tx, groupId)) await deleteNamespace(tx, id)
}

/** Outermost groups that are being deleted, at most 1,000. */
export async function groupsBeingRemoved(db: Db): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select g.id
      from namespaces g left join namespaces above on above.id = g.parent_id
      where g.kind = 'group' and g.deleting and not coalesce(above.deleting, false)
      order by g.id
      limit 1000
    `,
  )
  return rows.map(({ id }) => id)
}

/**
 * Ends what is shared with this group or one below it; returns the shares of projects and groups that remain. Who had access through
 * that is for the caller to recompute.
 */
export async function deleteSharesWith(
  tx: Tx,
  groupId: number,
): Promise<{ projects: EndedProjectShare[]; groups: EndedGroupShare[] }> {
  const inside = sql`
    inside as (
      select d.id
      from namespaces g join namespaces d on ${within(sql`d.traversal_ids`, sql`g.traversal_ids`)}
      where g.id = ${groupId}
    )
  `
  const projects = await tx.rows(
    endedProjectShareRow,
    sql`
      with ${inside},
      ended as (
        delete from project_group_links l using inside i
        where l.group_id = i.id
        returning l.project_id, l.group_id, l.group_access
      )
      select e.project_id, e.group_id, e.group_access
      from ended e join projects p on p.id = e.project_id
      where not p.deleting and p.namespace_id not in (select id from inside)
      order by e.project_id, e.group_id
    `,
  )
  const groups = await tx.rows(
    endedGroupShareRow,
    sql`
      with ${inside},
      ended as (
        delete from group_group_links l using inside i
        where l.shared_with_group_id = i.id
        returning l.shared_group_id, l.shared_with_group_id
      )
      select e.shared_group_id, e.shared_with_group_id
      from ended e join namespaces n on n.id = e.shared_group_id
      where not n.deleting and n.id not in (select id from inside)
      order by e.shared_group_id, e.shared_with_group_id
    `,
  )
  return { projects, groups }
}
