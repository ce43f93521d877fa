import { raw, sql } from '../../../db/sql.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { projectsOf } from '../milestones/move-queries.ts'

/** The epics `e` of the groups that moved. */
const moved = (groupId: number) => sql`
  from epics e join namespaces g on g.id = e.namespace_id and ${groupId}::bigint = any(g.traversal_ids)
`

/**
 * Issues leave the epics of groups that are no longer above their project, and epics the parents in groups that are no longer above
 * theirs. Labels of such groups on epics are replaced by labels of the same titles, which are made in the group of the epic where there are
 * none.
 */
export const leaveGroupsOnEpics: Reaction<'projects_left_groups'> = async (tx, event) => {
  const left = sql`${event.facts.left_group_ids}::bigint[]`
  await tx.run(sql`
    delete from epic_issues ei using epics e, issues i
    where e.id = ei.epic_id
      and i.id = ei.issue_id
      and e.namespace_id = any(${left})
      and i.project_id in (${projectsOf(event)})
  `)
  if (event.groupId === undefined) return
  const epics = moved(event.groupId)
  await tx.run(sql`
    update epics
    set parent_id = null, relative_position = null
    where id in (select e.id ${epics} join epics p on p.id = e.parent_id and p.namespace_id = any(${left}))
  `)
  const used = sql`
    select distinct e.namespace_id, g.traversal_ids, l.id as label_id, l.title, l.color, l.description ${epics}
      join epic_labels el on el.epic_id = e.id
      join labels l on l.id = el.label_id and l.namespace_id = any(${left})
  `
  const usable = raw('l.title = used.title and l.namespace_id = any(used.traversal_ids)')
  await tx.run(sql`
    insert into labels (namespace_id, title, color, description)
    select used.namespace_id, used.title, used.color, used.description
    from (${used}) as used
    where not exists (select from labels l where ${usable})
    on conflict (namespace_id, title) where namespace_id is not null do nothing
  `)
  await tx.run(sql`
    with replaced as (
      select distinct on (used.namespace_id, used.label_id) used.namespace_id, used.label_id as old_id,
        l.id as new_id
      from (${used}) as used join labels l on ${usable} join namespaces n on n.id = l.namespace_id
      order by used.namespace_id, used.label_id, cardinality(n.traversal_ids) desc
    ),
    removed as (
      delete from epic_labels el using epics e, replaced r
      where e.id = el.epic_id and r.namespace_id = e.namespace_id and r.old_id = el.label_id
      returning el.epic_id, r.new_id
    ),
    renamed as (
      update label_events le
      set label_id = r.new_id
      from epics e, replaced r
      where e.id = le.epic_id and r.namespace_id = e.namespace_id and r.old_id = le.label_id
    )
    insert into epic_labels (epic_id, label_id)
    select epic_id, new_id
    from removed
    on conflict do nothing
  `)
}
