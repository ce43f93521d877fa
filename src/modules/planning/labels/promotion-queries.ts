import type { Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { columnOf, labelsTableOf, plannedTypes } from '../../discussion/index.ts'
import { within } from '../../namespaces/index.ts'
import { type LabelUse, labelUseRow } from '../order-copies/queries.ts'
import { lockLabelled } from './edit-queries.ts'
import type { LabelReferenceRow } from './queries.ts'

/** The group's label with this title; created like `label` if missing. */
export const ensureGroupLabel = async (
  tx: Tx,
  groupId: number,
  { name, color, description }: LabelReferenceRow,
): Promise<number> =>
  (await tx.row(
    { id: integer },
    sql`
      insert into labels (namespace_id, title, color, description)
      values (${groupId}, ${name}, ${color}, ${description})
        -- A row that was not written would not be returned.
      on conflict (namespace_id, title) where namespace_id is not null do update set title = excluded.title
      returning id
    `,
  ))!.id

/**
 * Labels with this title in projects below a group, locked until they are deleted. What has them is locked before: who changes its labels locks it, and
 * then refers to them.
 */
export const lockLabelsBelow = async (tx: Tx, groupId: number, title: string): Promise<number[]> => {
  const rows = await tx.rows(
    { id: integer },
    sql`
      select l.id
      from labels l
        join projects p on p.id = l.project_id
        join namespaces n on n.id = p.namespace_id
        join namespaces g on g.id = ${groupId} and ${within(raw('n.traversal_ids'), raw('g.traversal_ids'))}
        -- The index knows them in lower case.
      where lower(l.title) = lower(${title}) and l.title = ${title}
      order by l.id
      for no key update of l
    `,
  )
  const ids = rows.map(({ id }) => id)
  // It may be every issue of a large group.
  await tx.allowLongStatements()
  await lockLabelled(tx, ids)
  await tx.run(sql`select from labels where id = any(${ids}::bigint[]) order by id for update`)
  return ids
}

/**
 * Replaces labels by another one in assignments, priorities, subscriptions, boards and events, and deletes them. Returns the projects in
 * which the other one got a priority.
 */
export async function replaceLabelsBy(tx: Tx, labelIds: readonly number[], labelId: number): Promise<LabelUse[]> {
  const gone = sql`label_id = any(${labelIds}::bigint[])`
  for (const type of plannedTypes) {
    const [table, column] = [labelsTableOf(type), columnOf(type)]
    await tx.run(sql`
      insert into ${table} (${column}, label_id)
      select ${column}, ${labelId}
      from ${table}
      where ${gone}
        -- Triggers lock them.
      order by ${column}
      on conflict do nothing
    `)
  }
  const prioritized = await tx.rows(
    labelUseRow,
    sql`
      insert into label_priorities (project_id, label_id, priority)
      select project_id, ${labelId}, priority
      from label_priorities
      where ${gone}
      on conflict do nothing
      returning project_id, label_id
    `,
  )
  await tx.run(sql`
    insert into label_subscriptions (label_id, user_id)
    select ${labelId}, user_id
    from label_subscriptions
    where ${gone}
    on conflict do nothing
  `)
  await tx.run(sql`
    insert into board_labels (board_id, label_id)
    select board_id, ${labelId}
    from board_labels
    where ${gone}
    on conflict do nothing
  `)
  // A project has one label of each title, so a board has one such list.
  await tx.run(sql`
    update board_lists bl
    set label_id = ${labelId}
    where ${gone} and not exists (select from board_lists t where t.board_id = bl.board_id and t.label_id = ${labelId})
  `)
  await tx.run(sql`update label_events set label_id = ${labelId} where ${gone}`)
  await tx.run(sql`delete from labels where id = any(${labelIds}::bigint[])`)
  return prioritized
}
