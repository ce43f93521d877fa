import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import { mayName } from '../../discussion/index.ts'
import { readableMergeRequests, visibleProjects } from '../../projects/index.ts'

const sourceRow = {
  id: integer,
  iid: integer,
  project_id: integer,
  full_path: text,
  author_id: integer,
  text,
}
export type TextSource = RowOf<typeof sourceRow>

/** Title and description of a merge request. */
export const findDescription = (db: Db, mergeRequestId: number): Promise<TextSource | undefined> =>
  db.row(
    sourceRow,
    sql`
      select m.id, m.iid, m.project_id, p.full_path, m.author_id,
        m.title || E'\n\n' || coalesce(m.description, '') as text
      from merge_requests m join projects p on p.id = m.project_id and not p.deleting
      where m.id = ${mergeRequestId}
    `,
  )

/** A note, with its merge request; undefined for system notes, which mention nothing. */
export const findNoteText = (db: Db, noteId: number): Promise<TextSource | undefined> =>
  db.row(
    sourceRow,
    sql`
      select m.id, m.iid, m.project_id, p.full_path, n.author_id, n.body as text
      from notes n
        join merge_requests m on m.id = n.merge_request_id
        join projects p on p.id = m.project_id and not p.deleting
      where n.id = ${noteId} and not n.system
    `,
  )

/** Whether title or description of a merge request may mention others. */
export const descriptionMayName = (mergeRequestId: number): Sql => sql`
  exists (select from merge_requests where id = ${mergeRequestId} and (title ~ ${mayName} or description ~ ${mayName}))
`

export const noteMayName = (noteId: number): Sql =>
  sql`exists (select from notes where id = ${noteId} and not system and body ~ ${mayName})`

/** Whether a push moved a branch. The journal contains its changes. */
export const movedBranch = (pushId: number): Sql => sql`
  exists (
    select from ref_changes where push_id = ${pushId} and substr(ref, 1, 11) = 'refs/heads/' and new_oid is not null
  )
`

const namedRow = { id: integer, project_id: integer, full_path: text }
export type NamedRow = RowOf<typeof namedRow>

/** The merge requests of these full paths, in lower case, and numbers, of those that the caller may read. */
export const findNamed = (
  db: Db,
  caller: Caller,
  names: readonly { readonly path: string; readonly iid: number }[],
): Promise<NamedRow[]> =>
  db.rows(
    namedRow,
    sql`
      select m.id, m.project_id, p.full_path
      from unnest(
          ${names.map(({ path }) => path)}::text[], ${names.map(({ iid }) => iid)}::integer[]
        ) with ordinality as named (path, iid, place)
        join routes r on r.path_key = named.path
        join projects p on p.id = r.project_id and not p.deleting
        join merge_requests m on m.project_id = p.id and m.iid = named.iid
      where ${visibleProjects(caller)} and ${readableMergeRequests(caller)}
      order by named.place
    `,
  )

const originRow = { full_path: text, default_branch: nullable(text), forked_from_id: nullable(integer) }

/** The project that received a push, and the one from which it was forked. */
export const findOrigin = (db: Db, projectId: number): Promise<RowOf<typeof originRow> | undefined> =>
  db.row(
    originRow,
    sql`
      select p.full_path, p.default_branch, f.id as forked_from_id
      from projects p left join projects f on f.id = p.forked_from_project_id and not f.deleting
      where p.id = ${projectId} and not p.deleting
    `,
  )
