import type { Db, Tx } from '../../../db/db.ts'
import { integer, listOf } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'

/** Moves a project to another namespace. The caller claims its route separately. */
export const moveProject = (
  tx: Tx,
  id: number,
  to: { namespaceId: number; fullPath: string; visibility: number },
): Promise<number> =>
  tx.run(sql`update projects set namespace_id = ${to.namespaceId}, full_path = ${to.fullPath}, visibility = ${to.visibility},
    updated_at = now() where id = ${id}`)

/** Makes the owner of a personal namespace a member of a project in it. */
export const insertOwnersMembership = (tx: Tx, projectId: number, userId: number, level: number): Promise<number> =>
  tx.run(sql`insert into members (project_id, user_id, access_level, created_by_id)
    values (${projectId}, ${userId}, ${level}, ${userId})
    on conflict (project_id, user_id) where project_id is not null
    do update set access_level = excluded.access_level, expires_at = null, updated_at = now()`)

const inside = (traversalIds: readonly number[]): Sql => within(raw('d.traversal_ids'), sql`${traversalIds}::bigint[]`)

/** Ids of a namespace and its ancestors, outermost first. */
export const namespacesAround = async (db: Db, namespaceId: number): Promise<number[]> =>
  (await db.row(
    { traversal_ids: listOf(integer) },
    sql`select traversal_ids from namespaces where id = ${namespaceId}`,
  ))!.traversal_ids

/** Subqueries that select project ids. */
export const oneProject = (id: number): Sql => sql`select ${id}::bigint`

/** Selects all projects in a group and its subgroups. */
export const projectsBelow = (traversalIds: readonly number[]): Sql =>
  sql`select p.id from projects p join namespaces d on d.id = p.namespace_id where ${inside(traversalIds)}`

/** Number of levels of a group with its subgroups: 1 without subgroups. */
export const heightOf = async (db: Db, traversalIds: readonly number[]): Promise<number> =>
  (await db.row(
    { height: integer },
    sql`
    select max(cardinality(d.traversal_ids)) - ${traversalIds.length - 1}::integer as height
    from namespaces d where ${inside(traversalIds)}`,
  ))!.height

/**
 * Moves a group with its subgroups below another or to the top level. The caller updates full names and routes
 * separately.
 */
export async function moveTree(
  tx: Tx,
  traversalIds: readonly number[],
  parent: { id: number; traversal_ids: readonly number[] } | undefined,
): Promise<void> {
  const id = traversalIds.at(-1)!
  await tx.run(sql`update namespaces d set
      parent_id = case when d.id = ${id} then ${parent?.id ?? null}::bigint else d.parent_id end,
      traversal_ids = ${parent?.traversal_ids ?? []}::bigint[] || d.traversal_ids[${traversalIds.length}::integer:],
      updated_at = case when d.id = ${id} then now() else d.updated_at end
    where ${inside(traversalIds)}`)
}

/** Lowers the visibility of everything below to at most this level. */
export async function limitVisibility(tx: Tx, traversalIds: readonly number[], visibility: number): Promise<void> {
  await tx.run(sql`update namespaces d set visibility = ${visibility}
    where d.visibility > ${visibility} and ${inside(traversalIds)}`)
  await tx.run(sql`update projects p set visibility = ${visibility} from namespaces d
    where d.id = p.namespace_id and p.visibility > ${visibility} and ${inside(traversalIds)}`)
}
