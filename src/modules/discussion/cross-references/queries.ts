import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { integer, type RowOf, text, textOf } from '../../../db/row.ts'
import { join, type Sql, sql } from '../../../db/sql.ts'
import { holderId, holderPath, holderRemains, isHeld, joinHolder, visibleHolder } from '../noteables/holder-queries.ts'
import { type NoteableType, noteableTypes } from '../noteables/kinds.ts'
import { columnOf, numberOf, readableRow, tableOf } from '../noteables/queries.ts'

const sourceRow = {
  type: textOf<NoteableType>(),
  id: integer,
  /** What references name it by: its number, or the object id of a commit. */
  name: text,
  holder_id: integer,
  full_path: text,
  author_id: integer,
  text,
}
export type TextSource = RowOf<typeof sourceRow>

/** Title and description of a noteable. */
export const findDescription = (db: Db, type: NoteableType, id: number): Promise<TextSource | undefined> =>
  db.row(
    sourceRow,
    sql`
      select ${type}::text as type, m.id, ${numberOf(type, 'm')}::text as name, ${holderId(type)} as holder_id,
        ${holderPath(type)} as full_path, m.author_id, m.title || E'\n\n' || coalesce(m.description, '') as text
      from ${tableOf(type)} m ${joinHolder(type)} and ${holderRemains(type)}
      where m.id = ${id}
    `,
  )

/** A note, with its noteable; undefined for system notes, which mention nothing. */
export const findNoteText = (db: Db, noteId: number): Promise<TextSource | undefined> => {
  const ofKind = (type: NoteableType): Sql => sql`
    select ${type}::text as type, m.id, ${numberOf(type, 'm')}::text as name, ${holderId(type)} as holder_id,
      ${holderPath(type)} as full_path, n.author_id, n.body as text
    from notes n join ${tableOf(type)} m on m.id = n.${columnOf(type)} ${joinHolder(type)} and ${holderRemains(type)}
    where n.id = ${noteId} and not n.system
  `
  return db.row(sourceRow, join(noteableTypes.map(ofKind), ' union all '))
}

/** Whether title or description of a noteable match a pattern. */
export const descriptionMayName = (type: NoteableType, id: number, pattern: string): Sql => sql`
  exists (select from ${tableOf(type)} where id = ${id} and (title ~ ${pattern} or description ~ ${pattern}))
`

/** Whether a note matches a pattern; system notes do not. */
export const noteMayName = (noteId: number, pattern: string): Sql =>
  sql`exists (select from notes where id = ${noteId} and not system and body ~ ${pattern})`

const namedRow = { id: integer, iid: integer, holder_id: integer, full_path: text }
export type FoundRow = RowOf<typeof namedRow>

/** The noteables of a kind with these full paths, in lower case, and numbers, of those that the caller may read. */
export const findNamed = (
  db: Db,
  caller: Caller,
  type: NoteableType,
  names: readonly { readonly path: string; readonly iid: number }[],
): Promise<FoundRow[]> =>
  db.rows(
    namedRow,
    sql`
      select m.id, ${numberOf(type, 'm')} as iid, ${holderId(type)} as holder_id, ${holderPath(type)} as full_path
      from unnest(
          ${names.map(({ path }) => path)}::text[], ${names.map(({ iid }) => iid)}::integer[]
        ) with ordinality as named (path, iid, place)
        join routes r on r.path_key = named.path ${joinHolder(type, 'r')}
        join ${tableOf(type)} m on ${isHeld(type)} and ${numberOf(type, 'm')} = named.iid
      where ${visibleHolder(type, caller)} and ${readableRow(type, caller)}
      order by named.place
    `,
  )
