import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, notNull, nullable, type RowOf, text } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'
import { type AgentRow, agentRow } from '../../planning/index.ts'
import { saveSnippetsSize } from '../../projects/index.ts'
import type { SnippetFile } from './queries.ts'

export type NewSnippet = {
  readonly projectId: number | null
  readonly authorId: number
  readonly title: string
  readonly description: string | null
  readonly visibility: number
}

/** Adds a snippet without files; `undefined` if its project is being deleted. */
export const insertSnippet = async (
  tx: Tx,
  { projectId, authorId, title, description, visibility }: NewSnippet,
): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        insert into snippets (project_id, author_id, title, description, visibility)
        select ${projectId}::bigint, ${authorId}, ${title}, ${description}, ${visibility}
        where ${projectId}::bigint is null or exists (select from projects where id = ${projectId} and not deleting)
        returning id
      `,
    )
  )?.id

const attributesRow = {
  project_id: nullable(integer),
  author_id: integer,
  title: text,
  description: nullable(text),
  visibility: integer,
  files: json<SnippetFile[]>(),
}
export type SnippetAttributes = RowOf<typeof attributesRow>

/** As `lockSnippet`, for what follows from a commit, which cannot be undone. */
export const lockCommitted = (tx: Tx, id: number): Promise<SnippetAttributes | undefined> =>
  tx.row(
    attributesRow,
    sql`
      select project_id, author_id, title, description, visibility, files
      from snippets
      where id = ${id}
      for no key update
    `,
  )

/**
 * Locks the row of a snippet until the transaction ends; undefined if it is deleted. Throws if the caller has lost the permission meanwhile.
 */
export async function lockSnippet(tx: Tx, id: number): Promise<SnippetAttributes | undefined> {
  const held = await lockCommitted(tx, id)
  if (held) await tx.requirePermission?.()
  return held
}

export const saveAttributes = (
  tx: Tx,
  id: number,
  { title, description, visibility }: Pick<SnippetAttributes, 'title' | 'description' | 'visibility'>,
): Promise<number> =>
  tx.run(sql`
    update snippets
    set title = ${title}, description = ${description}, visibility = ${visibility}, updated_at = now()
    where id = ${id}
  `)

/** Saves what the head of the repository has, with the beginning of the text for the search of code. */
export async function saveFiles(tx: Tx, id: number, files: readonly SnippetFile[], searched: string): Promise<void> {
  await tx.run(sql`
    update snippets
    set files = ${JSON.stringify(files)}::jsonb, file_name = ${files[0]?.path ?? ''},
      size = ${files.reduce((sum, { size }) => sum + size, 0)}, updated_at = now()
    where id = ${id}
  `)
  await tx.run(sql`
    insert into snippet_texts (snippet_id, text)
    values (${id}, ${searched})
    on conflict (snippet_id) do update set text = excluded.text
  `)
}

/** Counts the files of the snippets of a project, for its statistics. None for personal snippets. */
export async function countSizeOfSnippets(tx: Tx, projectId: number | null): Promise<void> {
  if (projectId !== null)
    await saveSnippetsSize(
      tx,
      projectId,
      sql`(select coalesce(sum(size), 0) from snippets where project_id = ${projectId})`,
    )
}

/** Deletes at most `size` snippets that have no first commit after a day. Resolves with their number. */
export const deleteIncomplete = (db: Db, size: number): Promise<number> =>
  db.run(sql`
    delete from snippets
    where id = any(
      array(
        select id
        from snippets
        where file_name = '' and created_at < now() - interval '1 day'
        limit ${literal(size)}
      )
    )
  `)

/** Deletes a snippet that has no first commit. */
export const deleteIfIncomplete = (db: Db, id: number): Promise<number> =>
  db.run(sql`delete from snippets where id = ${id} and file_name = ''`)

/** False if it is deleted already. */
export const deleteSnippet = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`delete from snippets where id = ${id}`)) > 0

/** Deletes the personal snippets of a user. */
export const deletePersonalSnippets = (tx: Tx, userId: number): Promise<number> =>
  tx.run(sql`delete from snippets where author_id = ${userId} and project_id is null`)

/** Deletes the snippets of a user in projects. Returns these projects, in order. */
export async function deleteProjectSnippets(tx: Tx, userId: number): Promise<number[]> {
  const rows = await tx.rows(
    { project_id: notNull(integer) },
    sql`
      with gone as (delete from snippets where author_id = ${userId} and project_id is not null returning project_id)
      select distinct project_id
      from gone
      order by project_id
    `,
  )
  return rows.map(({ project_id }) => project_id)
}

export const insertAgent = (tx: Tx, snippetId: number, userId: number, agent: AgentRow): Promise<number> =>
  tx.run(sql`
    insert into snippet_agents (snippet_id, user_id, user_agent, ip_address)
    values (${snippetId}, ${userId}, ${agent.user_agent}, ${agent.ip_address})
  `)

export const findSnippetAgent = (db: Db, snippetId: number): Promise<AgentRow | undefined> =>
  db.row(agentRow, sql`select user_agent, ip_address from snippet_agents where snippet_id = ${snippetId}`)

/** Title and place of a snippet. */
export const titleOfSnippet = async (
  tx: Tx,
  id: number,
): Promise<{ project_id: number | null; author_id: number; title: string }> =>
  (await tx.row(
    { project_id: nullable(integer), author_id: integer, title: text },
    sql`select project_id, author_id, title from snippets where id = ${id}`,
  ))!
