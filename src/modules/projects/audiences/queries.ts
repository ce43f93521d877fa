import type { Db, Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'

/** A project, or all those in a namespace or below it. */
export type Place = { readonly projectId: number } | { readonly namespaceId: number }

/** A table whose rows have the audience of their project, which triggers keep (`copy_audience_to_issues`, `copy_audience_to_merge_requests`). */
export type FollowingTable = {
  readonly table: string
  readonly level: string
  /** Whether a row with this alias has the audience of its project; others have none. */
  readonly isOpen: (alias: string) => string
}

export const followingTables: readonly FollowingTable[] = [
  { table: 'issues', level: 'issues_access_level', isOpen: (alias) => `not ${alias}.confidential` },
  { table: 'merge_requests', level: 'merge_requests_access_level', isOpen: () => 'true' },
]

const isIn = (place: Place): Sql =>
  'projectId' in place
    ? sql`p.id = ${place.projectId}`
    : within(raw('d.traversal_ids'), sql`(select traversal_ids from namespaces where id = ${place.namespaceId})`)

/** The projects of a place that are more visible than `visibility`. */
export const projectsAbove = async (db: Db, place: Place, visibility: number): Promise<number[]> =>
  (
    await db.rows(
      { id: integer },
      sql`
        select p.id
        from projects p join namespaces d on d.id = p.namespace_id
        where p.visibility > ${visibility} and not p.deleting and ${isIn(place)}
        order by p.id
      `,
    )
  ).map(({ id }) => id)

/** Those of the projects that are more visible than `visibility`. */
export const stillAbove = async (db: Db, projectIds: readonly number[], visibility: number): Promise<number[]> =>
  (
    await db.rows(
      { id: integer },
      sql`
        select id
        from projects
        where id = any(${projectIds}::bigint[]) and visibility > ${visibility} and not deleting
        order by id
      `,
    )
  ).map(({ id }) => id)

/** The rows of these projects that have a larger audience; at most `limit`. */
export const rowsAbove = async (
  db: Db,
  { table }: FollowingTable,
  projectIds: readonly number[],
  audience: number,
  limit: number,
): Promise<number[]> =>
  (
    await db.rows(
      { id: integer },
      sql`
        select id
        from ${raw(table)}
        where project_id = any(${projectIds}::bigint[]) and audience > ${audience}
        limit ${limit}
      `,
    )
  ).map(({ id }) => id)

/**
 * Locks what a change of several projects gives a smaller audience: the triggers lock the rows of one project after those of another,
 * whatever their ids.
 */
export async function lockAudiences(tx: Tx, projectIds: readonly number[], audience: number): Promise<void> {
  for (const { table } of followingTables)
    await tx.run(sql`
      select
      from ${raw(table)}
      where project_id = any(${projectIds}::bigint[]) and audience > ${audience}
      order by id
      for no key update
    `)
}

/** Lowers the audience of these rows, which it locks in the order of their ids. */
export const lowerAudience = (
  db: Db,
  { table }: FollowingTable,
  ids: readonly number[],
  audience: number,
): Promise<number> =>
  db.run(
    sql`
      with held as materialized (
        select id
        from ${raw(table)}
        where id = any(${ids}::bigint[]) and audience > ${audience}
        order by id
        for no key update
      )
      update ${raw(table)} r
      set audience = ${audience}
      from held h
      where r.id = h.id
    `,
  )

/**
 * Gives at most `size` rows of a project the audience that follows from it. Returns their number. The first statement locks the project, for which
 * edits that make an issue confidential wait, too, so the second one sees those that have ended.
 */
export async function restoreAudience(
  tx: Tx,
  { table, level, isOpen }: FollowingTable,
  projectId: number,
  size: number,
): Promise<number> {
  const held = await tx.row(
    { audience: integer },
    sql`
      select audience_of_merge_requests(visibility, ${raw(level)}, deleting) as audience
      from projects
      where id = ${projectId}
      for no key update
    `,
  )
  if (!held) return 0
  return tx.run(sql`
    with found as materialized (
      select f.id
      from ${raw(table)} f
      where f.project_id = ${projectId} and f.audience < ${held.audience} and ${raw(isOpen('f'))}
      limit ${literal(size)}
    ),
    locked as materialized (
      select r.id
      from ${raw(table)} r
      where r.id = any(array(select id from found)) and r.audience < ${held.audience} and ${raw(isOpen('r'))}
      order by r.id
      for no key update
    )
    update ${raw(table)} r
    set audience = ${held.audience}
    from locked l
    where r.id = l.id
  `)
}
