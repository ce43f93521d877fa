import type { Db, Tx } from '../../../db/db.ts'
import { author, level, moment, orNull, words } from '../../../db/portable/columns.ts'
import { heldBy, type Relation } from '../../../db/portable/relation.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { SnippetFile } from '../snippets/queries.ts'

/** Snippets of a project; their files are in bundles. */
export const snippetRelation: Relation = {
  name: 'snippets',
  ...heldBy('snippets'),
  where: ({ id }) => sql`t.project_id = ${id} and t.file_name <> ''`,
  order: ['t.id'],
  columns: {
    title: words(10_000),
    description: orNull(words(8 * 1024 * 1024)),
    author: { ...author, column: 'author_id' },
    visibility: level(0, 10, 20),
    created_at: moment,
    updated_at: moment,
  },
  hasId: true,
  holder: ['project_id'],
  batch: 5,
}

/** Project snippets with the ids of their repositories, by their ids. */
export const snippetsOf = (db: Db, projectId: number): Promise<{ id: number }[]> =>
  db.rows(
    { id: integer },
    sql`select t.id from snippets t where t.project_id = ${projectId} and t.file_name <> '' order by t.id`,
  )

/** Saves what the head of the repository of an imported snippet has. Its times stay. */
export const restoreFiles = async (
  tx: Tx,
  id: number,
  files: readonly SnippetFile[],
  searched: string,
): Promise<void> => {
  await tx.run(sql`
    update snippets
    set files = ${JSON.stringify(files)}::jsonb, file_name = ${files[0]?.path ?? ''},
      size = ${files.reduce((sum, { size }) => sum + size, 0)}
    where id = ${id}
  `)
  await tx.run(sql`insert into snippet_texts (snippet_id, text) values (${id}, ${searched})`)
}

/** Deletes an imported snippet that has no files. */
export const deleteWithoutFiles = (tx: Tx, id: number): Promise<number> =>
  tx.run(sql`delete from snippets where id = ${id} and file_name = ''`)
