import type { Db } from '../../../db/db.ts'
import { integer, listOf } from '../../../db/row.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import { insideOf } from '../../namespaces/index.ts'

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
  sql`select p.id from projects p join namespaces d on d.id = p.namespace_id where ${insideOf(traversalIds)}`

/** Number of levels of a group with its subgroups: 1 without subgroups. */
export const heightOf = async (db: Db, traversalIds: readonly number[]): Promise<number> =>
  (await db.row(
    { height: integer },
    sql`
      select max(cardinality(d.traversal_ids)) - ${traversalIds.length - 1}::integer as height
      from namespaces d
      where ${insideOf(traversalIds)}
    `,
  ))!.height
