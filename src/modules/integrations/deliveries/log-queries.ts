import type { List } from '../../../api/list.ts'
import { deleteSome } from '../../../db/batches.ts'
import type { Db, Tx } from '../../../db/db.ts'
import { integer, json, nullable, oneOf, type RowOf, text, timestamp } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import type { Sample } from './sample-queries.ts'

export const states = ['pending', 'delivered', 'failed', 'dropped'] as const

export const deliveryRow = {
  id: integer,
  hook_id: integer,
  uuid: text,
  part: integer,
  trigger: text,
  url: text,
  state: oneOf(...states),
  attempts: integer,
  created_at: timestamp,
  attempted_at: nullable(timestamp),
  finished_at: nullable(timestamp),
  next_at: nullable(timestamp),
  response_status: nullable(integer),
  response_headers: nullable(json<Record<string, string>>()),
  response_body: nullable(text),
  duration_ms: nullable(integer),
  error: nullable(text),
}
export type DeliveryRow = RowOf<typeof deliveryRow>

const columns = raw(`d.id, d.hook_id, e.uuid, d.part, d.trigger, h.shown_url as url, d.state, d.attempts, d.created_at,
  d.attempted_at, d.finished_at,
  case when d.state = 'pending' then greatest(d.next_at, h.disabled_until) end as next_at, d.response_status,
  d.response_headers, d.response_body, d.duration_ms, d.error`)

const joined = raw(`hook_deliveries d join hook_events e on e.id = d.event_id join hooks h on h.id = d.hook_id`)

export const deliveriesOf = (hookId: number, state: (typeof states)[number] | undefined): List => ({
  type: 'HookEvent',
  select: sql`select ${columns} from ${joined}`,
  from: raw('from hook_deliveries d'),
  where: [sql`d.hook_id = ${hookId}`, ...(state === undefined ? [] : [sql`d.state = ${state}`])],
  order: [{ by: raw('d.id'), direction: 'desc' }],
  keyset: { direction: 'desc' },
})

export const findDelivery = (db: Db, hookId: number, id: number): Promise<DeliveryRow | undefined> =>
  db.row(deliveryRow, sql`select ${columns} from ${joined} where d.hook_id = ${hookId} and d.id = ${id}`)

/** Queues a delivery again, apart from the order of its resource. Resolves with the id of the new one. */
export const resendDelivery = async (tx: Tx, hookId: number, id: number): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        insert into hook_deliveries (hook_id, event_id, trigger, part, resource, ready)
        select d.hook_id, d.event_id, d.trigger, d.part,
          'again ' || currval(pg_get_serial_sequence('hook_deliveries', 'id')), true
        from hook_deliveries d cross join (select ${nextNumber}) as numbered
        where d.hook_id = ${hookId} and d.id = ${id}
        returning id
      `,
    )
  )?.id

const nextNumber: Sql = raw(`nextval(pg_get_serial_sequence('hook_deliveries', 'id'))`)

/**
 * Queues the ended deliveries of a hook whose events happened since a time again, each once and in order. Those that wait already are
 * left out. The queue is locked. Resolves with their number.
 */
export const replayDeliveries = (tx: Tx, hookId: number, since: Date): Promise<number> =>
  tx.run(sql`
    insert into hook_deliveries (hook_id, event_id, trigger, part, resource, ready)
    select s.hook_id, s.event_id, s.trigger, s.part, s.resource, s.place = 1
      and not exists (
        select from hook_deliveries d where d.hook_id = s.hook_id and d.resource = s.resource and d.state = 'pending'
      )
    from (
      select o.*, row_number() over (partition by o.resource order by o.first) as place
      from (
        select d.hook_id, d.event_id, d.trigger, d.part, (array_agg(d.resource order by d.id))[1] as resource,
          min(d.id) as first
        from hook_deliveries d join hook_events e on e.id = d.event_id
        where d.hook_id = ${hookId}
          and e.created_at >= ${since}
          and not coalesce((e.facts ->> 'test')::boolean, false)
        group by d.hook_id, d.event_id, d.trigger, d.part
        having bool_and(d.state <> 'pending')
      ) as o
    ) as s
    order by s.first
  `)

/** Lets a paused hook be tried at once. */
export const endPause = (tx: Tx, hookId: number): Promise<number> =>
  tx.run(sql`update hooks set disabled_until = null where id = ${hookId} and disabled_until is not null`)

export type TestEvent = Omit<Sample, 'payload'> & {
  readonly kind: string
  readonly trigger: string
  readonly payload: object
  readonly facts: object
}

/** Queues an event for one hook only. Resolves with the id of its delivery; undefined if the hook is deleted. */
export const insertTest = async (tx: Tx, hookId: number, event: TestEvent): Promise<number | undefined> =>
  (
    await tx.row(
      { id: integer },
      sql`
        with hook as (select id from hooks where id = ${hookId} for key share),
        made as (
          insert into hook_events (kind, project_id, group_id, actor_id, payload, facts, expanded)
          select ${event.kind}, ${event.project_id}::bigint, ${event.group_id}::bigint, ${event.actor_id}::bigint,
            ${JSON.stringify(event.payload)}::jsonb, ${JSON.stringify({ ...event.facts, test: true })}::jsonb, true
          from hook
          returning id
        )
        insert into hook_deliveries (hook_id, event_id, trigger, part, resource, ready)
        select ${hookId}, m.id, ${event.trigger}, ${event.part}, 'test ' || m.id, true
        from made m
        returning id
      `,
    )
  )?.id

/** Deletes events with their deliveries after this number of days. */
export const deleteOldHookEvents = (db: Db, days: number, size: number): Promise<number> =>
  db.run(deleteSome('hook_events', sql`created_at < now() - make_interval(days => ${days}::integer)`, size))

/**
 * Deletes what was recorded of projects that are gone, a day later: not their end, what is still to be sent, and which of their issues were
 * confidential.
 */
export const deleteHookEventsOfGone = (db: Db, size: number): Promise<number> =>
  db.run(
    deleteSome(
      'hook_events',
      sql`
        created_at < now() - interval '1 day'
        and kind <> 'project_deleted'
        and expanded
        and project_id is not null
        and not exists (select from projects p where p.id = hook_events.project_id)
        and not exists (select from hook_deliveries d where d.event_id = hook_events.id and d.state = 'pending')
        and (facts ->> 'confidential' = 'true' and payload ? 'issue_id') is not true
      `,
      size,
    ),
  )
