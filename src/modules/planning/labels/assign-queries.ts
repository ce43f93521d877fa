import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { columnOf, isAbout, labelsTableOf, type PlannedNoteable } from '../../discussion/index.ts'
import { holderIds, type ProjectOrGroupHolder, reachingHolder } from '../../groups/index.ts'

/**
 * Ids of the labels with these titles that a noteable may have, by title. If several have one title: the one that it has already, else
 * the project's own, else that of the nearest group.
 */
export const findUsableLabels = (
  db: Db,
  noteable: PlannedNoteable,
  titles: readonly string[],
): Promise<{ id: number; title: string }[]> =>
  db.rows(
    { id: integer, title: text },
    sql`
      select distinct on (l.title) l.id, l.title
      from labels l left join namespaces g on g.id = l.namespace_id
      where l.title = any(${titles}::text[]) and ${reachingHolder('l', noteable.holder)}
      order by l.title,
        exists (
          select from ${labelsTableOf(noteable.type)} ml where ${isAbout('ml', noteable)} and ml.label_id = l.id
        ) desc,
        l.project_id is not null desc, cardinality(g.traversal_ids) desc
    `,
  )

/** Ids of the labels of a project or group with these titles, and whether this creates them: missing ones are. */
export function ensureLabels(
  tx: Tx,
  holder: ProjectOrGroupHolder,
  titles: readonly string[],
  color: string,
): Promise<{ id: number; is_new: boolean }[]> {
  const { projectId, namespaceId } = holderIds(holder)
  const column = raw(holder.of === 'project' ? 'project_id' : 'namespace_id')
  return tx.rows(
    { id: integer, is_new: boolean },
    sql`
      insert into labels (project_id, namespace_id, title, color)
      select ${projectId}::bigint, ${namespaceId}::bigint, title, ${color}
      from unnest(${titles}::text[]) as title
      order by title
        -- A concurrent transaction may have created it: a row that is not written is not returned.
      on conflict (${column}, title) where ${column} is not null do update set title = excluded.title
      returning id, xmax = 0 as is_new
    `,
  )
}

/** Replaces the labels of a noteable and records label events; returns how many were added or removed. */
export const replaceLabels = (
  tx: Tx,
  { type, id: noteableId }: PlannedNoteable,
  labelIds: readonly number[],
  { userId, at }: { userId: number; at: Date | undefined },
): Promise<number> => {
  const [table, column] = [labelsTableOf(type), columnOf(type)]
  const changed = (action: 'add' | 'remove', from: Sql): Sql =>
    sql`select ${action} as action, c.label_id, l.title from ${from} c join labels l on l.id = c.label_id`
  return tx.run(sql`
    with gone as (
      delete from ${table}
      where ${column} = ${noteableId} and label_id <> all(${labelIds}::bigint[])
      returning label_id
    ),
    put as (
      insert into ${table} (${column}, label_id)
      select ${noteableId}, id
      from unnest(${labelIds}::bigint[]) as id
      on conflict do nothing
      returning label_id
    ),
    changed as (${changed('remove', sql`gone`)} union all ${changed('add', sql`put`)})
    insert into label_events (${column}, label_id, user_id, action, created_at)
    select ${noteableId}, label_id, ${userId}, action, coalesce(${at ?? null}::timestamptz, now())
    from changed
    order by action desc, title
  `)
}
