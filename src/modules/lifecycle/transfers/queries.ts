import type { Db, Tx } from '../../../db/db.ts'
import { integer, listOf } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'

/** Puts a project into another namespace. Its route is claimed apart. */
export const moveProject = (
  tx: Tx,
  id: number,
  to: { namespaceId: number; fullPath: string; visibility: number },
): Promise<number> =>
  tx.run(sql`update projects set namespace_id = ${to.namespaceId}, full_path = ${to.fullPath}, visibility = ${to.visibility},
    updated_at = now() where id = ${id}`)

/** The owner of a personal namespace is a member of each project in it. */
export const insertOwnersMembership = (tx: Tx, projectId: number, userId: number, level: number): Promise<number> =>
  tx.run(sql`insert into members (project_id, user_id, access_level, created_by_id)
    values (${projectId}, ${userId}, ${level}, ${userId})
    on conflict (project_id, user_id) where project_id is not null
    do update set access_level = excluded.access_level, expires_at = null, updated_at = now()`)

const inside = (traversalIds: readonly number[]): Sql => within(raw('d.traversal_ids'), sql`${traversalIds}::bigint[]`)

/** The namespaces around what lies in this one, itself included, the outermost first. */
export const namespacesAround = async (db: Db, namespaceId: number): Promise<number[]> =>
  (await db.row(
    { traversal_ids: listOf(integer) },
    sql`select traversal_ids from namespaces where id = ${namespaceId}`,
  ))!.traversal_ids

/** Selections of ids of projects. */
export const oneProject = (id: number): Sql => sql`select ${id}::bigint`

/** Of all projects that lie in a group or below it. */
export const projectsBelow = (traversalIds: readonly number[]): Sql =>
  sql`select p.id from projects p join namespaces d on d.id = p.namespace_id where ${inside(traversalIds)}`

/** How many levels a group and what is below it take: 1 for a group without subgroups. */
export const heightOf = async (db: Db, traversalIds: readonly number[]): Promise<number> =>
  (await db.row(
    { height: integer },
    sql`
    select max(cardinality(d.traversal_ids)) - ${traversalIds.length - 1}::integer as height
    from namespaces d where ${inside(traversalIds)}`,
  ))!.height

/** Hangs a group with all below it under another, or at the top. Full names and routes are given apart. */
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

/** Nothing below is more visible than this. */
export async function limitVisibility(tx: Tx, traversalIds: readonly number[], visibility: number): Promise<void> {
  await tx.run(sql`update namespaces d set visibility = ${visibility}
    where d.visibility > ${visibility} and ${inside(traversalIds)}`)
  await tx.run(sql`update projects p set visibility = ${visibility} from namespaces d
    where d.id = p.namespace_id and p.visibility > ${visibility} and ${inside(traversalIds)}`)
}
