import type { Tx } from '../../../db/db.ts'
import { boolean, integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/**
 * Copies the due date of a milestone to at most `size` of its issues that have another one; returns how many these were. Who assigns the
 * milestone at the same time reads the due date under the lock that this takes (`set_milestone_due`).
 */
export const copyMilestoneDue = (tx: Tx, milestoneId: number, size: number): Promise<number> =>
  tx.run(sql`
    with dated as (select id, due_date from milestones where id = ${milestoneId} for share),
    found as (
      select m.id
      from issues m join dated d on d.id = m.milestone_id
      where m.milestone_due is distinct from d.due_date
      order by m.id
      limit ${size}
      for no key update of m
    )
    update issues m
    set milestone_due = d.due_date
    from found f, dated d
    where m.id = f.id
  `)

/** Waits for transactions that assign these labels, and keeps others from it until this one ends. */
export const lockLabels = (tx: Tx, ids: readonly number[]): Promise<number> =>
  tx.run(sql`select from labels where id = any(${ids}::bigint[]) order by id for update`)

/** A label in a project. */
export type LabelUse = { readonly project_id: number; readonly label_id: number }
export const labelUseRow = { project_id: integer, label_id: integer }

/**
 * Locks those of the `size` newest issues of the project that have the label. Before the label, as edits of issues lock them: otherwise two
 * that change the priority of a label and take it from an issue wait for each other.
 */
export const lockLabelled = (tx: Tx, { project_id, label_id }: LabelUse, size: number): Promise<number> =>
  tx.run(sql`
    select
    from issues m
    where m.id in (
      select newest.id
      from (
          select i.id from issues i where i.project_id = ${project_id} order by i.iid desc limit ${size}
        ) as newest
        join issue_labels il on il.issue_id = newest.id and il.label_id = ${label_id}
    )
    order by m.id
    for no key update
  `)

/** Above all numbers of issues. */
export const aboveAllNumbers = 2 ** 31 - 1

/**
 * Copies the lowest priority of their labels to those with this label of the next `size` issues of the project below a number, the
 * newest first. Returns the number below which the next ones are; undefined if there are none.
 */
export async function copyLabelPriorities(
  tx: Tx,
  { project_id, label_id }: LabelUse,
  below: number,
  size: number,
): Promise<number | undefined> {
  const issues = await tx.rows(
    { id: integer, iid: integer, labelled: boolean },
    sql`
      select m.id, m.iid,
        exists (select from issue_labels il where il.issue_id = m.id and il.label_id = ${label_id}) as labelled
      from issues m
      where m.project_id = ${project_id} and m.iid < ${below}
      order by m.iid desc
      limit ${size}
    `,
  )
  const labelled = issues.filter((issue) => issue.labelled).map(({ id }) => id)
  if (labelled.length > 0) await tx.run(sql`select set_label_priorities(${labelled}::bigint[])`)
  return issues.length < size ? undefined : issues.at(-1)!.iid
}
