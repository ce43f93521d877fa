import type { Tx } from '../../../db/db.ts'
import { integer, nullable, text } from '../../../db/row.ts'
import { literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { holderIds } from '../../groups/index.ts'
import { isScheduled, numberedTypes } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import { columnOf, sourceColumnOf } from '../noteables/queries.ts'
import { mayName } from '../notes/references.ts'

/** The columns that a copy of a note has in common with the note, of this alias; only notes of commits have a `changed_line`. */
const copied = (alias = ''): Sql =>
  raw(
    [
      ...['author_id', 'threaded', 'system', 'body', 'position', 'resolved_at', 'resolved_by_id', 'created_at'],
      ...['updated_at', 'repeats', 'source_project_id', 'source_commit'],
      ...numberedTypes.map((type) => sourceColumnOf(type).sql),
    ]
      .map((column) => `${alias}${column}`)
      .join(', '),
  )

/**
 * Copies all notes of a noteable to another one, with authors and times, and the awards and mentions of these notes. The
 * copies have ids and discussion ids of their own, in the same order. One statement.
 */
export const copyNotes = (tx: Tx, from: Noteable, to: Noteable): Promise<number> => {
  const [old, column] = [columnOf(from.type), columnOf(to.type)]
  return tx.run(sql`
    with copied as (
      select each.*, nextval(pg_get_serial_sequence('notes', 'id')) as new_id
      from (select n.* from notes n where n.${old} = ${from.id} order by n.id) as each
    ),
    inserted as (
      insert into notes (id, project_id, ${column}, discussion_id, ${copied()})
      select c.new_id, ${holderIds(to.holder).projectId}::bigint, ${to.id},
        left(encode(sha256(convert_to(${String(to.id)} || ' ' || c.discussion_id, 'UTF8')), 'hex'), 40), ${copied('c.')}
      from copied c
    ),
    mentioned as (
      insert into mentions (${column}, note_id, user_id)
      select ${to.id}, c.new_id, o.user_id
      from mentions o join copied c on c.id = o.note_id
    )
    insert into award_emoji (${column}, note_id, user_id, name, created_at, updated_at)
    select ${to.id}, c.new_id, a.user_id, a.name, a.created_at, a.updated_at
    from award_emoji a join copied c on c.id = a.note_id
    order by a.id
  `)
}

/** Copies awards, mentions of the description, subscriptions and, between kinds that have it, logged time to another noteable. */
export async function copyAround(tx: Tx, from: Noteable, to: Noteable): Promise<void> {
  const [old, column] = [columnOf(from.type), columnOf(to.type)]
  await tx.run(sql`
    insert into award_emoji (${column}, user_id, name, created_at, updated_at)
    select ${to.id}, a.user_id, a.name, a.created_at, a.updated_at
    from award_emoji a
    where a.${old} = ${from.id} and a.note_id is null
    order by a.id
  `)
  await tx.run(sql`
    insert into mentions (${column}, user_id)
    select ${to.id}, o.user_id
    from mentions o
    where o.${old} = ${from.id} and o.note_id is null
  `)
  await tx.run(sql`
    insert into subscriptions (${column}, user_id, subscribed, updated_at)
    select ${to.id}, s.user_id, s.subscribed, s.updated_at
    from subscriptions s
    where s.${old} = ${from.id}
  `)
  if (isScheduled(from.type) && isScheduled(to.type))
    await tx.run(sql`
      insert into time_logs (${column}, user_id, seconds, spent_at, created_at)
      select ${to.id}, t.user_id, t.seconds, t.spent_at, t.created_at
      from time_logs t
      where t.${old} = ${from.id}
      order by t.id
    `)
}

/** Maximum notes that are read at once. */
const batch = 50
/** Bytes of texts after which no further note is read at once; a text may have more. */
const batchBytes = 1_000_000

/**
 * Some notes of a noteable in order of id, from after an id; with its text if that may refer to noteables or uploads. Empty after the last
 * one. Lengths are known without reading the texts.
 */
export const nextNotes = (
  tx: Tx,
  { type, id }: Pick<Noteable, 'type' | 'id'>,
  after: number,
): Promise<{ id: number; referring: string | null }[]> =>
  tx.rows(
    { id: integer, referring: nullable(text) },
    sql`
      select n.id, case when n.body ~ ${mayName} or n.body like '%/uploads/%' then n.body end as referring
      from (
        select each.id, each.body, sum(octet_length(each.body)) over (order by each.id) as bytes
        from (
          select o.id, o.body
          from notes o
          where o.${columnOf(type)} = ${id} and o.id > ${after} and not o.system
          order by o.id
          limit ${literal(batch)}
        ) as each
      ) as n
      where n.bytes - octet_length(n.body) < ${literal(batchBytes)}
      order by n.id
    `,
  )

/** Changes the texts of notes. */
export const saveTexts = (tx: Tx, notes: readonly { readonly id: number; readonly text: string }[]): Promise<number> =>
  tx.run(sql`
    update notes n
    set body = c.body
    from unnest(${notes.map(({ id }) => id)}::bigint[], ${notes.map((note) => note.text)}::text[]) as c (id, body)
    where n.id = c.id
  `)
