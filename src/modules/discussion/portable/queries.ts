import {
  author,
  flag,
  hex,
  moment,
  oid,
  orElse,
  orNull,
  participant,
  partOf,
  partOfOrNull,
  person,
  self,
  structure,
  whole,
  words,
} from '../../../db/portable/columns.ts'
import { type Amending, below, type PortableRecord, type Relation } from '../../../db/portable/relation.ts'
import { raw, sql } from '../../../db/sql.ts'
import { kindOf, type NoteableType } from '../noteables/kinds.ts'
import { isPosition } from '../positions/position.ts'

/** More than a note may have, because each import may add a line. */
const mostText = 1_100_000

/** The text of a note whose author the importer replaces says who wrote it. */
function signed(record: PortableRecord, { lostName }: Amending): PortableRecord {
  const name = lostName(String(record['author']))
  if (name === undefined || record['system'] === true) return record
  const at = String(record['updated_at']).slice(0, 19).replace('T', ' ')
  const body = String(record['note'])
  const note = `${body.trim() === '' ? '*Blank note*' : body}\n\n *By ${plainName(name)} on ${at} UTC (imported from a project archive)*`
  return { ...record, note }
}

/** A name is not Markdown, and mentions no one. */
export const plainName = (name: string): string => name.replace(/[\\*_`[\]<>@#!~$%&|\r\n]/g, ' ').slice(0, 255)

/** What is said about noteables of a kind: notes, awards, subscriptions, mentions, and for planned work also time and people. */
function ofKind(type: NoteableType): Relation[] {
  const { table, column, planned, number } = kindOf(type)
  const one = column.replace(/_id$/, '')
  const noteable = { [one]: { ...partOf(table), column } }
  const notes = `${one}_notes`
  const byNumber = `m.${number}`
  const note = { note: { ...partOfOrNull(notes), column: 'note_id' } }
  return [
    {
      name: notes,
      ...below(table, column, 'notes'),
      // A mention by another project is not exported: who reads the archive might not be allowed to know of it.
      where: ({ id }) =>
        sql`m.project_id = ${id} and (t.source_project_id is null or t.source_project_id = m.project_id)`,
      order: [byNumber, 't.id'],
      columns: {
        ...noteable,
        author: { ...author, column: 'author_id' },
        discussion_id: hex(40),
        threaded: orElse(flag, false),
        system: orElse(flag, false),
        note: { ...words(mostText), column: 'body' },
        position: orNull(structure(isPosition)),
        resolved_at: orNull(moment),
        resolved_by: { ...person, column: 'resolved_by_id' },
        created_at: moment,
        updated_at: moment,
        own_source: { ...self, column: 'source_project_id' },
        source_issue: { ...partOfOrNull('issues'), column: 'source_issue_id' },
        source_merge_request: { ...partOfOrNull('merge_requests'), column: 'source_merge_request_id' },
        source_snippet: { ...partOfOrNull('snippets'), column: 'source_snippet_id' },
        source_commit: orNull(oid),
        repeats: orElse(flag, false),
      },
      hasId: true,
      holder: ['project_id'],
      amend: signed,
      batch: 50,
    },
    {
      name: `${one}_awards`,
      ...below(table, column, 'award_emoji'),
      order: [byNumber, 't.id'],
      columns: {
        ...noteable,
        ...note,
        author: { ...author, column: 'user_id' },
        name: words(100, /^[a-z0-9_+-]+$/),
        created_at: moment,
        updated_at: moment,
      },
      repeats: 'skip',
    },
    {
      name: `${one}_mentions`,
      ...below(table, column, 'mentions'),
      order: [byNumber, 't.id'],
      columns: { ...noteable, ...note, user: { ...participant, column: 'user_id' } },
      repeats: 'skip',
    },
    {
      name: `${one}_subscriptions`,
      ...people(table, column, 'subscriptions', byNumber),
      columns: { ...noteable, user: { ...participant, column: 'user_id' }, subscribed: flag, updated_at: moment },
      repeats: 'skip',
    },
    ...(planned
      ? [
          {
            name: `${one}_time_logs`,
            ...below(table, column, 'time_logs'),
            order: [byNumber, 't.id'],
            columns: {
              ...noteable,
              author: { ...author, column: 'user_id' },
              seconds: whole(-(2 ** 31) + 1),
              spent_at: moment,
              created_at: moment,
            },
          } satisfies Relation,
          ...planned.assigned.map(
            (assigned): Relation => ({
              name: assigned,
              ...people(table, column, assigned, byNumber),
              columns: { ...noteable, user: { ...author, column: 'user_id' } },
              repeats: 'skip',
            }),
          ),
        ]
      : []),
  ]
}

/** Rows of users, in the order of their names. */
const people = (parent: string, column: string, table: string, byNumber: string) => ({
  ...below(parent, column, table),
  from: raw(`from ${parent} m join ${table} t on t.${column} = m.id join users u on u.id = t.user_id`),
  order: [byNumber, { text: 'u.username' }],
})

/** What `discussion` has of a project. Notes may refer to noteables of every kind. */
export const discussionRelations = (types: readonly NoteableType[]): readonly Relation[] => types.flatMap(ofKind)
