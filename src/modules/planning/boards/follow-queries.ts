import type { Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { reaching } from '../../groups/index.ts'
import { projectsOf, replacementsOf } from '../milestones/move-queries.ts'

/** Boards whose milestone is replaced get the new one; of two lists of a board, that of the new one stays. */
export const followMilestonesOnBoards: Reaction<'milestones_replaced'> = async (tx, { payload, facts }) => {
  const replaced = sql`milestone_id = any(${facts.replaced_ids}::bigint[])`
  await tx.run(sql`update boards set milestone_id = ${payload.milestone_id} where ${replaced}`)
  await tx.run(sql`
    update board_lists bl
    set milestone_id = ${payload.milestone_id}
    where bl.id = any(
      array(
        select distinct on (o.board_id) o.id
        from board_lists o
        where o.${replaced}
          and not exists (
            select from board_lists t where t.board_id = o.board_id and t.milestone_id = ${payload.milestone_id}
          )
        order by o.board_id, o.position, o.id
      )
    )
  `)
}

type Place = { readonly projectId?: number; readonly groupId?: number }

/** The boards of moved projects and groups. */
const boardsOf = (place: Place): Sql => sql`
  select b.id
  from boards b
  where b.project_id in (${projectsOf(place)})
  union all
  select b.id
  from boards b join namespaces d on d.id = b.namespace_id
  where ${place.groupId ?? null}::bigint = any(d.traversal_ids)
`

/**
 * Labels and milestones of groups that are no longer above a project are replaced on its boards by those of the same titles that it has
 * now. What is not replaced, as on boards of groups, is removed, because readers of the board may not be able to read these groups.
 */
export const leaveGroupsOnBoards: Reaction<'projects_left_groups'> = async (tx, event) => {
  const left = event.facts.left_group_ids
  const boards = boardsOf(event)
  const leftMilestones = sql`select id from milestones where namespace_id = any(${left}::bigint[])`
  const leftLabels = sql`select id from labels where namespace_id = any(${left}::bigint[])`
  const milestones = replacementsOf({ projects: projectsOf(event), leftGroups: left })
  await replaceInLists(tx, 'milestone_id', milestones)
  await tx.run(sql`
    with replaced as (${milestones})
    update boards b
    set milestone_id = r.new_id
    from replaced r
    where b.project_id = r.project_id and b.milestone_id = r.old_id
  `)
  await replaceInLists(tx, 'label_id', labelReplacements(boards, leftLabels))
  await tx.run(sql`
    insert into board_labels (board_id, label_id)
    select bl.board_id, r.new_id
    from (${labelReplacements(boards, leftLabels)}) as r
      join boards b on b.project_id = r.project_id
      join board_labels bl on bl.board_id = b.id and bl.label_id = r.old_id
    on conflict do nothing
  `)
  await tx.run(
    sql`update boards set milestone_id = null where id in (${boards}) and milestone_id in (${leftMilestones})`,
  )
  await tx.run(sql`delete from board_labels where board_id in (${boards}) and label_id in (${leftLabels})`)
  await tx.run(sql`
    delete from board_lists
    where board_id in (${boards}) and (label_id in (${leftLabels}) or milestone_id in (${leftMilestones}))
  `)
}

/** Rows (project_id, old_id, new_id): labels on boards of projects, with the available ones of the same titles. */
const labelReplacements = (boards: Sql, old: Sql): Sql => sql`
  select distinct on (used.project_id, used.label_id) used.project_id, used.label_id as old_id, l.id as new_id
  from (
      select b.project_id, bl.label_id
      from board_lists bl join boards b on b.id = bl.board_id
      where b.id in (${boards})
      union
      select b.project_id, bl.label_id
      from board_labels bl join boards b on b.id = bl.board_id
      where b.id in (${boards})
    ) as used
    join labels before on before.id = used.label_id and before.id in (${old})
    join labels l on l.title = before.title and ${reaching('l', raw('used.project_id'))}
    left join namespaces g on g.id = l.namespace_id
  order by used.project_id, used.label_id, l.project_id is null, cardinality(g.traversal_ids) desc
`

/** Of lists of one board that would have the same criterion, the first one is changed, unless the board has one already. */
const replaceInLists = (tx: Tx, column: 'label_id' | 'milestone_id', replacements: Sql): Promise<number> =>
  tx.run(sql`
    update board_lists bl
    set ${raw(column)} = chosen.new_id
    from (
      select distinct on (o.board_id, r.new_id) o.id, r.new_id
      from (${replacements}) as r
        join boards b on b.project_id = r.project_id
        join board_lists o on o.board_id = b.id and o.${raw(column)} = r.old_id
      where not exists (select from board_lists t where t.board_id = b.id and t.${raw(column)} = r.new_id)
      order by o.board_id, r.new_id, o.position, o.id
    ) as chosen
    where bl.id = chosen.id
  `)
