import type { Caller } from '../../../access/actor.ts'
import type { Tx } from '../../../db/db.ts'
import { date, integer, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { scheduledTypes, tableOf } from '../../discussion/index.ts'
import { around, heldBy, holderIds, type ProjectOrGroupHolder } from '../../groups/index.ts'
import { within } from '../../namespaces/index.ts'
import { nextGroupNumber, nextNumber } from '../../projects/index.ts'
import type { milestoneStates } from './queries.ts'

export const milestoneValuesRow = {
  title: text,
  description: nullable(text),
  start_date: nullable(date),
  due_date: nullable(date),
  state: oneOf<(typeof milestoneStates)[number]>('active', 'closed'),
}
export type MilestoneValues = RowOf<typeof milestoneValuesRow>

export const heldMilestoneRow = { ...milestoneValuesRow, id: integer, iid: integer }
export type HeldMilestone = RowOf<typeof heldMilestoneRow>

/** Assigns the next number of the project or group. */
export async function insertMilestone(
  tx: Tx,
  holder: ProjectOrGroupHolder,
  { title, description, start_date, due_date, state }: MilestoneValues,
): Promise<HeldMilestone> {
  const { projectId, namespaceId } = holderIds(holder)
  const number = projectId === null ? nextGroupNumber('milestones', namespaceId!) : nextNumber('milestones', projectId)
  return (await tx.row(
    heldMilestoneRow,
    sql`
      with number as (${number})
      insert into milestones (iid, project_id, namespace_id, title, description, start_date, due_date, state)
      select last, ${projectId}, ${namespaceId}, ${title}, ${description}, ${start_date}::date, ${due_date}::date,
        ${state}
      from number
      returning id, iid, title, description, start_date, due_date, state
    `,
  ))!
}

/**
 * Locks one of its own milestones until the transaction ends. Those who edit its issues do not wait for an edit of it, which waits for them;
 * those who assign it do.
 */
export const lockMilestone = (tx: Tx, holder: ProjectOrGroupHolder, id: number): Promise<HeldMilestone | undefined> =>
  tx.row(
    heldMilestoneRow,
    sql`
      select ms.id, ms.iid, ms.title, ms.description, ms.start_date, ms.due_date, ms.state
      from milestones ms
      where ms.id = ${id} and ${heldBy('ms', holder)}
      for no key update
    `,
  )

/** False if nothing changed. */
export const updateMilestone = async (
  tx: Tx,
  id: number,
  { title, description, start_date, due_date, state }: MilestoneValues,
): Promise<boolean> =>
  (await tx.run(sql`
    update milestones
    set title = ${title}, description = ${description}, start_date = ${start_date}::date, due_date = ${due_date}::date,
      state = ${state}, updated_at = now()
    where id = ${id}
      and (title, description, start_date, due_date, state) is distinct from (
        ${title}, ${description}::text, ${start_date}::date, ${due_date}::date, ${state}
      )
  `)) > 0

/** Locks what has these milestones, as those do who edit it or add a list to a board. */
async function lockWithMilestone(tx: Tx, ids: readonly number[]): Promise<void> {
  for (const type of scheduledTypes)
    await tx.run(sql`
      select from ${tableOf(type)} m where m.milestone_id = any(${ids}::bigint[]) order by m.id for no key update
    `)
  await tx.run(sql`select from boards where milestone_id = any(${ids}::bigint[]) order by id for no key update`)
}

/** Deletes a milestone. What has it is locked before it is locked against references, as by those who edit that. */
export async function deleteMilestone(tx: Tx, id: number): Promise<void> {
  await lockWithMilestone(tx, [id])
  await tx.run(sql`delete from milestones where id = ${id}`)
}

/** Whether the title is used here, or in a group above that the caller can see. */
export const isTitleTaken = (tx: Tx, holder: ProjectOrGroupHolder, caller: Caller, title: string): Promise<boolean> =>
  tx.exists(sql`select from milestones ms where ms.title = ${title} and ${around('ms', holder, caller)} limit 1`)

/** Condition on a milestone `ms`: it belongs to a project below a group and has this title. */
const isBelow = (groupId: number, title: Sql): Sql => sql`
  ms.title = ${title}
  and ms.project_id in (
    select p.id
    from projects p
      join namespaces n on n.id = p.namespace_id
      join namespaces g on g.id = ${groupId} and ${within(raw('n.traversal_ids'), raw('g.traversal_ids'))}
  )
`

/** Before a milestone is promoted to the group: locks those that have the same title, among which it is, in the order of their ids. */
export const lockAlike = (tx: Tx, groupId: number, id: number): Promise<number> =>
  tx.run(sql`
    select
    from milestones ms
    where ${isBelow(groupId, sql`(select title from milestones where id = ${id})`)}
    order by ms.id
    for no key update
  `)

/**
 * Milestones with this title in projects below a group, locked until they are deleted. What has them is locked before: who takes it out of its milestone locks
 * it, and then refers to that.
 */
export async function lockMilestonesBelow(tx: Tx, groupId: number, title: string): Promise<number[]> {
  const rows = await tx.rows(
    { id: integer },
    sql`select ms.id from milestones ms where ${isBelow(groupId, sql`${title}`)} order by ms.id for no key update`,
  )
  const ids = rows.map(({ id }) => id)
  await lockWithMilestone(tx, ids)
  await tx.run(sql`select from milestones where id = any(${ids}::bigint[]) order by id for update`)
  return ids
}

export const deleteMilestones = (tx: Tx, ids: readonly number[]): Promise<number> =>
  tx.run(sql`delete from milestones where id = any(${ids}::bigint[])`)
