import type { Caller } from '../../../access/actor.ts'
import type { Direction, List } from '../../../api/list.ts'
import { byKey, type Db, type Tx } from '../../../db/db.ts'
import { boolean, integer, json, nullable, type RowOf, text, textOf, timestamp } from '../../../db/row.ts'
import { asColumns, asJsonObject, join, literal, raw, type Sql, sql, wireTime } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { readableCode, visibleProjects } from '../../projects/index.ts'
import { groupTypes, isNumbered, kindOf, type NoteableType, numberedOfProjects } from '../noteables/kinds.ts'
import type { Noteable } from '../noteables/noteable.ts'
import {
  columnOf,
  isAbout,
  numberOf,
  readableById,
  readableRow,
  sourceColumnOf,
  tableOf,
} from '../noteables/queries.ts'
import type { ChangedLine } from '../positions/diff-lines.ts'
import type { Position } from '../positions/position.ts'
import { type SuggestionRow, suggestionsJson } from '../suggestions/queries.ts'
import { hasRoom, listedBody } from './page-size-queries.ts'
import { bytesOfNote } from './queries.ts'
import { longestDiscussion } from './text.ts'

/** A comment on a noteable, or a system note about an action of a user. */
export const noteRow = {
  id: integer,
  discussion_id: text,
  noteable_type: textOf<NoteableType>(),
  noteable_id: integer,
  /** Number by which references name the noteable; null for a commit. */
  noteable_iid: nullable(integer),
  /** Object id of the commit that the note is about. */
  commit_oid: nullable(text),
  author: json<UserReferenceRow>(),
  body: text,
  system: boolean,
  threaded: boolean,
  position: nullable(json<Position>()),
  changed_line: nullable(json<ChangedLine>()),
  resolved_at: nullable(timestamp),
  resolved_by: nullable(json<UserReferenceRow>()),
  /** Changes that its text suggests; null if there are none. */
  suggestions: nullable(json<SuggestionRow[]>()),
  created_at: timestamp,
  updated_at: timestamp,
}
export type NoteRow = RowOf<typeof noteRow>

export const discussionRow = {
  /** Of its first note. */
  id: integer,
  discussion_id: text,
  /** Oldest first; at least one. */
  notes: json<NoteRow[]>(),
}
export type DiscussionRow = RowOf<typeof discussionRow>

/** As in a page: without its text if the page is too long before it. */
export const listedNoteRow = { ...noteRow, body: nullable(text) }
/** As in a page: without its notes if the page is too long before it. */
export const listedDiscussionRow = { ...discussionRow, notes: nullable(json<NoteRow[]>()) }

/**
 * Condition on the note `n`: it is no cross-reference, or the caller may read what refers to its noteable. Looked up at the time of
 * reading, because access to the source changes.
 */
export const visibleNote = (caller: Caller): Sql => sql`
  (
    (
      n.source_project_id is null
      and ${raw(groupTypes.map((type) => `n.source_${kindOf(type).column} is null`).join(' and '))}
    )
    or exists (
      select
      from projects p
      where p.id = n.source_project_id
        and not p.deleting
        and ${visibleProjects(caller)}
        and case
          when n.source_commit is not null then ${readableCode(caller)} ${join(
            numberedOfProjects.map((type) => readableSource(caller, type)),
            ' ',
          )}
        end
    )
    or ${join(
      groupTypes.map((type) => readableById(type, sql`n.${sourceColumnOf(type)}`, caller)),
      ' or ',
    )}
  )
`

const readableSource = (caller: Caller, type: (typeof numberedOfProjects)[number]): Sql => sql`
  when n.${sourceColumnOf(type)} is not null then exists (
    select from ${tableOf(type)} m where m.id = n.${sourceColumnOf(type)} and ${readableRow(type, caller)}
  )
`

const joins = (type: NoteableType, notes = raw('notes')): Sql => sql`
  from ${notes} n
    join ${tableOf(type)} m on m.id = n.${columnOf(type)}
    join users u on u.id = n.author_id
    left join users r on r.id = n.resolved_by_id
`

/** What a note is about, as its record says. */
type About = { readonly type: Sql; readonly id: Sql; readonly iid: Sql; readonly oid: Sql }

/** The columns of the record of the note `n`, by the author `u`, resolved by the user `r`. */
export const noteColumns = (about: About, body: Sql = raw('n.body'), time: (column: Sql) => Sql = (column) => column) =>
  ({
    id: raw('n.id'),
    discussion_id: raw('n.discussion_id'),
    noteable_type: about.type,
    noteable_id: about.id,
    noteable_iid: about.iid,
    commit_oid: about.oid,
    author: userReferenceJson('u'),
    body,
    system: raw('n.system'),
    threaded: raw('n.threaded'),
    position: raw('n.position'),
    changed_line: raw('n.changed_line'),
    resolved_at: time(raw('n.resolved_at')),
    resolved_by: sql`case when r.id is not null then ${userReferenceJson('r')} end`,
    suggestions: suggestionsJson,
    created_at: time(raw('n.created_at')),
    updated_at: time(raw('n.updated_at')),
  }) satisfies Record<keyof NoteRow, Sql>

/** The noteable `m`, which has a number or an object id. */
const aboutNoteable = (type: NoteableType): About => ({
  type: sql`${type}::text`,
  id: raw('m.id'),
  iid: isNumbered(type) ? numberOf(type, 'm') : raw('null::integer'),
  oid: isNumbered(type) ? raw('null::text') : numberOf(type, 'm'),
})

const note = (type: NoteableType, body?: Sql): Sql =>
  sql`select ${asColumns(noteColumns(aboutNoteable(type), body))} ${joins(type)}`

const noteJson = (type: NoteableType): Sql => asJsonObject(noteColumns(aboutNoteable(type), undefined, wireTime))

/** The notes of the discussion of `f`, each with the bytes of those before it. */
const notesUpToHere = (type: NoteableType): Sql => sql`
  (
    select o.*, sum(${bytesOfNote('o')}) over (order by o.id) - ${bytesOfNote('o')} as bytes_before
    from notes o
    where o.${columnOf(type)} = f.${columnOf(type)} and o.discussion_id = f.discussion_id
  )
`

/** The notes of the discussion of `f`, up to the limit of a record. */
const notesJson = (type: NoteableType): Sql => sql`
  (
    select json_agg(${noteJson(type)} order by n.id) ${joins(type, notesUpToHere(type))}
    where n.bytes_before < ${literal(longestDiscussion)}
  )
`

const discussion = (type: NoteableType): Sql =>
  sql`select f.id, f.discussion_id, ${notesJson(type)} as notes from notes f`

/** Bytes of the discussion of `f`, of which its record has no more than about the limit. */
const bytesOfDiscussion = (type: NoteableType): Sql => sql`
  (
    select least(sum(${bytesOfNote('o')}), ${literal(longestDiscussion)})
    from notes o
    where o.${columnOf(type)} = f.${columnOf(type)} and o.discussion_id = f.discussion_id
  )
`

const listedDiscussion = (type: NoteableType): Sql => sql`
  select f.id, f.discussion_id,
    case when ${hasRoom(bytesOfDiscussion(type), raw('f.id'))} then ${notesJson(type)} end as notes
  from notes f
`

export type NoteOrder = { readonly order_by: 'created_at' | 'updated_at'; readonly sort: Direction }

/** A page is read with `fetchNotes`, as those of the lists below are. */
export const notesOf = (noteable: Noteable, caller: Caller, { order_by, sort }: NoteOrder): List => ({
  type: 'Note',
  select: note(noteable.type, listedBody(raw(`n.${order_by} ${sort}, n.id ${sort}`))),
  from: raw('from notes n'),
  key: raw('n.id'),
  onePlan: true,
  where: [isAbout('n', noteable), visibleNote(caller)],
  order: [
    { by: order_by === 'created_at' ? raw('n.created_at') : raw('n.updated_at'), direction: sort },
    { by: raw('n.id'), direction: sort },
  ],
})

/** Notes of a discussion, oldest first. */
export const notesOfDiscussion = (noteable: Noteable, caller: Caller, discussionId: string): List => ({
  type: 'Note',
  select: note(noteable.type, listedBody(raw('n.id'))),
  from: raw('from notes n'),
  key: raw('n.id'),
  onePlan: true,
  where: [isAbout('n', noteable), sql`n.discussion_id = ${discussionId}`, visibleNote(caller)],
  order: [{ by: raw('n.id'), direction: 'asc' }],
  keyset: { direction: 'asc' },
})

/** Ordered by their first note; a page is read with `fetchDiscussions`. */
export const discussionsOf = (noteable: Noteable, caller: Caller): List => ({
  type: 'Discussion',
  select: listedDiscussion(noteable.type),
  from: raw('from notes f'),
  key: raw('f.id'),
  onePlan: true,
  where: [
    isAbout('f', noteable),
    sql`exists (select from notes n where n.id = f.id and ${visibleNote(caller)})`,
    sql`
      not exists (
        select from notes e where ${isAbout('e', noteable)} and e.discussion_id = f.discussion_id and e.id < f.id
      )
    `,
  ],
  order: [{ by: raw('f.id'), direction: 'asc' }],
})

export const findDiscussion = (
  db: Db | Tx,
  noteable: Noteable,
  caller: Caller,
  discussionId: string,
): Promise<DiscussionRow | undefined> =>
  db.snapshotCache.row(
    discussionRow,
    byKey(sql`
      ${discussion(noteable.type)}
      where ${isAbout('f', noteable)}
        and f.discussion_id = ${discussionId}
        and exists (select from notes n where n.id = f.id and ${visibleNote(caller)})
      order by f.id
      limit 1
    `),
  )

/** The first note of a discussion. Undefined if there is no such discussion, or the caller may not read it. */
export const findFirstNote = (
  db: Db | Tx,
  noteable: Noteable,
  caller: Caller,
  discussionId: string,
): Promise<NoteRow | undefined> =>
  db.snapshotCache.row(
    noteRow,
    byKey(sql`
      ${note(noteable.type)}
      where ${isAbout('n', noteable)} and n.discussion_id = ${discussionId} and ${visibleNote(caller)}
      order by n.id
      limit 1
    `),
  )

/** A note of a noteable; with a discussion, one of its notes. */
export const findNote = (
  db: Db | Tx,
  noteable: Noteable,
  caller: Caller,
  id: number,
  discussionId?: string,
): Promise<NoteRow | undefined> =>
  db.snapshotCache.row(
    noteRow,
    byKey(sql`
      ${note(noteable.type)}
      where ${isAbout('n', noteable)} and n.id = ${id} and ${ofDiscussion(discussionId)} and ${visibleNote(caller)}
    `),
  )

const ofDiscussion = (id: string | undefined): Sql => (id === undefined ? raw('true') : sql`n.discussion_id = ${id}`)
