import type { Tx } from '../../../db/db.ts'
import { boolean, integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'
import { holdPlace } from '../../groups/index.ts'

/**
 * Locks the parents and children of all epics below the top-level group of a group until the transaction ends, so that concurrent changes
 * make no cycle, and no transfer moves the group away. Call it before rows of epics are locked. False if the group is gone.
 */
export async function lockTree(tx: Tx, groupId: number): Promise<boolean> {
  await holdPlace(tx, { of: 'group', id: groupId })
  const locked = await tx.run(sql`
    select pg_advisory_xact_lock(hashtextextended('tree of epics ' || traversal_ids[1], 0))
    from namespaces
    where id = ${groupId}
  `)
  return locked > 0
}

/** More generations than there can be: ends a search if there is a cycle after all. */
const mostSteps = 50

const fitRow = {
  /** Both exist, and the group of the child is the group of the parent or below it. */
  related: boolean,
  /** The child is the parent, or above it. */
  cycle: boolean,
  /** Generations from the topmost ancestor to the lowest descendant if the child is placed below the parent. */
  generations: integer,
}

/** What would follow if an epic became the child of another one. The tree is locked. */
export const fitOf = async (tx: Tx, childId: number, parentId: number): Promise<RowOf<typeof fitRow>> =>
  (await tx.row(
    fitRow,
    sql`
      with recursive above as (
        select id, parent_id, 1 as step
        from epics
        where id = ${parentId}
        union all
        select e.id, e.parent_id, above.step + 1
        from above join epics e on e.id = above.parent_id
        where above.step < ${literal(mostSteps)}
      ),
      below as (
        select id, 1 as step
        from epics
        where id = ${childId}
        union all
        select e.id, below.step + 1
        from below join epics e on e.parent_id = below.id
        where below.step < ${literal(mostSteps)}
      )
      select exists (
          select
          from epics c join epics p on p.id = ${parentId} join namespaces g on g.id = c.namespace_id
          where c.id = ${childId} and p.namespace_id = any(g.traversal_ids)
        ) as related,
        exists (select from above where id = ${childId}) as cycle,
        coalesce((select max(step) from above), 0) + coalesce((select max(step) from below), 0) as generations
    `,
  ))!

/** Makes an epic the last child of another one. */
export const saveParent = (tx: Tx, childId: number, parentId: number): Promise<number> =>
  tx.run(sql`
    update epics
    set parent_id = ${parentId},
      relative_position = (
        select coalesce(max(s.relative_position), 0) + 1 from epics s where s.parent_id = ${parentId}
      )
    where id = ${childId}
  `)

export const removeParent = (tx: Tx, childId: number): Promise<number> =>
  tx.run(sql`update epics set parent_id = null, relative_position = null where id = ${childId}`)

/** The number of children of an epic. */
export const countChildren = async (tx: Tx, id: number): Promise<number> =>
  (await tx.row({ total: integer }, sql`select count(*)::integer as total from epics where parent_id = ${id}`))!.total

const namedEpicRow = { id: integer, iid: integer, group_id: integer, full_path: text }
/** An epic with what references name it by. */
export type NamedEpicRow = RowOf<typeof namedEpicRow>

export const findNamedEpic = (tx: Tx, id: number): Promise<NamedEpicRow | undefined> =>
  tx.row(
    namedEpicRow,
    sql`
      select m.id, m.iid, m.namespace_id as group_id, g.full_path
      from epics m join namespaces g on g.id = m.namespace_id
      where m.id = ${id}
    `,
  )

export const findParentId = async (tx: Tx, id: number): Promise<number | null> =>
  (await tx.row({ parent_id: nullable(integer) }, sql`select parent_id from epics where id = ${id}`))?.parent_id ?? null
