import type { Tx } from '../../../db/db.ts'
import { notifying } from '../../../db/notifications.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { AnyEvent } from '../../../events/catalogue.ts'
import type { Trigger } from '../hooks/triggers.ts'
import { factsSql } from './facts-queries.ts'
import type { HookedEvent, Rule } from './rules.ts'
import { shownSql } from './shown-queries.ts'

/** Hooks `h` with one of these flags. */
const receiving = (triggers: readonly Trigger[]): Sql => sql`h.triggers && ${triggers}::text[]`

/** Whether there is a hook `h` like this. Unlike `exists`, never by reading all hooks once for all events, of which the planner expects many. */
const someHook = (condition: Sql): Sql => sql`coalesce((select true from hooks h where ${condition} limit 1), false)`

/** The ids of the group of the event `e`, or of its project, and of those above it. */
const ancestorIds = sql`
  (
    select n.traversal_ids
    from namespaces n
    where n.id = coalesce(e.group_id, (select p.namespace_id from projects p where p.id = e.project_id))
  )
`

/** Whether a hook of the place of the event `e`, of a group above it, or of the installation, receives it. */
const isWanted = (triggers: readonly Trigger[]): Sql => sql`
  (
    ${someHook(sql`h.project_id = e.project_id and ${receiving(triggers)}`)}
    or ${someHook(sql`
      h.namespace_id = any(${ancestorIds}::bigint[])
      and ${receiving(triggers)}
    `)}
    or ${someHook(sql`h.project_id is null and h.namespace_id is null and ${receiving(triggers)}`)}
  )
`

/** The hooks of these groups receive the event `e` also when project or group are gone. */
const ancestorsSql = sql`jsonb_strip_nulls(jsonb_build_object('ancestor_ids', ${ancestorIds}))`

/**
 * Records events of one kind for the hooks that may receive them, and wakes the sender after the commit. Where no hook does, which is usual,
 * only that is asked: the statement that reads all rows takes PostgreSQL milliseconds to plan.
 */
export async function recordHookEvents(
  tx: Tx,
  events: readonly (AnyEvent & { kind: HookedEvent })[],
  { triggers, facts }: Rule,
): Promise<void> {
  const rows = events.map(({ kind, projectId, groupId, actorId, payload, facts }) => ({
    kind,
    project_id: projectId,
    group_id: groupId,
    actor_id: actorId,
    payload,
    facts: facts ?? {},
  }))
  const wanted = sql`
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as e (
      kind text, project_id bigint, group_id bigint, actor_id bigint, payload jsonb, facts jsonb
    )
    where ${isWanted(triggers)}
  `
  if (!(await tx.exists(sql`select ${wanted} limit 1`))) return
  await tx.run(sql`
    with recorded as (
      insert into hook_events (kind, project_id, group_id, actor_id, payload, facts, shown)
      select e.kind, e.project_id, e.group_id, e.actor_id, e.payload,
        e.facts || ${ancestorsSql} || coalesce(${facts ? factsSql(facts) : raw('null::jsonb')}, '{}'),
        ${shownSql(events)} ${wanted}
      returning id
    )
    select ${notifying('hooks')}
    from recorded
    limit 1
  `)
}
