import type { Db, Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { limitNamespaceVisibility, within } from '../../namespaces/index.ts'
import { limitProjectVisibility } from '../../projects/index.ts'

const inside = (traversalIds: readonly number[]): Sql => within(raw('d.traversal_ids'), sql`${traversalIds}::bigint[]`)

/** The namespaces around what lies in this one, itself included, the outermost first. */
export const namespacesAround = async (db: Db, namespaceId: number): Promise<number[]> =>
  (await db.row<{ traversal_ids: number[] }>(sql`select traversal_ids from namespaces where id = ${namespaceId}`))!
    .traversal_ids

/** Selections of ids of projects. */
export const oneProject = (id: number): Sql => sql`select ${id}::bigint`

/** Of all projects that lie in a group or below it. */
export const projectsBelow = (traversalIds: readonly number[]): Sql =>
  sql`select p.id from projects p join namespaces d on d.id = p.namespace_id where ${inside(traversalIds)}`

/** How many levels a group and what is below it take: 1 for a group without subgroups. */
export const heightOf = async (db: Db, traversalIds: readonly number[]): Promise<number> =>
  (await db.row<{ height: number }>(sql`
    select max(cardinality(d.traversal_ids)) - ${traversalIds.length - 1}::integer as height
    from namespaces d where ${inside(traversalIds)}`))!.height

/** Nothing below is more visible than this. */
export async function limitVisibility(tx: Tx, traversalIds: readonly number[], visibility: number): Promise<void> {
  await limitNamespaceVisibility(tx, traversalIds, visibility)
  await limitProjectVisibility(tx, inside(traversalIds), visibility)
}
