import type { Tx } from '../../../db/db.ts'
import { integer, type RowOf } from '../../../db/row.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import { insideOf } from '../access-index/queries.ts'
import { retireRoutes } from './rename-queries.ts'

/** Puts it away for some days, after which a job removes it. */
export const markGroupForDeletion = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`update namespaces set marked_for_deletion_on = current_date, updated_at = now() where id = ${id}`)

/** False if it is not marked. The row is locked. */
export const unmarkGroupForDeletion = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`
    update namespaces
    set marked_for_deletion_on = null, updated_at = now()
    where id = ${id} and marked_for_deletion_on is not null
  `)) > 0

/** A new group below `parent` (or at the top), its attributes at their defaults. */
export const insertGroup = async (
  tx: Tx,
  group: {
    name: string
    path: string
    parent: { id: number; traversal_ids: readonly number[]; full_path: string; full_name: string } | undefined
    runnersToken: string
  },
): Promise<number> => {
  const { parent } = group
  const row = await tx.row(
    { id: integer },
    sql`
      with next as (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id)
      insert into namespaces (id, kind, parent_id, traversal_ids, name, path, full_path, full_name, runners_token)
      select id, 'group', ${parent?.id ?? null}::bigint, ${parent?.traversal_ids ?? []}::bigint[] || id, ${group.name},
        ${group.path}, ${parent ? `${parent.full_path}/${group.path}` : group.path},
        ${parent ? `${parent.full_name} / ${group.name}` : group.name}, ${group.runnersToken}
      from next
      returning id
    `,
  )
  return row!.id
}

/** Groups below a locked one are locked, too. */
export const lockSharingBelow = (tx: Tx, traversalIds: readonly number[]): Promise<number> =>
  tx.run(sql`
    update namespaces d set share_with_group_lock = true where not d.share_with_group_lock and ${insideOf(traversalIds)}
  `)

/** Hangs a group with all below it under another, or at the top, and retires its routes. `renameTree` gives it full names and routes. */
export async function moveTree(
  tx: Tx,
  traversalIds: readonly number[],
  parent: { id: number; traversal_ids: readonly number[] } | undefined,
): Promise<void> {
  const id = traversalIds.at(-1)!
  // An update alone would not wait for those that keep a place (`holdPlace` of `groups`).
  await tx.run(sql`select from namespaces d where ${insideOf(traversalIds)} order by d.id for update`)
  await retireRoutes(tx, traversalIds)
  await tx.run(sql`
    update namespaces d
    set parent_id = case when d.id = ${id} then ${parent?.id ?? null}::bigint else d.parent_id end,
      traversal_ids = ${parent?.traversal_ids ?? []}::bigint[] || d.traversal_ids[${traversalIds.length}::integer:],
      updated_at = case when d.id = ${id} then now() else d.updated_at end
    where ${insideOf(traversalIds)}
  `)
}

/** Sets columns of a namespace: `name = …, path = …`. */
export const updateNamespace = (tx: Tx, id: number, assignments: Sql): Promise<number> =>
  tx.run(sql`update namespaces set ${assignments} where id = ${id}`)

/** A group whose visibility is lowered, with the visibility before. */
const loweredRow = { id: integer, visibility: integer }
export type LoweredGroup = RowOf<typeof loweredRow>

/** Limits the visibility of a namespace and of those below it. Returns those whose visibility this lowers, without those that are being deleted. */
export const limitNamespaceVisibility = (
  tx: Tx,
  traversalIds: readonly number[],
  visibility: number,
): Promise<LoweredGroup[]> =>
  tx.rows(
    loweredRow,
    sql`
      with above as (
        select d.id, d.visibility
        from namespaces d
        where d.visibility > ${visibility} and ${insideOf(traversalIds)}
        order by d.id
        for no key update
      ),
      lowered as (
        update namespaces n
        set visibility = ${visibility}
        from above a
        where n.id = a.id
        returning n.id, a.visibility, n.deleting
      )
      select id, visibility
      from lowered
      where not deleting
      order by id
    `,
  )

/** Hides namespaces until a job removes them. `which` is a condition on the namespace `d`. */
export const markNamespacesDeleting = (tx: Tx, which: Sql): Promise<number> =>
  tx.run(sql`update namespaces d set deleting = true where ${which}`)

export const deleteNamespace = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from namespaces where id = ${id}`)
