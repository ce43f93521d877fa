import type { List } from '../../../api/list.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, notNull, nullable, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import type { NoteableType } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, isAbout, tableOf } from '../noteables/queries.ts'

/** What is awarded: a noteable, or a note of it. */
export type Awardable = { readonly noteable: Noteable; readonly noteId: number | null }

export const awardRow = {
  id: integer,
  noteable_type: textOf<NoteableType>(),
  noteable_id: notNull(integer),
  note_id: nullable(integer),
  name: text,
  user: json<UserReferenceRow>(),
  created_at: timestamp,
  updated_at: timestamp,
}
export type AwardRow = RowOf<typeof awardRow>

const columns = (type: NoteableType): Sql =>
  sql`
    a.id, ${type}::text as noteable_type, a.${columnOf(type)} as noteable_id, a.note_id, a.name,
    ${userReferenceJson('u')} as user, a.created_at, a.updated_at
  `

const of = ({ noteable, noteId }: Awardable): Sql =>
  sql`${isAbout('a', noteable)} and a.note_id is not distinct from ${noteId}`

/** Oldest first. */
export const awardsOf = (awardable: Awardable): List => ({
  type: 'AwardEmoji',
  select: sql`select ${columns(awardable.noteable.type)} from award_emoji a join users u on u.id = a.user_id`,
  from: raw('from award_emoji a'),
  where: [of(awardable)],
  order: [{ by: raw('a.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

export const findAward = (db: Db, awardable: Awardable, id: number): Promise<AwardRow | undefined> =>
  db.row(
    awardRow,
    sql`
      select ${columns(awardable.noteable.type)}
      from award_emoji a join users u on u.id = a.user_id
      where ${of(awardable)} and a.id = ${id}
    `,
  )

/** The id of the award of a user with this emoji. */
export const findAwardByName = async (
  db: Db,
  awardable: Awardable,
  userId: number,
  name: string,
): Promise<number | undefined> =>
  (
    await db.row(
      { id: integer },
      sql`select a.id from award_emoji a where ${of(awardable)} and a.user_id = ${userId} and a.name = ${name}`,
    )
  )?.id

/** Undefined if the user has given it before, or if the noteable or note is deleted. */
export const insertAward = (
  tx: Tx,
  { noteable: { type, id }, noteId }: Awardable,
  userId: number,
  name: string,
): Promise<AwardRow | undefined> =>
  tx.row(
    awardRow,
    sql`
      with a as (
        insert into award_emoji (${columnOf(type)}, note_id, user_id, name)
        select m.id, n.id, ${userId}, ${name}
        from ${tableOf(type)} m left join notes n on n.id = ${noteId} and n.${columnOf(type)} = m.id
        where m.id = ${id} and n.id is not distinct from ${noteId}
        on conflict do nothing
        returning *
      )
      select ${columns(type)}
      from a join users u on u.id = a.user_id
    `,
  )

/** A join: how many users like the noteable `m` of this type (`votes.up`), and how many do not (`votes.down`). */
export const joinVotes = (type: NoteableType): Sql => sql`
  cross join lateral (
    select count(*) filter (where e.name = 'thumbsup')::integer as up,
      count(*) filter (where e.name = 'thumbsdown')::integer as down
    from award_emoji e
    where e.${columnOf(type)} = m.id and coalesce(e.note_id, 0) = 0 and e.name in ('thumbsup', 'thumbsdown')
  ) as votes
`

/** False if it is deleted already. Locks the noteable, whose votes a trigger counts, before the award, as who deletes the noteable does. */
export const deleteAward = async (tx: Tx, { type, id: noteableId }: Noteable, id: number): Promise<boolean> =>
  (await tx.run(sql`
    with m as materialized (select id from ${tableOf(type)} where id = ${noteableId} for no key update)
    delete from award_emoji a using m
    where a.id = ${id} and a.${columnOf(type)} = m.id
  `)) > 0
