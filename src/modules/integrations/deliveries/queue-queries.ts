import type { Db, Tx } from '../../../db/db.ts'
import { boolean, integer, json, listOf, nullable, oneOf, type RowOf, text } from '../../../db/row.ts'
import { isDue, literal, raw, type Sql, sql } from '../../../db/sql.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { sendMails } from '../../instance/index.ts'
import { untilChanged } from '../hooks/queries.ts'
import { type Properties, slugs } from '../services/kinds.ts'
import { asRecorded, recordedColumns, recordedRow } from './expand-queries.ts'
import { aloneAfter, pauseAfter } from './schedule.ts'

const dueColumns = {
  delivery_id: integer,
  hook_id: integer,
  trigger: text,
  part: integer,
  attempts: integer,
  /** A process has begun to send it, and ended without a result. */
  was_taken: boolean,
  is_system: boolean,
  /** In microseconds since 1970. */
  hook_created_at: integer,
  /** The project or group of the hook; both are null for a hook of the installation. */
  hook_project_id: nullable(integer),
  hook_group_id: nullable(integer),
  host: text,
  /** Null for hooks. */
  service: nullable(oneOf(...slugs)),
  properties: nullable(json<Properties>()),
  /** Null for services that send mails. */
  sealed_url: nullable(text),
  sealed_token: nullable(text),
  triggers: listOf(text),
  verifies_tls: boolean,
  failures: integer,
  /** The hook belongs to the project or group of the event, or to a group above it, now. */
  reaches: boolean,
}
const dueRow = { ...recordedRow, ...dueColumns }
export type DueRow = RowOf<typeof dueRow>

/** The event of a delivery. */
export const eventOf = (row: DueRow) => asRecorded(row)

/**
 * What is not taken: deliveries that are being sent, and those of hooks, of their projects and groups, of hosts, and of events of users with
 * enough requests.
 */
export type Taken = {
  readonly deliveries: readonly number[]
  readonly hooks: readonly number[]
  readonly projects: readonly number[]
  readonly groups: readonly number[]
  readonly actors: readonly number[]
  readonly hosts: readonly string[]
}

/** The hooks with ready deliveries: one probe of an index for each, however many deliveries these have. */
const waitingHooks = raw(`waiting (hook_id) as (
  (select d.hook_id from hook_deliveries d where d.ready order by d.hook_id limit 1)
  union all
  select (select d.hook_id from hook_deliveries d where d.ready and d.hook_id > w.hook_id order by d.hook_id limit 1)
  from waiting w
  where w.hook_id is not null
)`)

/** Whether the event of a delivery `d` of a hook `h` is of a user who may have more requests. Its other deliveries do not wait for those. */
const hasRoom = ({ actors }: Taken): Sql =>
  actors.length === 0
    ? raw('true')
    : sql`
      (
        (h.project_id is null and h.namespace_id is null)
        or exists (
          select
          from hook_events c
          where c.id = d.event_id and (c.actor_id is null or c.actor_id <> all(${actors}::bigint[]))
        )
      )
    `

/** Those of a hook `h`, at most as many as may be sent at once. `due` restricts the time of a range of an index. */
const readyOf = (taken: Taken, perHook: number, due: Sql): Sql => sql`
  (
    select d.*
    from hook_deliveries d
    where d.hook_id = h.id and d.ready and ${due} and d.id <> all(${taken.deliveries}::bigint[]) and ${hasRoom(taken)}
    order by d.next_at, d.id
    limit case when h.failures >= ${literal(aloneAfter)} then 1 else ${literal(perHook)} end
  )
`

/** Longer than any retry or pause: a later time was planned before the clock was set back. */
const longest = raw(`interval '1 day'`)

/**
 * Ready deliveries that are due, at most `perHook` of each hook; of a hook that fails repeatedly, only
 * the oldest.
 */
export const dueDeliveries = (db: Db, taken: Taken, { perHook, limit }: { perHook: number; limit: number }) =>
  db.rows(
    dueRow,
    sql`
      with recursive ${waitingHooks}
      select ${recordedColumns}, q.id as delivery_id, q.hook_id, q.trigger, q.part, q.attempts,
        coalesce(q.attempted_at > q.next_at, false) as was_taken, h.project_id is null
        and h.namespace_id is null as is_system,
        (1000000 * extract(epoch from h.created_at))::bigint as hook_created_at, h.project_id as hook_project_id,
        h.namespace_id as hook_group_id, h.host, h.service, h.properties, h.sealed_url, h.sealed_token, h.triggers,
        h.enable_ssl_verification as verifies_tls, h.failures, h.namespace_id is null
        or h.namespace_id = any(
          coalesce(
            (
              select n.traversal_ids
              from projects p join namespaces n on n.id = p.namespace_id
              where p.id = e.project_id
            ),
            (select n.traversal_ids from namespaces n where n.id = e.group_id),
            array(select jsonb_array_elements_text(coalesce(e.facts -> 'ancestor_ids', '[]'))::bigint)
          )
        ) as reaches
      from waiting w
        join hooks h on h.id = w.hook_id
        cross join lateral (
          select b.*
          from (
            ${readyOf(taken, perHook, sql`d.next_at <= now()`)}
            union all ${readyOf(taken, perHook, sql`d.next_at > now() + ${longest}`)}
          ) as b
          order by b.next_at, b.id
          limit case when h.failures >= ${literal(aloneAfter)} then 1 else ${literal(perHook)} end
        ) as q
        join hook_events e on e.id = q.event_id
      where (
          h.disabled_until is null
          or (${isDue(raw('h.disabled_until'), longest)} and h.disabled_until < ${untilChanged}::timestamptz)
        )
        and h.id <> all(${taken.hooks}::bigint[])
        and (h.project_id is null or h.project_id <> all(${taken.projects}::bigint[]))
        and (h.namespace_id is null or h.namespace_id <> all(${taken.groups}::bigint[]))
        and h.host <> all(${taken.hosts}::text[])
      order by q.next_at, q.id
      limit ${literal(limit)}
    `,
  )

/**
 * Marks deliveries that are sent now by a time of their attempt after the time for which they were planned: a result sets both, so the mark
 * stays only if there was none. One statement for all, of which no index changes.
 */
export const markTaken = async (db: Db, ids: readonly number[]): Promise<void> => {
  if (ids.length === 0) return
  await db.run(sql`
    update hook_deliveries
    set attempted_at = greatest(now(), next_at + interval '1 microsecond')
    where id = any(${ids}::bigint[]) and state = 'pending'
  `)
}

/** Milliseconds until a delivery that is not being sent may be due; null if none waits. */
export const nextDueMs = async (db: Db, sending: readonly number[]): Promise<number | null> =>
  (
    await db.row(
      { ms: nullable(integer) },
      sql`
        with recursive ${waitingHooks}
        select ceil(1000 * extract(epoch from min(greatest(q.next_at, h.disabled_until)) - now()))::bigint as ms
        from waiting w
          join hooks h on h.id = w.hook_id
          cross join lateral (
            select d.next_at
            from hook_deliveries d
            where d.hook_id = w.hook_id and d.ready and d.id <> all(${sending}::bigint[])
            order by d.next_at
            limit 1
          ) as q
      `,
    )
  )?.ms ?? null

/** The end of an attempt. */
export type Result = {
  readonly id: number
  readonly hook_id: number
  readonly state: 'pending' | 'delivered' | 'failed' | 'dropped'
  readonly attempts: number
  /** Until the next attempt. */
  readonly delay_ms: number
  /** Whether it says something about the receiver. */
  readonly sent: boolean
  /** Whether the hook sent one at a time. Failures at the same time are no failures in a row: they do not pause it. */
  readonly alone: boolean
  readonly pause_ms: number
  readonly response_status: number | null
  readonly response_headers: object | null
  readonly response_body: string | null
  readonly duration_ms: number | null
  readonly error: string | null
  /** What a service sends by mail: queued with the result, so that a crash sends them neither twice nor never. */
  readonly mails?: readonly Mail[]
}

/**
 * Records results, makes the next delivery of each resource ready, and counts the failures of hooks. The queue is locked. Locks the hooks
 * first, as an edit or a deletion of one does, which changes its deliveries.
 */
export async function saveResults(tx: Tx, results: readonly Result[]): Promise<void> {
  const rows = sql`
    jsonb_to_recordset(${JSON.stringify(results.map(({ mails: _, ...result }) => result))}::jsonb) as r (
      id bigint, hook_id bigint, state text, attempts integer, delay_ms double precision, sent boolean, alone boolean,
      pause_ms double precision, response_status integer, response_headers jsonb, response_body text,
      duration_ms integer, error text
    )
  `
  const hookIds = results.map(({ hook_id }) => hook_id)
  await tx.run(sql`select from hooks where id = any(${hookIds}::bigint[]) order by id for no key update`)
  const saved = await tx.rows(
    { id: integer },
    sql`
      update hook_deliveries d
      set state = r.state, ready = r.state = 'pending', attempts = r.attempts,
        next_at = now() + make_interval(secs => r.delay_ms / 1000),
        finished_at = case when r.state = 'pending' then null else now() end, attempted_at = now(),
        response_status = r.response_status, response_headers = r.response_headers, response_body = r.response_body,
        duration_ms = r.duration_ms, error = r.error
      from ${rows}
      where d.id = r.id and d.state = 'pending'
      returning d.id
    `,
  )
  // Of a service that was disabled meanwhile nothing is sent.
  const left = new Set(saved.map(({ id }) => id))
  // A statement for each delivery: those of all together could exceed what PostgreSQL accepts as one value, and no result would be saved.
  for (const { id, mails = [] } of results) if (left.has(id)) await sendMails(tx, mails)
  await tx.run(sql`
    update hook_deliveries d
    set ready = true
    from (
      select distinct f.hook_id, f.resource
      from ${rows} join hook_deliveries f on f.id = r.id
      where r.state <> 'pending'
    ) as c
    where d.id = (
        select n.id
        from hook_deliveries n
        where n.hook_id = c.hook_id and n.resource = c.resource and n.state = 'pending'
        order by n.id
        limit 1
      )
      and not d.ready
  `)
  await tx.run(sql`
    update hooks h
    set failures = case
        when s.delivered then 0
        when s.alone then h.failures + s.failed
        else greatest(h.failures, least(h.failures + s.failed, ${literal(pauseAfter - 1)}))
      end,
      disabled_until = case
        when not s.delivered and s.pause_ms > 0 then now() + make_interval(secs => s.pause_ms / 1000)
      end
    from (
      select r.hook_id, bool_or(r.state = 'delivered') as delivered, count(*) as failed, bool_or(r.alone) as alone,
        max(r.pause_ms) as pause_ms
      from ${rows}
      where r.sent
      group by r.hook_id
    ) as s
    where h.id = s.hook_id and (not s.delivered or h.failures > 0 or h.disabled_until is not null)
  `)
}
