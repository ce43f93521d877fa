import type { Caller } from '../../../access/actor.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, nullable, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { type AuthorRow, authorJson } from '../../accounts/index.ts'
import { notHidden } from '../../discussion/index.ts'

/** A file at the head of the repository of a snippet. */
export type SnippetFile = { readonly path: string; readonly oid: string; readonly size: number }

/** A snippet as records show it. */
export const snippetRow = {
  id: integer,
  /** Null for a personal snippet. */
  project_id: nullable(integer),
  full_path: nullable(text),
  author: json<AuthorRow>(),
  title: text,
  description: nullable(text),
  visibility: integer,
  /** The first of its files. */
  file_name: text,
  files: json<SnippetFile[]>(),
  created_at: timestamp,
  updated_at: timestamp,
}
export type SnippetRow = RowOf<typeof snippetRow>

/** Columns of the snippet `m`, its author `u` and its project `p`. */
export const columns: Sql = sql`
  m.id, m.project_id, p.full_path, ${authorJson('u')} as author, m.title, m.description, m.visibility, m.file_name,
  m.files, m.created_at, m.updated_at
`

export const joins: Sql = raw(
  'from snippets m join users u on u.id = m.author_id left join projects p on p.id = m.project_id',
)

/** The snippet `m` has its first commit. Until then its creation is not complete, and no one sees it. */
export const complete: Sql = raw(`m.file_name <> ''`)

const foundRow = {
  ...snippetRow,
  /** Its visibility hides it from the caller, who is neither its author nor a member of the project. */
  hidden: boolean,
}

/** A snippet of a project. */
export const findProjectSnippet = (
  db: Db,
  caller: Caller,
  projectId: number,
  id: number,
): Promise<RowOf<typeof foundRow> | undefined> =>
  db.row(
    foundRow,
    sql`
      select ${columns}, not ${notHidden('Snippet', caller)} as hidden ${joins}
      where m.id = ${id} and m.project_id = ${projectId} and ${complete}
    `,
  )

export const findPersonalSnippet = (db: Db, id: number): Promise<SnippetRow | undefined> =>
  db.row(snippetRow, sql`select ${columns} ${joins} where m.id = ${id} and m.project_id is null and ${complete}`)

/** Any snippet. */
export const findSnippet = (db: Db | Tx, id: number): Promise<SnippetRow | undefined> =>
  db.row(snippetRow, sql`select ${columns} ${joins} where m.id = ${id}`)

/** Sets the time of its last change, and so locks its row for concurrent changes and notes. False if it is deleted. */
export const touchSnippet = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`update snippets set updated_at = now() where id = ${id}`)) > 0
