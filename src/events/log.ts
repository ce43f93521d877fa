import type { Db, Tx } from '../db/db.ts'
import { integer, json, nullable, text, textOf, timestamp } from '../db/row.ts'
import { empty, literal, type Sql, sql } from '../db/sql.ts'
import type { Timestamp } from '../db/types.ts'
import { writeAudit } from './audit.ts'
import {
  type AnyEvent,
  declarationOf,
  type EventName,
  type FeedEntry,
  type NewEvent,
  type Payload,
} from './catalogue.ts'

/** A position in the log: everything up to it has been read. */
export type Position = { readonly txid: string; readonly id: number }

type Logged<K extends EventName> = {
  readonly position: Position
  readonly kind: K
  readonly projectId: number | null
  readonly groupId: number | null
  readonly actorId: number | null
  readonly payload: Payload<K>
  readonly createdAt: Timestamp
}

/** An event as stored in the log: `kind` determines the type of its payload. */
export type Event = { [K in EventName]: Logged<K> }[EventName]

/**
 * Writes an event, its activity entries and its audit row, and runs its reactions (src/reactions.ts), all in the transaction of
 * the change; a rollback discards everything.
 */
export const emit = <const K extends EventName>(tx: Tx, event: NewEvent<K>): Promise<void> => write(tx, [event])

/** Events of one statement. */
const atOnce = 1000

/** As `emit`, for all events of one kind that a change has: their number has little effect on the number of statements. */
export async function emitAll<const K extends EventName>(tx: Tx, events: readonly NewEvent<K>[]): Promise<void> {
  for (let from = 0; from < events.length; from += atOnce) await write(tx, events.slice(from, from + atOnce))
}

async function write(tx: Tx, events: readonly AnyEvent[]): Promise<void> {
  const lines = events.flatMap((event) => entriesOf(event).flatMap((entry) => lineOf(event, entry) ?? []))
  const rows = events.map(({ kind, projectId, groupId, actorId, payload }) => ({
    kind,
    project_id: projectId,
    group_id: groupId,
    actor_id: actorId,
    payload,
  }))
  const written = tx.run(sql`
    ${lines.length > 0 ? sql`with shown as (${linesOf(lines)})` : empty}
    insert into events (kind, project_id, group_id, actor_id, payload)
    select e.*
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as e (
      kind text, project_id bigint, group_id bigint, actor_id bigint, payload jsonb
    )
  `)
  await Promise.all([written, writeAudit(tx, events), tx.react?.(tx, events)])
}

/** The entries that the catalogue declares, or those passed with the event. */
function entriesOf({ kind, payload, shown, lines = [] }: AnyEvent): readonly FeedEntry[] {
  const { feed } = declarationOf(kind)
  if (feed === undefined || feed === 'lines') return lines
  const { action, author, unless } = feed
  if (unless !== undefined && (payload as Readonly<Record<string, unknown>>)[unless]) return []
  return [{ action, ...(author && { authorId: (payload as Record<string, number>)[author]! }), ...shown }]
}

const linesOf = (lines: readonly object[]): Sql => sql`
  insert into feed_events (
    project_id, namespace_id, author_id, action, target_type, target_id, target_iid, target_title, note_id,
    code, push
  )
  select f.*
  from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as f (
    project_id bigint, namespace_id bigint, author_id bigint, action text, target_type text, target_id bigint,
    target_iid integer, target_title text, note_id bigint, code boolean, push jsonb
  )
`

/** A row of the activity table; none without an author, or without a project unless the catalogue says so. */
function lineOf(
  { kind, projectId, groupId, actorId }: AnyEvent,
  { action, authorId, target, noteId, code, push }: FeedEntry,
) {
  const author = authorId ?? actorId
  const { feed } = declarationOf(kind)
  const namespaceId = typeof feed === 'object' && feed.inGroups ? groupId : undefined
  if ((projectId === undefined && namespaceId === undefined) || author === null) return undefined
  return {
    project_id: projectId,
    namespace_id: namespaceId,
    author_id: author,
    action,
    target_type: target?.type,
    target_id: target?.id,
    target_iid: target?.iid,
    target_title: target?.title,
    note_id: noteId,
    code: code ?? false,
    push,
  }
}

const row = {
  txid: text,
  id: integer,
  kind: textOf<EventName>(),
  project_id: nullable(integer),
  group_id: nullable(integer),
  actor_id: nullable(integer),
  payload: json<Event['payload']>(),
  created_at: timestamp,
}

/**
 * The next events after a position, at most `limit`. Holds back events while an older transaction may still commit, so that a
 * reader that remembers the last position misses none.
 */
export async function readEvents(db: Db, after: Position, limit: number): Promise<Event[]> {
  const rows = await db.rows(
    row,
    sql`
      select e.txid::text, e.id, e.kind, e.project_id, e.group_id, e.actor_id, e.payload, e.created_at
      from events e
      where (e.txid, e.id) > (${after.txid}::xid8, ${after.id})
        and e.txid < event_position(pg_snapshot_xmin(pg_current_snapshot()))
      order by e.txid, e.id
      limit ${literal(limit)}
    `,
  )
  // `emit` wrote the payload, so it matches the kind.
  return rows.map((row) => ({
    position: { txid: row.txid, id: row.id },
    kind: row.kind,
    projectId: row.project_id,
    groupId: row.group_id,
    actorId: row.actor_id,
    payload: row.payload,
    createdAt: row.created_at,
  })) as Event[]
}
