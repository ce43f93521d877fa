import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, listOf, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { literal, raw, sql } from '../../../db/sql.ts'
import { payloadTime } from '../hook-events/facts-queries.ts'
import type { RecordedEvent } from '../payloads/source.ts'
import { type Properties, slugs } from '../services/kinds.ts'

export const recordedRow = {
  id: integer,
  uuid: text,
  kind: text,
  project_id: nullable(integer),
  group_id: nullable(integer),
  actor_id: nullable(integer),
  payload: json<Record<string, unknown>>(),
  facts: json<Record<string, unknown>>(),
  happened_at: text,
}

export const recordedColumns = sql`
  e.id, e.uuid, e.kind, e.project_id, e.group_id, e.actor_id, e.payload, e.facts,
  ${payloadTime('e.created_at')} as happened_at
`

/** The row of an event; `recordHookEvent` wrote its kind. */
export const asRecorded = (row: RowOf<typeof recordedRow>): RecordedEvent => row as RecordedEvent

/**
 * Serializes what adds deliveries and what completes them: both decide which one of a resource is next. Held until the transaction
 * ends.
 */
export const lockQueue = (tx: Tx): Promise<number> =>
  tx.run(sql`select pg_advisory_xact_lock(hashtext('hook deliveries'))`)

/** A push waits this long at most for earlier ones of the same ref, whose transactions end a moment later. */
const pushesSettle = raw(`interval '1 minute'`)

/**
 * The oldest events without deliveries. Other changes of the same resource hold a lock while they emit, so their ids are in the order of
 * their commits. Refs move before the transaction of a push: one that follows another can commit first, so it waits for the other.
 */
export async function newEvents(db: Db, limit: number): Promise<RecordedEvent[]> {
  const rows = await db.rows(
    recordedRow,
    sql`
      select ${recordedColumns}
      from hook_events e
      where not e.expanded
        and not (
          e.kind = 'pushed'
          and e.created_at > now() - ${pushesSettle}
          and exists (
            select
            from pushes q
              join ref_changes c on c.push_id = q.id
              join ref_changes o on o.ref = c.ref and o.push_id = (e.payload ->> 'push_id')::bigint
            where q.state = 'intended'
              and q.created_at > now() - ${pushesSettle}
              and q.project_id = e.project_id
              and q.id < (e.payload ->> 'push_id')::bigint
          )
        )
      order by e.id
      limit ${literal(limit)}
    `,
  )
  return rows.map(asRecorded)
}

/** Whether events without deliveries are left. */
export const hasNewEvents = (db: Db): Promise<boolean> => db.exists(sql`select from hook_events where not expanded`)

export const receiverRow = {
  id: integer,
  project_id: nullable(integer),
  namespace_id: nullable(integer),
  triggers: listOf(text),
  branch_filter: text,
  /** Null for hooks. */
  service: nullable(oneOf(...slugs)),
  properties: nullable(json<Properties>()),
}
export type ReceiverRow = RowOf<typeof receiverRow>

/** The hooks of a project or group, of the groups above it, and of the installation, as they are now. */
export const receiversOf = (
  db: Db,
  { project_id, group_id, facts }: Pick<RecordedEvent, 'project_id' | 'group_id' | 'facts'>,
): Promise<ReceiverRow[]> =>
  db.rows(
    receiverRow,
    sql`
      select h.id, h.project_id, h.namespace_id, h.triggers, h.branch_filter, h.service, h.properties
      from hooks h
      where h.project_id = ${project_id}
        or h.namespace_id = any(
          coalesce(
            (
              select n.traversal_ids
              from projects p join namespaces n on n.id = p.namespace_id
              where p.id = ${project_id}
            ),
            (select n.traversal_ids from namespaces n where n.id = ${group_id}),
            array(select jsonb_array_elements_text(${JSON.stringify(facts['ancestor_ids'] ?? [])}::jsonb)::bigint)
          )
        )
        or (h.project_id is null and h.namespace_id is null)
      order by h.id
    `,
  )

export type NewDelivery = {
  readonly hook_id: number
  readonly event_id: number
  readonly trigger: string
  readonly part: number
  readonly resource: string
}

/**
 * Adds deliveries in this order, without those of hooks that are gone. The first pending one of each hook and resource is ready. The
 * queue is locked.
 */
export const insertDeliveries = (tx: Tx, deliveries: readonly NewDelivery[]): Promise<number> =>
  tx.run(sql`
    with receiving as (
      select id
      from hooks
      where id = any(${[...new Set(deliveries.map((each) => each.hook_id))]}::bigint[])
      order by id
        -- Waits for a deletion: the foreign key of its deliveries would fail.
      for key share
    )
    insert into hook_deliveries (hook_id, event_id, trigger, part, resource, ready)
    select g.hook_id, g.event_id, g.trigger, g.part, g.resource, g.place = 1
      and not exists (
        select from hook_deliveries d where d.hook_id = g.hook_id and d.resource = g.resource and d.state = 'pending'
      )
    from (
        select g.*, row_number() over (partition by g.hook_id, g.resource order by g.number) as place
        from rows
        from (
          jsonb_to_recordset(${JSON.stringify(deliveries)}::jsonb) as (
            hook_id bigint, event_id bigint, trigger text, part integer, resource text
          )
        ) with ordinality as g (hook_id, event_id, trigger, part, resource, number)
      ) as g
      join receiving h on h.id = g.hook_id
    order by g.number
  `)

export const markExpanded = (tx: Tx, eventIds: readonly number[]): Promise<number> =>
  tx.run(sql`update hook_events set expanded = true where id = any(${eventIds}::bigint[])`)
