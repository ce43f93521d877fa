import { sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { projectsOf, replacementsOf } from '../milestones/move-queries.ts'

/** Releases get the milestone that takes the place of theirs. Those that are replaced are deleted afterwards. */
export const followMilestonesOfReleases: Reaction<'milestones_replaced'> = (tx, { payload, facts }) =>
  tx.run(sql`
    insert into release_milestones (release_id, milestone_id)
    select release_id, ${payload.milestone_id}
    from release_milestones
    where milestone_id = any(${facts.replaced_ids}::bigint[])
    on conflict do nothing
  `)

/** Releases of moved projects get milestones that are available now in place of those of groups that are no longer above them. */
export const replaceLeftMilestonesOfReleases: Reaction<'projects_left_groups'> = async (tx, event) => {
  const projects = projectsOf(event)
  const leftGroups = [...event.facts.left_group_ids]
  await tx.run(sql`
    insert into release_milestones (release_id, milestone_id)
    select rm.release_id, new.new_id
    from (${replacementsOf({ projects, leftGroups })}) as new
      join releases r on r.project_id = new.project_id
      join release_milestones rm on rm.release_id = r.id and rm.milestone_id = new.old_id
    on conflict do nothing
  `)
  await tx.run(sql`
    delete from release_milestones rm using releases r, milestones ms
    where r.id = rm.release_id
      and ms.id = rm.milestone_id
      and r.project_id in (${projects})
      and ms.namespace_id = any(${leftGroups}::bigint[])
  `)
}
