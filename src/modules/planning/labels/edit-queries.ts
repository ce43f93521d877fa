import type { Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { columnOf, labelsTableOf, scheduledTypes, tableOf } from '../../discussion/index.ts'
import { type Holder, holderIds } from '../../groups/index.ts'

export type LabelValues = { readonly name: string; readonly color: string; readonly description: string | null }

/** Returns its id; undefined if the title is taken. */
export const insertLabel = async (
  tx: Tx,
  holder: Holder,
  { name, color, description }: LabelValues,
): Promise<number | undefined> => {
  const { projectId, namespaceId } = holderIds(holder)
  return (
    await tx.row(
      { id: integer },
      sql`
        insert into labels (project_id, namespace_id, title, color, description)
        values (${projectId}, ${namespaceId}, ${name}, ${color}, ${description})
        on conflict do nothing
        returning id
      `,
    )
  )?.id
}

/** False if nothing changed. */
export const updateLabel = async (tx: Tx, id: number, { name, color, description }: LabelValues): Promise<boolean> =>
  (await tx.run(sql`
    update labels
    set title = ${name}, color = ${color}, description = ${description}, updated_at = now()
    where id = ${id} and (title, color, description) is distinct from (${name}, ${color}, ${description}::text)
  `)) > 0

/** Locks what has these labels, as those do who change its labels. */
export async function lockLabelled(tx: Tx, labelIds: readonly number[]): Promise<void> {
  for (const type of scheduledTypes)
    await tx.run(sql`
      select
      from ${tableOf(type)} m
      where m.id in (
        select ml.${columnOf(type)} from ${labelsTableOf(type)} ml where ml.label_id = any(${labelIds}::bigint[])
      )
      order by m.id
      for no key update
    `)
}

/** Deletes a label. What has it is locked before its rows are, as by those who change it. */
export async function deleteLabel(tx: Tx, id: number): Promise<void> {
  await lockLabelled(tx, [id])
  // With what has it, which may be every issue of a large group.
  await tx.allowLongStatements()
  await tx.run(sql`delete from labels where id = ${id}`)
}

/** Null removes the priority. False if it is the same as before, even if another transaction has just set it. */
export const savePriority = async (
  tx: Tx,
  projectId: number,
  labelId: number,
  priority: number | null,
): Promise<boolean> =>
  (await tx.run(
    priority === null
      ? sql`delete from label_priorities where project_id = ${projectId} and label_id = ${labelId}`
      : sql`
        insert into label_priorities (project_id, label_id, priority)
        values (${projectId}, ${labelId}, ${priority})
        on conflict (project_id, label_id) do update
          set priority = excluded.priority where label_priorities.priority is distinct from excluded.priority
      `,
  )) > 0

/** False if nothing changed. */
export const insertSubscription = async (tx: Tx, userId: number, labelId: number): Promise<boolean> =>
  (await tx.run(sql`
    insert into label_subscriptions (label_id, user_id) values (${labelId}, ${userId}) on conflict do nothing
  `)) > 0

export const deleteSubscription = async (tx: Tx, userId: number, labelId: number): Promise<boolean> =>
  (await tx.run(sql`delete from label_subscriptions where label_id = ${labelId} and user_id = ${userId}`)) > 0
