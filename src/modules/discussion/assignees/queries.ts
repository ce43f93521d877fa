import type { Db, Tx } from '../../../db/db.ts'
import { integer, listOf, text } from '../../../db/row.ts'
import { literal, raw, sql } from '../../../db/sql.ts'
import { holderOf } from '../noteables/holder-queries.ts'
import type { AssignedTable, NoteableType } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, readersOf } from '../noteables/queries.ts'

/**
 * Those of the users who may read noteables of this kind in a project, in the given order, without duplicates; with `from` only members at
 * this level or above, and administrators.
 */
export async function readersAmong(
  db: Db,
  type: NoteableType,
  projectId: number,
  userIds: readonly number[],
  { from }: { readonly from?: number } = {},
): Promise<number[]> {
  const isMember = from === undefined ? raw('true') : sql`(u.admin or ${holderOf(type).hasMember(literal(from))})`
  const rows = await db.rows(
    { id: integer },
    sql`
      select u.id
      from unnest(${userIds}::bigint[]) with ordinality as named (id, position)
        join users u on u.id = named.id
        join projects p on p.id = ${projectId}
      where ${readersOf(type)} and ${isMember}
      order by named.position
    `,
  )
  return [...new Set(rows.map(({ id }) => id))]
}

/** The users of these names, in lower case and in their order, who may read noteables of this kind in a project. */
export const readersByName = (
  db: Db,
  type: NoteableType,
  projectId: number,
  names: readonly string[],
): Promise<{ id: number; username: string }[]> =>
  db.rows(
    { id: integer, username: text },
    sql`
      select u.id, u.username
      from users u join projects p on p.id = ${projectId}
      where lower(u.username) = any(${names}::text[]) and ${readersOf(type)}
      order by array_position(${names}::text[], lower(u.username))
    `,
  )

/** Replaces the users with a task in a noteable, such as its assignees; returns the added and the removed ones. */
export const replaceAssigned = async (
  tx: Tx,
  table: AssignedTable,
  { type, id }: Pick<Noteable, 'type' | 'id'>,
  userIds: readonly number[],
): Promise<{ added: number[]; removed: number[] }> => {
  const column = columnOf(type)
  return (await tx.row(
    { added: listOf(integer), removed: listOf(integer) },
    sql`
      with gone as (
        delete from ${raw(table)}
        where ${column} = ${id} and user_id <> all(${userIds}::bigint[])
        returning user_id
      ),
      put as (
        insert into ${raw(table)} (${column}, user_id)
        select ${id}, user_id
        from unnest(${userIds}::bigint[]) as user_id
        on conflict do nothing
        returning user_id
      )
      select array(select user_id from put order by user_id) as added,
        array(select user_id from gone order by user_id) as removed
    `,
  ))!
}

/** User names by id. */
export async function usernamesOf(tx: Tx, ids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await tx.rows(
    { id: integer, username: text },
    sql`select id, username from users where id = any(${ids}::bigint[])`,
  )
  return new Map(rows.map(({ id, username }) => [id, username]))
}
