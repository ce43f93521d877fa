import type { Caller } from '../../../access/actor.ts'
import type { List, ListPart } from '../../../api/list.ts'
import { byKey, type Db } from '../../../db/db.ts'
import { fuzzy } from '../../../db/fuzzy.ts'
import { integer, notNull, nullable, text, textOf } from '../../../db/row.ts'
import { asColumns, join, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import { passedOn } from '../../../db/table-catalogue.ts'
import { projectOf, visibleProjects } from '../../projects/index.ts'
import { type NoteableType, noteableTypes, numberedTypes, projectTypes } from '../noteables/kinds.ts'
import { aboutId, aboutType, columnOf, numberOf, readableAbout, tableOf } from '../noteables/queries.ts'
import { listedBody } from './page-size-queries.ts'
import { type NoteRow, noteColumns, noteRow } from './record-queries.ts'

/** A note on a noteable of any kind: each has exactly one. */
const foundNoteRow = {
  ...noteRow,
  noteable_type: notNull(textOf<NoteableType>()),
  noteable_id: notNull(integer),
}
/** As in a page: without its text if the page is too long before it. */
export const listedFoundNoteRow = { ...foundNoteRow, body: nullable(text) }

/** The noteable of the note `n`, of one of these kinds. */
const aboutOneOf = (types: readonly NoteableType[]) => ({
  type: aboutType('n', types),
  id: aboutId('n', types),
  iid: sql`
    coalesce(
      ${join(
        numberedTypes
          .filter((type) => types.includes(type))
          .map((type) => sql`(select ${numberOf(type, 'm')} from ${tableOf(type)} m where m.id = n.${columnOf(type)})`),
        ', ',
      )}
    )
  `,
  oid: sql`(select m.oid from ${tableOf('Commit')} m where m.id = n.${columnOf('Commit')})`,
})

/** The notes `n` on noteables of these kinds. */
const notesOn = (types: readonly NoteableType[], body?: Sql): Sql => sql`
  select ${asColumns(noteColumns(aboutOneOf(types), body))}
  from notes n join users u on u.id = n.author_id left join users r on r.id = n.resolved_by_id
`

/** The notes with these ids that exist, in no order. Whether the caller may read them is not asked. */
export const notesById = (db: Db, ids: readonly number[]): Promise<NoteRow[]> =>
  db.rows(foundNoteRow, byKey(sql`${notesOn(noteableTypes)} where n.id = any(${ids}::bigint[])`))

/** Where comments are searched. */
export type SearchedNotes = 'everywhere' | 'group' | 'project'

/**
 * Comments with these words on what the caller may read, newest first; system notes are not searched. `inside` is the condition on the
 * project `p` that it is in the place.
 */
export const notesWith = (caller: Caller, search: string, inside: Sql, place: SearchedNotes): List => ({
  type: 'Note',
  cached: true,
  select: notesOn(projectTypes, listedBody(raw('n.id desc'))),
  from:
    place === 'project'
      ? raw('from notes n join projects p on p.id = n.project_id')
      : sql`from notes n cross join ${projectOf('n')}`,
  key: raw('n.id'),
  where: [inside, raw('not p.deleting'), visibleProjects(caller), readableAbout('n', caller)],
  // The index has no system notes.
  ...foundBy(sql`not n.system and ${fuzzy(search, ['n.body'], 'short texts')}`, inside, place),
  order: [{ by: raw('n.id'), direction: 'desc' }],
})

const walked = (range: Sql): Sql => sql`
  from (select n${raw(passedOn)} from notes n where true ${range}) as n cross join ${projectOf('n')}
`

/** Projects of a group from which on the newest comments of all are looked at first: some of them are of the group. */
const manyProjects = 200

/** Comments of a group's projects that meet a condition: of few projects all are read, not the newest of all until a page is full. */
const ofGroup = (condition: Sql): ListPart => ({
  where: sql`${condition} and n.project_id = any(array(select id from list_projects))`,
  few: true,
  crowded: {
    when: () => sql`(select count(*) from list_projects) >= ${literal(manyProjects)}`,
    from: walked,
    // Looked up in a hash table before the project is.
    where: sql`${condition} and coalesce(n.project_id in (select id from list_projects), false)`,
  },
})

function foundBy(
  condition: Sql,
  inside: Sql,
  place: SearchedNotes,
): Pick<List, 'parts' | 'given' | 'matching' | 'onePlan'> {
  if (place === 'project') return { parts: [{ where: condition, few: true }] }
  const matching = { table: raw('notes n'), key: raw('n.id'), condition, isSlow: true, walked }
  if (place === 'everywhere') return { matching, onePlan: true }
  return {
    given: sql`list_projects as materialized (select p.id from projects p where ${inside})`,
    matching: { ...matching, ifVeryMany: ofGroup(condition) },
    onePlan: true,
  }
}
