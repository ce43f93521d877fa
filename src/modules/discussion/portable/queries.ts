import {
  author,
  type Column,
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
import type { Amending, Holder, PortableRecord, Relation } from '../../../db/portable/relation.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import { belowHeld } from '../../groups/index.ts'
import { isNumbered, kindOf, type NoteableType } from '../noteables/kinds.ts'
import { isChangedLine, isPosition } from '../positions/position.ts'
import { suggestionRelation } from './suggestion-queries.ts'

/** More than a note may have, because each import may add a line. Comments of commits once had no limit but that of requests. */
const mostText = { text: 1_100_000, batch: 50 }
const mostTextOfCommits = { text: 8 * 1024 * 1024, batch: 5 }

/** The text of a note whose author the importer replaces says who wrote it. */
function signed(of: Holder['of'], record: PortableRecord, { lostName }: Amending): PortableRecord {
  const name = lostName(String(record['author']))
  if (name === undefined || record['system'] === true) return record
  const at = String(record['updated_at']).slice(0, 19).replace('T', ' ')
  const body = String(record['note'])
  const note = `${body.trim() === '' ? '*Blank note*' : body}\n\n *By ${plainName(name)} on ${at} UTC (imported from a ${of} archive)*`
  return { ...record, note }
}

/** A name is not Markdown, and mentions no one. It is cut between characters: PostgreSQL stores no half of an emoji. */
export const plainName = (name: string): string =>
  [...name.replace(/[\\*_`[\]<>@#!~$%&|\r\n]/g, ' ')].slice(0, 255).join('')

/** A mention from outside the archive is not exported: who reads the archive might not be allowed to know of it. */
const mentionsWithin: Readonly<Record<Holder['of'], Sql>> = {
  project: sql`(t.source_project_id is null or t.source_project_id = m.project_id) and t.source_epic_id is null`,
  // A reference to an epic that is not in the archive leaves the note out.
  group: sql`t.source_project_id is null`,
}

/** What mentions. */
const sources: Readonly<Record<Holder['of'], Readonly<Record<string, Column>>>> = {
  project: {
    own_source: { ...self, column: 'source_project_id' },
    source_issue: { ...partOfOrNull('issues'), column: 'source_issue_id' },
    source_merge_request: { ...partOfOrNull('merge_requests'), column: 'source_merge_request_id' },
    source_snippet: { ...partOfOrNull('snippets'), column: 'source_snippet_id' },
    source_commit: orNull(oid),
  },
  group: { source_epic: { ...partOfOrNull('epics'), column: 'source_epic_id' } },
}

/** Only work of projects has lines and discussions that are resolved. */
const ofDiffs: Readonly<Record<string, Column>> = {
  position: orNull(structure(isPosition)),
  resolved_at: orNull(moment),
  resolved_by: { ...person, column: 'resolved_by_id' },
}

/** What is said about noteables of a kind: notes, awards, subscriptions, mentions, and for planned work also time and people. */
function ofKind(type: NoteableType): Relation[] {
  const { table, column, planned, number, holder, diff } = kindOf(type)
  const one = column.replace(/_id$/, '')
  const noteable = { [one]: { ...partOf(table), column } }
  const notes = `${one}_notes`
  const below = (child: string) => belowHeld(holder.of, table, column, child)
  const order = [...below('notes').order, isNumbered(type) ? `m.${number}` : { text: `m.${number}` }]
  const most = isNumbered(type) ? mostText : mostTextOfCommits
  const note = { note: { ...partOfOrNull(notes), column: 'note_id' } }
  return [
    {
      name: notes,
      ...below('notes'),
      where: (archived) => sql`${below('notes').where(archived)} and ${mentionsWithin[holder.of]}`,
      order: [...order, 't.id'],
      columns: {
        ...noteable,
        author: { ...author, column: 'author_id' },
        discussion_id: hex(40),
        threaded: orElse(flag, false),
        system: orElse(flag, false),
        note: { ...words(most.text), column: 'body' },
        ...(holder.of === 'project' && ofDiffs),
        ...(diff === 'commit' && { changed_line: orNull(structure(isChangedLine)) }),
        created_at: moment,
        updated_at: moment,
        ...sources[holder.of],
        repeats: orElse(flag, false),
      },
      hasId: true,
      holder: holder.of === 'project' ? ['project_id'] : [],
      ...(holder.of === 'group' && { sortsIds: true }),
      amend: (record, import_) => signed(holder.of, record, import_),
      batch: most.batch,
    },
    ...(type === 'MergeRequest' ? [suggestionRelation] : []),
    {
      name: `${one}_awards`,
      ...below('award_emoji'),
      order: [...order, 't.id'],
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
      ...below('mentions'),
      order: [...order, 't.id'],
      columns: { ...noteable, ...note, user: { ...participant, column: 'user_id' } },
      repeats: 'skip',
    },
    {
      name: `${one}_subscriptions`,
      ...people(below('subscriptions'), order),
      columns: { ...noteable, user: { ...participant, column: 'user_id' }, subscribed: flag, updated_at: moment },
      repeats: 'skip',
    },
    ...(planned?.scheduled
      ? [
          {
            name: `${one}_time_logs`,
            ...below('time_logs'),
            order: [...order, 't.id'],
            columns: {
              ...noteable,
              author: { ...author, column: 'user_id' },
              seconds: whole(-(2 ** 31) + 1),
              spent_at: moment,
              created_at: moment,
            },
          } satisfies Relation,
          ...planned.scheduled.assigned.map(
            (assigned): Relation => ({
              name: assigned,
              ...people(below(assigned), order),
              columns: { ...noteable, user: { ...author, column: 'user_id' } },
              repeats: 'skip',
            }),
          ),
        ]
      : []),
  ]
}

/** Rows of users, in the order of their names. */
const people = (found: Pick<Relation, 'from' | 'where' | 'table'>, order: Relation['order']) => ({
  ...found,
  from: sql`${found.from} join users u on u.id = t.user_id`,
  order: [...order, { text: 'u.username' }],
})

/** What `discussion` has of a project, or of groups: kinds of one of them. Notes may refer to noteables of every kind. */
export const discussionRelations = (types: readonly NoteableType[]): readonly Relation[] => types.flatMap(ofKind)
