import type { Tx } from '../../../db/db.ts'
import { notifying } from '../../../db/notifications.ts'
import { empty, raw, type Sql, sql } from '../../../db/sql.ts'
import type { AnyEvent } from '../../../events/catalogue.ts'
import type { Trigger } from '../hooks/triggers.ts'
import { factsSql } from './facts-queries.ts'
import type { Rule } from './rules.ts'

/** Hooks `h` with one of these flags. */
const receiving = (triggers: readonly Trigger[]): Sql => sql`h.triggers && ${triggers}::text[]`

/** Whether a hook of the place of an event, of a group above it, or of the installation, receives it. */
const isWanted = ({ projectId, groupId }: AnyEvent, triggers: readonly Trigger[]): Sql => sql`
  (
    ${
      projectId === undefined
        ? empty
        : sql`exists (select from hooks h where h.project_id = ${projectId} and ${receiving(triggers)}) or `
    } ${
      projectId === undefined && groupId === undefined
        ? empty
        : sql`
          exists (
            select
            from hooks h
            where h.namespace_id = any(${ancestorsOf(projectId, groupId)}) and ${receiving(triggers)}
          )
          or
        `
    } exists (
      select from hooks h where h.project_id is null and h.namespace_id is null and ${receiving(triggers)}
    )
  )
`

/** Ids of the groups above a project, or of a group and those above it. */
const ancestorsOf = (projectId: number | undefined, groupId: number | undefined): Sql =>
  projectId === undefined
    ? sql`(select n.traversal_ids from namespaces n where n.id = ${groupId})::bigint[]`
    : sql`
      (
        select n.traversal_ids from projects p join namespaces n on n.id = p.namespace_id where p.id = ${projectId}
      )::bigint[]
    `

/**
 * Records an event for the hooks that may receive it, and wakes the sender after the commit. One statement, which writes nothing if
 * there is no such hook: how many there are does not matter.
 */
export const recordHookEvent = (tx: Tx, event: AnyEvent, { triggers, facts }: Rule): Promise<number> =>
  tx.run(sql`
    with recorded as (
      insert into hook_events (kind, project_id, group_id, actor_id, payload, facts)
      select ${event.kind}, ${event.projectId ?? null}::bigint, ${event.groupId ?? null}::bigint,
        ${event.actorId}::bigint, ${JSON.stringify(event.payload)}::jsonb,
        ${JSON.stringify(event.facts ?? {})}::jsonb || coalesce(
          ${facts ? factsSql(facts, event) : raw('null::jsonb')}, '{}'
        )
      where ${isWanted(event, triggers)}
      returning id
    )
    select ${notifying('hooks')}
    from recorded
  `)
