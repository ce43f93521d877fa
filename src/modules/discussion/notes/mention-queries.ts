import { visibilities } from '../../../access/levels.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, type RowOf, text } from '../../../db/row.ts'
import { literal, sql, unexpired } from '../../../db/sql.ts'
import { joinHolder } from '../noteables/holder-queries.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, isAbout, readersOfRow, tableOf } from '../noteables/queries.ts'

export const mentionedRow = {
  id: integer,
  name: text,
}
export type Mentioned = RowOf<typeof mentionedRow>

/** The users of these names, in lower case, who may read the noteable. One statement. */
export const readersNamed = (
  db: Db,
  { type, id }: Pick<Noteable, 'type' | 'id'>,
  names: readonly string[],
): Promise<Mentioned[]> =>
  db.rows(
    mentionedRow,
    sql`
      select u.id, lower(u.username) as name
      from users u join ${tableOf(type)} m on m.id = ${id} ${joinHolder(type)}
      where lower(u.username) = any(${names}::text[]) and ${readersOfRow(type)}
    `,
  )

/** Maximum users that the groups named in one text mention. */
const maxMembers = 1000

/**
 * The members of the groups with these full paths, in lower case, who may read the noteable: of groups that the author can see and
 * that do not disable mentions. `name` is the path of the group. One statement.
 */
export const readersInGroups = (
  db: Db,
  { type, id }: Pick<Noteable, 'type' | 'id'>,
  authorId: number,
  paths: readonly string[],
): Promise<Mentioned[]> =>
  db.rows(
    mentionedRow,
    sql`
      select distinct u.id, lower(named.full_path) as name
      from routes r
        join namespaces named on named.id = r.namespace_id
          and named.kind = 'group' and named.mentions_disabled is not true
        join members mb on mb.namespace_id = named.id and ${unexpired('mb')}
        join users u on u.id = mb.user_id
        join ${tableOf(type)} m on m.id = ${id} ${joinHolder(type)}
        join users author on author.id = ${authorId}
      where r.path_key = any(${paths}::text[])
        and not r.redirect
        and not named.deleting
        and (
          author.admin
          or named.visibility = ${visibilities.public}
          or (named.visibility = ${visibilities.internal} and not author.external)
          or exists (
            select
            from group_access a
            where a.group_id = named.id and a.user_id = author.id and a.expires_on > current_date
          )
        )
        and ${readersOfRow(type)}
      order by u.id
      limit ${literal(maxMembers)}
    `,
  )

/** Makes exactly these users mentioned in a note, or in the description; returns those who were not before. */
export async function replaceMentions(
  tx: Tx,
  noteable: Noteable,
  noteId: number | null,
  userIds: readonly number[],
): Promise<number[]> {
  const rows = await tx.rows(
    { user_id: integer },
    sql`
      with gone as (
        delete from mentions o
        where ${isAbout('o', noteable)}
          and o.note_id is not distinct from ${noteId}
          and o.user_id <> all(${userIds}::bigint[])
      )
      insert into mentions (${columnOf(noteable.type)}, note_id, user_id)
      select ${noteable.id}, ${noteId}, m
      from unnest(${userIds}::bigint[]) m
      on conflict do nothing
      returning user_id
    `,
  )
  return rows.map(({ user_id }) => user_id)
}
