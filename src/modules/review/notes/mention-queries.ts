import type { Db, Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'
import { readsMergeRequests } from '../subscriptions/reader-queries.ts'

export type Mentioned = { readonly id: number; readonly name: string }

/** Those of these names, in lower case, who may read the merge requests of a project. One statement. */
export const readersNamed = (db: Db, projectId: number, names: readonly string[]): Promise<Mentioned[]> =>
  db.rows<Mentioned>(sql`
    select u.id, lower(u.username) as name from users u join projects p on p.id = ${projectId}
    where lower(u.username) = any(${names}::text[]) and ${readsMergeRequests}`)

/** Those are mentioned in a text from now on, and nobody else; who was not before is told. */
export async function replaceMentions(
  tx: Tx,
  mergeRequestId: number,
  noteId: number | null,
  userIds: readonly number[],
): Promise<number[]> {
  const rows = await tx.rows<{ user_id: number }>(sql`
    with gone as (
      delete from mentions where merge_request_id = ${mergeRequestId} and note_id is not distinct from ${noteId}
        and user_id <> all(${userIds}::bigint[]))
    insert into mentions (merge_request_id, note_id, user_id)
    select ${mergeRequestId}, ${noteId}, m from unnest(${userIds}::bigint[]) m on conflict do nothing returning user_id`)
  return rows.map(({ user_id }) => user_id)
}
