import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, notNull, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Timestamp } from '../../../db/types.ts'
import { holderIds } from '../../groups/index.ts'
import type { NoteableType } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, isAbout } from '../noteables/queries.ts'
import type { ChangedLine } from '../positions/diff-lines.ts'
import type { NotePlace, Position, TextPosition } from '../positions/position.ts'
import { longestDiscussion, noteOverhead } from './text.ts'

/** Whether a discussion of the noteable of this type and id is unresolved. */
export const unresolvedSql = (type: NoteableType, id: Sql): Sql => sql`
  exists (select from notes r where r.${columnOf(type)} = ${id} and r.threaded and r.resolved_at is null)
`

export const hasUnresolved = async (db: Db, { type, id }: Pick<Noteable, 'type' | 'id'>): Promise<boolean> =>
  (await db.row({ unresolved: boolean }, sql`select ${unresolvedSql(type, sql`${id}::bigint`)} as unresolved`))!
    .unresolved

export type NewNote = {
  readonly authorId: number
  readonly discussionId: string
  readonly body: string
  /** A system note. */
  readonly system?: boolean
  /** Part of a resolvable discussion. */
  readonly threaded?: boolean
  /** Resolved by its author on creation: the discussion was resolved before. */
  readonly resolved?: boolean
  readonly place?: NotePlace | null
  readonly createdAt?: Date | undefined
}

const asJson = (value: object | null | undefined): Sql => sql`${value ? JSON.stringify(value) : null}::jsonb`

export const insertNote = async (
  tx: Tx,
  { type, id, holder }: Noteable,
  note: NewNote,
): Promise<{ id: number; created_at: Timestamp }> => {
  const { system = false, threaded = false, resolved = false, place = null, createdAt = null } = note
  const made = await tx.row(
    { id: integer, created_at: timestamp },
    sql`
      insert into notes (
        project_id, ${columnOf(type)}, author_id, discussion_id, threaded, system, body, position,
        changed_line, resolved_at, resolved_by_id, created_at, updated_at
      )
      values (
        ${holderIds(holder).projectId}, ${id}, ${note.authorId}, ${note.discussionId}, ${threaded}, ${system},
        ${note.body}, ${asJson(place?.position)}, ${asJson(place?.changedLine)},
        case when ${resolved} then now() end, case when ${resolved} then ${note.authorId}::bigint end,
        coalesce(${createdAt}, now()), coalesce(${createdAt}, now())
      )
      returning id, created_at
    `,
  )
  return made!
}

/** The first note of a discussion, and whether all of it is resolved. */
export const discussionRootRow = {
  system: boolean,
  threaded: boolean,
  position: nullable(json<Position>()),
  changed_line: nullable(json<ChangedLine>()),
  resolved: boolean,
}
export type DiscussionRoot = RowOf<typeof discussionRootRow>

const inDiscussion = (alias: string, noteable: Noteable, discussionId: string): Sql =>
  sql`${isAbout(alias, noteable)} and ${raw(alias)}.discussion_id = ${discussionId}`

export const findRoot = (tx: Tx, noteable: Noteable, discussionId: string): Promise<DiscussionRoot | undefined> =>
  tx.row(
    discussionRootRow,
    sql`
      select n.system, n.threaded, n.position, n.changed_line, n.threaded
        and not exists (
          select from notes o where ${inDiscussion('o', noteable, discussionId)} and o.resolved_at is null
        ) as resolved
      from notes n
      where ${inDiscussion('n', noteable, discussionId)}
      order by n.id
      limit 1
    `,
  )

/** The bytes of a note in the record of its discussion. */
export const bytesOfNote = (alias: string): Sql => raw(`(octet_length(${alias}.body) + ${noteOverhead})`)

export const isTooLong = (tx: Tx, noteable: Noteable, discussionId: string): Promise<boolean> =>
  tx.exists(sql`
    select
    from notes n
    where ${inDiscussion('n', noteable, discussionId)}
    having sum(${bytesOfNote('n')}) > ${literal(longestDiscussion)}
  `)

/** Turns a single note into a discussion. */
export const makeThread = (tx: Tx, noteable: Noteable, discussionId: string): Promise<number> =>
  tx.run(sql`update notes n set threaded = true where ${inDiscussion('n', noteable, discussionId)}`)

/** Whether the note has more bytes than before; undefined if it is deleted. Its noteable is locked. */
export const updateNote = async (tx: Tx, id: number, body: string): Promise<boolean | undefined> =>
  (
    await tx.row(
      { grew: boolean },
      sql`
        update notes n
        set body = ${body}, updated_at = now()
        from (select o.id, octet_length(o.body) as bytes from notes o where o.id = ${id}) as before
        where n.id = before.id
        returning octet_length(n.body) > before.bytes as grew
      `,
    )
  )?.grew

/** False if it is deleted already. */
export const deleteNote = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`delete from notes where id = ${id}`)) > 0

/** Unresolved discussions at lines of a diff, with the position of their first note. At most 1,000. */
export const unresolvedPositions = (
  db: Db,
  noteable: Noteable,
): Promise<{ discussion_id: string; position: TextPosition }[]> =>
  db.rows(
    { discussion_id: text, position: notNull(json<TextPosition>()) },
    sql`
      select distinct on (n.discussion_id) n.discussion_id, n.position
      from notes n
      where ${isAbout('n', noteable)}
        and n.threaded
        and n.resolved_at is null
        and n.position ->> 'position_type' = 'text'
      order by n.discussion_id, n.id
      limit 1000
    `,
  )

/** The notes that are resolved together: one note of a discussion, or all. */
export type Resolvable = { readonly discussionId: string; readonly noteId?: number }

const those = (noteable: Noteable, { discussionId, noteId }: Resolvable): Sql =>
  sql`
    ${inDiscussion('n', noteable, discussionId)}
    and n.threaded
    and ${noteId === undefined ? raw('true') : sql`n.id = ${noteId}`}
  `

/** Returns how many were unresolved before. */
export const resolveNotes = (tx: Tx, noteable: Noteable, which: Resolvable, userId: number): Promise<number> =>
  tx.run(sql`
    update notes n
    set resolved_at = now(), resolved_by_id = ${userId}
    where ${those(noteable, which)} and n.resolved_at is null
  `)

/** Returns how many were resolved before. */
export const unresolveNotes = (tx: Tx, noteable: Noteable, which: Resolvable): Promise<number> =>
  tx.run(sql`
    update notes n
    set resolved_at = null, resolved_by_id = null
    where ${those(noteable, which)} and n.resolved_at is not null
  `)
