import type { Db, Tx } from '../../../db/db.ts'
import { integer, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, isAbout, readersOf } from '../noteables/queries.ts'

export const mentionedRow = {
  id: integer,
  name: text,
}
export type Mentioned = RowOf<typeof mentionedRow>

/** The users of these names, in lower case, who may read noteables of this kind in its project. One statement. */
export const readersNamed = (db: Db, { type, project_id }: Noteable, names: readonly string[]): Promise<Mentioned[]> =>
  db.rows(
    mentionedRow,
    sql`
      select u.id, lower(u.username) as name
      from users u join projects p on p.id = ${project_id}
      where lower(u.username) = any(${names}::text[]) and ${readersOf(type)}
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
