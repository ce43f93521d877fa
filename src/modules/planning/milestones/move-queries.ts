import type { Tx } from '../../../db/db.ts'
import { join, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { columnOf, labelsTableOf, type ScheduledType, scheduledTypes, tableOf } from '../../discussion/index.ts'
import { type Moved, reaching } from '../../groups/index.ts'
import { nextNumbers } from '../../projects/index.ts'

/** Uses of group milestones in moved projects that the projects can no longer use: rows (project_id, milestone_id). */
const usesOf = ({ projects, leftGroups }: Moved): Sql => sql`
  ${join(
    scheduledTypes.map(
      (type) => sql`
        select m.project_id, ms.id as milestone_id
        from milestones ms join ${tableOf(type)} m on m.milestone_id = ms.id
        where ms.namespace_id = any(${leftGroups}::bigint[]) and m.project_id in (${projects})
      `,
    ),
    ' union ',
  )}
  union
  select b.project_id, ms.id
  from milestones ms
    join boards b on b.milestone_id = ms.id
      or exists (select from board_lists bl where bl.board_id = b.id and bl.milestone_id = ms.id)
  where ms.namespace_id = any(${leftGroups}::bigint[]) and b.project_id in (${projects})
  union
  select r.project_id, ms.id
  from milestones ms join release_milestones rm on rm.milestone_id = ms.id join releases r on r.id = rm.release_id
  where ms.namespace_id = any(${leftGroups}::bigint[]) and r.project_id in (${projects})
`

/** Copies the milestones that the projects use and can no longer use, unless one of the title is available. */
export const copyLeftMilestones = (tx: Tx, moved: Moved): Promise<number> =>
  tx.run(sql`
    with wanted as (
      select distinct on (used.project_id, old.title) used.project_id, old.title, old.description, old.state,
        old.start_date, old.due_date
      from (${usesOf(moved)}) as used join milestones old on old.id = used.milestone_id
      where not exists (
        select from milestones ms where ms.title = old.title and ${reaching('ms', raw('used.project_id'))}
      )
      order by used.project_id, old.title, old.id
    ),
    numbered as (${nextNumbers('milestones', raw('select project_id from wanted'))})
    insert into milestones (iid, project_id, title, description, state, start_date, due_date)
    select n.last + 1 - row_number() over (partition by w.project_id order by w.title desc), w.project_id, w.title,
      w.description, w.state, w.start_date, w.due_date
    from wanted w join numbered n on n.project_id = w.project_id
  `)

/** Rows (project_id, old_id, new_id): milestones that projects can no longer use, with the available ones of the same titles. */
export const replacementsOf = (moved: Moved): Sql => sql`
  select distinct on (used.project_id, used.milestone_id) used.project_id, used.milestone_id as old_id, ms.id as new_id
  from (${usesOf(moved)}) as used
    join milestones old on old.id = used.milestone_id
    join milestones ms on ms.title = old.title and ${reaching('ms', raw('used.project_id'))}
    left join namespaces g on g.id = ms.namespace_id
  order by used.project_id, used.milestone_id, ms.project_id is null, cardinality(g.traversal_ids) desc
`

/**
 * After the copies are made: locks the milestones that replace others, then the issues and merge requests of moved projects that have labels
 * or milestones of groups that are left. Two passes replace these; a change of a due date locks the same in this order.
 */
export async function lockWithLeft(tx: Tx, moved: Moved): Promise<void> {
  const { projects, leftGroups } = moved
  await tx.run(sql`
    select
    from milestones
    where id = any(array(select r.new_id from (${replacementsOf(moved)}) as r))
    order by id
    for share
  `)
  for (const type of scheduledTypes)
    await tx.run(sql`
      select
      from ${tableOf(type)} r
      where r.id = any(
        array(
          select m.id
          from milestones ms join ${tableOf(type)} m on m.milestone_id = ms.id
          where ms.namespace_id = any(${leftGroups}::bigint[]) and m.project_id in (${projects})
          union
          select m.id
          from labels l
            join ${labelsTableOf(type)} ml on ml.label_id = l.id
            join ${tableOf(type)} m on m.id = ml.${columnOf(type)}
          where l.namespace_id = any(${leftGroups}::bigint[]) and m.project_id in (${projects})
        )
      )
      order by r.id
      for no key update
    `)
}

/** The moved projects. */
export const projectsOf = ({ projectId, groupId }: { readonly projectId?: number; readonly groupId?: number }): Sql =>
  projectId === undefined
    ? sql`
      select p.id
      from projects p join namespaces d on d.id = p.namespace_id
      where ${groupId}::bigint = any(d.traversal_ids)
    `
    : sql`select ${projectId}::bigint`

/** The reactions of a kind of noteable to milestones that others take the place of. The module of the kind uses them for its table. */
export const milestoneReactionsOf = (
  type: ScheduledType,
): {
  /** Assigns the replacement where a milestone is replaced. */
  readonly follow: Reaction<'milestones_replaced'>
  /** Assigns milestones that are available now to noteables of moved projects. */
  readonly replaceLeft: Reaction<'projects_left_groups'>
} => ({
  follow: async (tx, { payload, facts }) => {
    const replaced = sql`milestone_id = any(${facts.replaced_ids}::bigint[])`
    await tx.run(sql`update ${tableOf(type)} set milestone_id = ${payload.milestone_id} where ${replaced}`)
    await tx.run(sql`
      update milestone_events
      set milestone_id = ${payload.milestone_id}
      where ${columnOf(type)} is not null and ${replaced}
    `)
  },
  replaceLeft: (tx, event) => {
    const moved = { projects: projectsOf(event), leftGroups: [...event.facts.left_group_ids] }
    return tx.run(sql`
      with replaced as (${replacementsOf(moved)}),
      changed as (
        update milestone_events e
        set milestone_id = r.new_id
        from ${tableOf(type)} m, replaced r
        where m.id = e.${columnOf(type)} and m.project_id = r.project_id and e.milestone_id = r.old_id
      )
      update ${tableOf(type)} m
      set milestone_id = r.new_id
      from replaced r
      where m.project_id = r.project_id and m.milestone_id = r.old_id
    `)
  },
})

/** The reactions of issues. */
export const { follow: followMilestonesOfIssues, replaceLeft: replaceLeftMilestonesOfIssues } =
  milestoneReactionsOf('Issue')
