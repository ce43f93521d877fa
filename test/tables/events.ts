import { expect } from 'vitest'
import type { World } from '../world.ts'
import { change, find, remove } from './statements.ts'

type Filter = {
  readonly project?: number
  readonly group?: number
  /** Id of the user, or null for the service itself. */
  readonly actor?: number | null
  /** Kind, in which `%` stands for any text. */
  readonly kind?: string
  /** A value of the payload, as text. */
  readonly payload?: Readonly<Record<string, string | number>>
}

type EventColumn = 'kind' | 'actor_id' | 'payload' | 'group_id' | 'project_id'

/** Events in their order, with these columns. */
export function eventsOf(world: World, filter: Filter, ...columns: readonly EventColumn[]): Promise<any[]> {
  const { project, group, actor, kind, payload = {} } = filter
  const values: unknown[] = []
  const bind = (value: unknown) => `$${values.push(value)}`
  const conditions = [
    ...(project === undefined ? [] : [`project_id = ${bind(project)}`]),
    ...(group === undefined ? [] : [`group_id = ${bind(group)}`]),
    ...(actor === undefined ? [] : [actor === null ? 'actor_id is null' : `actor_id = ${bind(actor)}`]),
    ...(kind === undefined ? [] : [`kind like ${bind(kind)}`]),
    ...Object.entries(payload).map(([key, value]) => `payload->>${bind(key)} = ${bind(String(value))}`),
  ]
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  return world.rows(
    `select ${columns.length === 0 ? '*' : columns.join(', ')} from events ${where} order by id`,
    values,
  )
}

/** Events whose payload has this text anywhere. */
export const eventsWithText = (world: World, text: string) =>
  world.rows('select from events where payload::text like $1', [`%${text}%`])

/** Two events of transactions whose numbers have one digit and two; the one with the smaller number has the larger id. */
export const addEventsOfTransactions = (world: World, ninth: string, tenth: string) =>
  world.rows(
    `insert into events (txid, kind, actor_id, payload)
      values ('10', 'custom_attribute_set', null, jsonb_build_object('key', $2::text)),
        ('9', 'custom_attribute_set', null, jsonb_build_object('key', $1::text))`,
    [ninth, tenth],
  )

/** Events of a project that does not exist, one for each age in days. */
export const addOldEvents = (world: World, ages: readonly number[]) =>
  world.rows(
    `insert into events (kind, project_id, payload, created_at)
      select 'project_archived', 1000000, '{}', now() - make_interval(days => age) from unnest($1::integer[]) as age`,
    [ages],
  )

/** Audit events of a project that does not exist, one for each age in days. */
export const addOldAuditEvents = (world: World, ages: readonly number[]) =>
  world.rows(
    `insert into audit_events
        (event, author_name, entity_type, entity_id, entity_path, verb, noun, target_type, facts, created_at)
      select 'project_archived', '', 'Project', 1000000, '', 'change', 'archived', 'Project', '{}',
        now() - make_interval(days => age) from unnest($1::integer[]) as age`,
    [ages],
  )

/** Ages in days of the events that these functions add. */
export const agesOf = (world: World, table: string, column: string) =>
  world.rows(
    `select extract(day from now() - created_at)::integer as age from ${table} where ${column} = 1000000 order by 1`,
  )

/** All audit events name the first administrator. The database refuses this and the next. */
export const forgeAuditEvents = (world: World) => change(world, 'audit_events', {}, { author_id: 1 })

export const deleteAuditEvents = (world: World) => remove(world, 'audit_events', {})

export const allAuditEvents = (world: World) => find(world, 'audit_events', {})

type Audited = { readonly type: 'Project' | 'Group'; readonly id: number; readonly event?: string }

/** Audit events of a project or group in their order. */
export const auditOf = (
  world: World,
  { type, id, event }: Audited,
  ...columns: readonly ('kind' | 'author_id' | 'facts')[]
) =>
  find(
    world,
    'audit_events',
    { entity_type: type, entity_id: id, ...(event !== undefined && { event }) },
    columns.map((column) => (column === 'kind' ? 'event as kind' : column)),
    'id',
  )

type AuditedNoun = {
  readonly noun: string
  /** Id of the project or group that it belongs to. */
  readonly project?: number
  readonly group?: number
  /** Id of what the noun stands for. */
  readonly target_id?: number
}

/** Audit events about what a noun stands for, such as `approval_rule`, in their order. */
export const auditOfNoun = (
  world: World,
  { project, group, ...audited }: AuditedNoun,
  ...columns: readonly ('verb' | 'target_details')[]
) => {
  const entity = {
    ...(project !== undefined && { entity_type: 'Project', entity_id: project }),
    ...(group !== undefined && { entity_type: 'Group', entity_id: group }),
  }
  return find(world, 'audit_events', { ...audited, ...entity }, columns, 'id')
}

/** Audit events with this value among their facts. */
export const auditWithFact = (world: World, key: string, value: string) =>
  world.rows('select event, facts from audit_events where facts->>$1 = $2 order by id', [key, value])

/** Lines of the activity feed about a merge request. */
export const feedOf = (world: World, id: number, ...columns: readonly ('action' | 'target_iid' | 'target_title')[]) =>
  find(world, 'feed_events', { target_type: 'MergeRequest', target_id: id }, columns, 'id')

/** Pushes of a project were made at the end of a day long ago. */
export const agePushesInFeed = (world: World, project_id: number) =>
  change(world, 'feed_events', { action: 'pushed', project_id }, { created_at: '2020-02-02T23:59:59.999Z' })

/** Thousands of lines, so that the planner of the database chooses an index. */
export const addManyFeedLines = async (world: World) => {
  const lines = await world.rows(
    `insert into feed_events (project_id, author_id, action, code, created_at)
      select p.id, u.id, 'joined', false, now() - make_interval(secs => n)
      from generate_series(1, 300) n, (select id from projects order by id limit 10) p,
        (select id from users order by id limit 10) u returning author_id`,
  )
  await world.rows('analyze feed_events')
  return lines
}

/** How the database finds the latest lines of a project or author. */
export const planOfFeed = (world: World, column: string) =>
  world.rows(
    `explain (costs off) select id from feed_events where ${column} = 1 order by created_at desc, id desc limit 20`,
  )

/**
 * Resolves when readers of the log have all that was committed before: when older transactions of the server, those of other tests
 * included, have ended.
 */
export async function caughtUp(world: World): Promise<void> {
  const [{ now: id }] = await world.rows('select pg_current_xact_id()::text as now')
  const isPast = 'select pg_snapshot_xmin(pg_current_snapshot()) > $1::xid8 as past'
  await expect.poll(async () => (await world.rows(isPast, [id]))[0].past).toBe(true)
}

/** Lines of activity of a user in a project, later than what there is. */
export const addActivity = (world: World, userId: number, projectId: number, count: number) =>
  world.rows(
    `insert into feed_events (project_id, author_id, action, code, created_at)
      select $2, $1, 'created', false, clock_timestamp() from generate_series(1, $3::integer)`,
    [userId, projectId, count],
  )
