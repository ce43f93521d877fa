import type { Tx } from '../../../db/db.ts'
import { integer, notNull, nullable, type RowOf, unused } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { projectsIn } from '../../groups/index.ts'

/** Where an issue is in the order. Issues without a position come last, the newest first. */
const placeRow = { id: integer, position: nullable(integer) }
export type Place = RowOf<typeof placeRow>

const placedRow = { id: integer, position: notNull(integer) }
export type Placed = RowOf<typeof placedRow>

/** The top-level group, or personal namespace, of a project. */
const rootOf = async (tx: Tx, projectId: number): Promise<number | undefined> =>
  (
    await tx.row(
      { root: integer },
      sql`
        select n.traversal_ids[1] as root
        from projects p join namespaces n on n.id = p.namespace_id
        where p.id = ${projectId}
      `,
    )
  )?.root

/**
 * Locks the order of the issues below the top-level group of a project until the transaction ends, and returns the id of the group;
 * undefined if the project is gone.
 */
export async function lockOrder(tx: Tx, projectId: number): Promise<number | undefined> {
  for (let root = await rootOf(tx, projectId); root !== undefined; ) {
    await tx.row(
      { lock: unused },
      sql`select pg_advisory_xact_lock(hashtextextended(${`order of issues ${root}`}, 0)) as lock`,
    )
    // The project may have been transferred meanwhile.
    const now = await rootOf(tx, projectId)
    if (now === root) return root
    root = now
  }
  return undefined
}

const belowRoot = (root: number): Sql => projectsIn({ of: 'group', id: root })

/** The places of those of these issues that are below a top-level group. */
export const placesOf = (tx: Tx, root: number, ids: readonly number[]): Promise<Place[]> =>
  tx.rows(
    placeRow,
    sql`
      select m.id, m.relative_position as position
      from issues m join projects p on p.id = m.project_id
      where m.id = any(${ids}::bigint[]) and ${belowRoot(root)}
    `,
  )

/** The first issues after a place, at most `limit`, without one that moves. A probe of an index for each project below the group. */
export const issuesAfter = (
  tx: Tx,
  root: number,
  { id, position }: Placed,
  moving: number,
  limit: number,
): Promise<Placed[]> =>
  tx.rows(
    placedRow,
    sql`
      select after.id, after.position
      from projects p
        cross join lateral (
          select m.id, m.relative_position as position
          from issues m
          where m.project_id = p.id
            and m.relative_position >= ${position}
            and (m.relative_position > ${position} or m.id < ${id})
            and m.id <> ${moving}
          order by m.relative_position, m.id desc
          limit ${literal(limit)}
        ) as after
      where ${belowRoot(root)}
      order by after.position, after.id desc
      limit ${literal(limit)}
    `,
  )

/** The issue with the last position, before a place if one is given, without one that moves. Probes as `issuesAfter`. */
export const lastBefore = (
  tx: Tx,
  root: number,
  place: Placed | undefined,
  moving: number,
): Promise<Placed | undefined> =>
  tx.row(
    placedRow,
    sql`
      select before.id, before.position
      from projects p
        cross join lateral (
          select m.id, m.relative_position as position
          from issues m
          where m.project_id = p.id and m.relative_position is not null and m.id <> ${moving} and ${isBefore(place)}
          order by m.relative_position desc, m.id
          limit 1
        ) as before
      where ${belowRoot(root)}
      order by before.position desc, before.id
      limit 1
    `,
  )

const isBefore = (place: Placed | undefined): Sql =>
  place === undefined
    ? raw('true')
    : sql`m.relative_position <= ${place.position} and (m.relative_position < ${place.position} or m.id > ${place.id})`

/** Ids of issues without a position that come before an issue without one, in order; undefined if they are more than `most`. */
export async function unplacedBefore(
  tx: Tx,
  root: number,
  id: number,
  moving: number,
  most: number,
): Promise<number[] | undefined> {
  const rows = await tx.rows(
    { id: integer },
    sql`
      select ahead.id
      from projects p
        cross join lateral (
          select m.id
          from issues m
          where m.project_id = p.id and m.relative_position is null and m.id > ${id} and m.id <> ${moving}
          limit ${literal(most + 1)}
        ) as ahead
      where ${belowRoot(root)}
      limit ${literal(most + 1)}
    `,
  )
  return rows.length > most ? undefined : rows.map((row) => row.id).toSorted((a, b) => b - a)
}

/** Gives an issue a position, which is a change of it. False if it is deleted. */
export const moveIssue = async (tx: Tx, { id, position }: Placed): Promise<boolean> =>
  (await tx.run(sql`update issues set relative_position = ${position}, updated_at = now() where id = ${id}`)) > 0

/** Gives issues positions because another one moves. */
export const savePlaces = (tx: Tx, places: readonly Placed[]): Promise<number> =>
  tx.run(sql`
    update issues m
    set relative_position = placed.position
    from unnest(
      ${places.map(({ id }) => id)}::bigint[], ${places.map(({ position }) => position)}::bigint[]
    ) as placed (id, position)
    where m.id = placed.id
  `)
