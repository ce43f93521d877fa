import type { Db, Tx } from '../../../db/db.ts'
import { text } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'

/** The names under which a user's personal namespace is found: the present one, and those from before a rename. */
export const namesOfUser = async (tx: Tx, userId: number): Promise<string[]> => {
  const rows = await tx.rows(
    { name: text },
    sql`
      select r.path_key as name from routes r join namespaces n on n.id = r.namespace_id where n.owner_id = ${userId}
      union select lower(username) from users where id = ${userId}
    `,
  )
  return rows.map(({ name }) => name)
}

/** Makes at most `size` system notes that name one of these usernames name the ghost user instead. Resolves with their number. */
export const renameInSystemNotes = (db: Db, usernames: readonly string[], size: number): Promise<number> => {
  const alternatives = usernames.map((name) => name.replaceAll('.', '\\.')).join('|')
  const mention = `@(${alternatives})(?![a-zA-Z0-9_.-])`
  return db.run(sql`
    update notes
    set body = regexp_replace(body, ${mention}, '@ghost', 'gi')
    where id = any(
      array(select id from notes where system and body like '%@%' and body ~* ${mention} limit ${literal(size)})
    )
  `)
}
