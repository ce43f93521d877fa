import type { Tx } from '../../../db/db.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { within } from '../../namespaces/index.ts'
import type { Trigger } from '../hooks/triggers.ts'
import { groupFacts, projectFacts } from './facts-queries.ts'
import { ruleOf } from './rules.ts'
import { shownOfGroup } from './shown-queries.ts'

const lastEvent = (place: Sql): Sql => sql`(select e.kind from events e where ${place} order by e.id desc limit 1)`

/**
 * What is deleted with a group, or with the personal namespace of a user: a condition on the namespace `d`. Without the groups below
 * that were deleted before, which was sent then with what is in them: the deletion of a group is its last event.
 */
export const insideGroup = (groupId: number): Sql => sql`
  ${within(raw('d.traversal_ids'), sql`(select g.traversal_ids from namespaces g where g.id = ${groupId})`)}
  and not exists (
    select
    from namespaces a
    where a.id = any(d.traversal_ids)
      and a.id <> ${groupId}
      and ${lastEvent(raw('e.group_id = a.id'))} = 'group_deleted'
  )
`
export const ownedByUser = (userId: number): Sql => sql`d.owner_id = ${userId}`

/** A hook of the installation with one of these flags. */
const systemHook = (triggers: readonly Trigger[]): Sql => sql`
  exists (
    select from hooks h where h.project_id is null and h.namespace_id is null and h.triggers && ${triggers}::text[]
  )
`

/**
 * Records for hooks the deletion of the projects in these namespaces, each as if it was deleted alone, without those deleted before.
 * One statement, which reads no project if there is no such hook.
 */
export const recordDeletedProjects = (tx: Tx, inside: Sql, actorId: number | null): Promise<number> =>
  tx.run(sql`
    insert into hook_events (kind, project_id, actor_id, payload, facts)
    select 'project_deleted', gone.id, ${actorId}::bigint, '{}', ${projectFacts(raw('gone.id'))}
    from namespaces d join projects gone on gone.namespace_id = d.id
    where ${systemHook(ruleOf('project_deleted').triggers)}
      and ${inside}
      and gone.deleting
      and ${lastEvent(raw('e.project_id = gone.id'))} is distinct from 'project_deleted'
    order by gone.id
  `)

/** The same for the groups below a group. Hooks of the groups above them receive it as well. */
export const recordDeletedSubgroups = (tx: Tx, groupId: number, actorId: number | null): Promise<number> => {
  const { triggers } = ruleOf('group_deleted')
  return tx.run(sql`
    insert into hook_events (kind, group_id, actor_id, payload, facts, shown)
    select 'group_deleted', d.id, ${actorId}::bigint, '{}', ${groupFacts(raw('d.id'))}, ${shownOfGroup(raw('d.id'))}
    from namespaces d
    where (
        ${systemHook(triggers)}
        or exists (
          select from hooks h where h.namespace_id = any(d.traversal_ids) and h.triggers && ${triggers}::text[]
        )
      )
      and ${insideGroup(groupId)}
      and d.id <> ${groupId}
      and d.deleting
    order by cardinality(d.traversal_ids) desc, d.id
  `)
}
