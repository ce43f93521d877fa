import { type Sql, sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { replacementsOf } from '../../planning/index.ts'

/** Assigns the replacement to merge requests whose milestone is replaced. */
export const followMilestones: Reaction<'milestones_replaced'> = (tx, { payload, facts }) =>
  tx.run(sql`
    update merge_requests
    set milestone_id = ${payload.milestone_id}
    where milestone_id = any(${facts.replaced_ids}::bigint[])
  `)

const projectsOf = ({ projectId, groupId }: { readonly projectId?: number; readonly groupId?: number }): Sql =>
  projectId === undefined
    ? sql`
      select p.id
      from projects p join namespaces d on d.id = p.namespace_id
      where ${groupId}::bigint = any(d.traversal_ids)
    `
    : sql`select ${projectId}::bigint`

/** Assigns milestones that are available now to merge requests of moved projects. */
export const replaceLeftMilestones: Reaction<'projects_left_groups'> = (tx, event) => {
  const moved = { projects: projectsOf(event), leftGroups: [...event.facts.left_group_ids] }
  return tx.run(sql`
    with replaced as (${replacementsOf(moved)})
    update merge_requests m
    set milestone_id = r.new_id
    from replaced r
    where m.project_id = r.project_id and m.milestone_id = r.old_id
  `)
}
