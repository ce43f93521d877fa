import type { Tx } from '../../../db/db.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import { reaching } from '../../groups/index.ts'

/**
 * Ids of the labels of these titles that a project may use, by title. Of several with one title it is that which the merge
 * request has already, or else the project's own, or else that of the nearest group.
 */
export const findUsableLabels = (
  tx: Tx,
  { mergeRequestId, projectId }: { mergeRequestId: number; projectId: number },
  titles: readonly string[],
): Promise<{ id: number; title: string }[]> =>
  tx.rows(sql`
    select distinct on (l.title) l.id, l.title from labels l left join namespaces g on g.id = l.namespace_id
    where l.title = any(${titles}::text[]) and ${reaching('l', sql`${projectId}`)}
    order by l.title,
      exists (select from merge_request_labels ml where ml.merge_request_id = ${mergeRequestId} and ml.label_id = l.id) desc,
      l.project_id is not null desc, cardinality(g.traversal_ids) desc`)

/** Ids of labels of a project of these titles, made if need be. */
export async function ensureLabels(
  tx: Tx,
  projectId: number,
  titles: readonly string[],
  color: string,
): Promise<number[]> {
  const rows = await tx.rows<{ id: number }>(sql`
    insert into labels (project_id, title, color)
    select ${projectId}, title, ${color} from unnest(${titles}::text[]) as title order by title
    -- Somebody may have made it just now: a row that was not written would not be returned.
    on conflict (project_id, title) where project_id is not null do update set title = excluded.title
    returning id`)
  return rows.map(({ id }) => id)
}

/** Replaces the labels of a merge request; how many were put on or taken off, each of which is a label event. */
export const replaceLabels = (
  tx: Tx,
  mergeRequestId: number,
  labelIds: readonly number[],
  { userId, at }: { userId: number; at: Date | undefined },
): Promise<number> => {
  const changed = (action: 'add' | 'remove', from: Sql): Sql =>
    sql`select ${action} as action, c.label_id, l.title from ${from} c join labels l on l.id = c.label_id`
  return tx.run(sql`
    with gone as (
      delete from merge_request_labels where merge_request_id = ${mergeRequestId} and label_id <> all(${labelIds}::bigint[])
      returning label_id),
    put as (
      insert into merge_request_labels (merge_request_id, label_id)
      select ${mergeRequestId}, id from unnest(${labelIds}::bigint[]) as id on conflict do nothing returning label_id),
    changed as (${changed('remove', sql`gone`)} union all ${changed('add', sql`put`)})
    insert into label_events (merge_request_id, label_id, user_id, action, created_at)
    select ${mergeRequestId}, label_id, ${userId}, action, coalesce(${at ?? null}::timestamptz, now()) from changed
    order by action desc, title`)
}
