import type { Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { raw, sql } from '../../../db/sql.ts'
import { reaching } from '../../groups/index.ts'
import { nextNumbers } from '../../projects/index.ts'

/** Locks projects in one order, so that moves in opposite directions do not wait for each other. */
export const lockProjects = (tx: Tx, ids: readonly number[]): Promise<number> =>
  tx.run(sql`select from projects where id = any(${ids}::bigint[]) order by id for no key update`)

/** Locks the milestone of an issue, which its copy may get. Before the issue: a change of its due date locks it before its issues. */
export const lockMilestoneOf = (tx: Tx, issueId: number): Promise<number> =>
  tx.run(sql`select from milestones where id = (select milestone_id from issues where id = ${issueId}) for share`)

type Copy = {
  readonly projectId: number
  readonly description: string | null
  readonly milestoneId: number | null
  /** The author of a clone. A moved issue keeps author, times and state. */
  readonly clonedBy: number | null
}

/** Inserts a copy of an issue with the next number of a project; undefined if the project is being deleted. */
export const insertCopy = (tx: Tx, issueId: number, copy: Copy): Promise<{ id: number; iid: number } | undefined> =>
  tx.row(
    { id: integer, iid: integer },
    sql`
      with target as (select id from projects where id = ${copy.projectId} and not deleting for no key update),
      numbered as (${nextNumbers('issues', raw('select id as project_id from target'))}),
      given as (select ${copy.clonedBy}::bigint as cloned_by)
      insert into issues (
        iid, project_id, title, description, author_id, state, confidential, discussion_locked,
        milestone_id, due_date, weight, time_estimate, closed_at, closed_by_id, created_at
      )
      select numbered.last, ${copy.projectId}, m.title, ${copy.description}, coalesce(cloned_by, m.author_id),
        case when cloned_by is null then m.state else 'opened' end, m.confidential,
        case when cloned_by is null then m.discussion_locked end, ${copy.milestoneId}::bigint, m.due_date, m.weight,
        case when cloned_by is null then m.time_estimate else 0 end, case when cloned_by is null then m.closed_at end,
        case when cloned_by is null then m.closed_by_id end,
        case when cloned_by is null then m.created_at else now() end
      from numbered, given, issues m
      where m.id = ${issueId}
      returning id, iid
    `,
  )

/** Stores which issue continues a moved one. */
export const saveMovedTo = (tx: Tx, id: number, movedToId: number): Promise<number> =>
  tx.run(sql`update issues set moved_to_id = ${movedToId}, updated_at = now() where id = ${id}`)

/**
 * Copies labels and label events of an issue to its copy in a project, by title. Labels that the project lacks are left out, and their
 * events are like those of deleted labels. One statement.
 */
export const copyLabels = (tx: Tx, from: number, to: number, projectId: number): Promise<number> =>
  tx.run(sql`
    with used as (
      select label_id from issue_labels where issue_id = ${from}
      union select label_id from label_events where issue_id = ${from}
    ),
    found as (
      select distinct on (old.id) old.id as old_id, l.id as new_id
      from used
        join labels old on old.id = used.label_id
        join labels l on l.title = old.title and ${reaching('l', sql`${projectId}`)}
        left join namespaces g on g.id = l.namespace_id
      order by old.id, l.id = old.id desc, l.project_id is not null desc, cardinality(g.traversal_ids) desc
    ),
    labelled as (
      insert into issue_labels (issue_id, label_id)
      select distinct ${to}::bigint, f.new_id
      from issue_labels il join found f on f.old_id = il.label_id
      where il.issue_id = ${from}
    )
    insert into label_events (issue_id, label_id, user_id, action, created_at)
    select ${to}, f.new_id, e.user_id, e.action, e.created_at
    from label_events e left join found f on f.old_id = e.label_id
    where e.issue_id = ${from}
    order by e.id
  `)

/** Copies state events of an issue, and milestone events by the title of the milestone, as those of labels. */
export async function copyEvents(tx: Tx, from: number, to: number, projectId: number): Promise<void> {
  await tx.run(sql`
    insert into state_events (issue_id, user_id, state, created_at)
    select ${to}, e.user_id, e.state, e.created_at
    from state_events e
    where e.issue_id = ${from}
    order by e.id
  `)
  await tx.run(sql`
    with found as (
      select distinct on (old.id) old.id as old_id, ms.id as new_id
      from milestones old
        join milestones ms on ms.title = old.title and ${reaching('ms', sql`${projectId}`)}
        left join namespaces g on g.id = ms.namespace_id
      where old.id in (select milestone_id from milestone_events where issue_id = ${from})
      order by old.id, ms.id = old.id desc, ms.project_id is not null desc, cardinality(g.traversal_ids) desc
    )
    insert into milestone_events (issue_id, milestone_id, user_id, action, created_at)
    select ${to}, f.new_id, e.user_id, e.action, e.created_at
    from milestone_events e left join found f on f.old_id = e.milestone_id
    where e.issue_id = ${from}
    order by e.id
  `)
}
