import type { Db, Tx } from '../db/db.ts'
import { empty, literal, type Sql, sql } from '../db/sql.ts'
import type { Timestamp } from '../db/types.ts'
import { writeAudit } from './audit.ts'
import type { Happening } from './happening.ts'

export type NewEvent = Happening & {
  /** What people are shown of it in lists of activity: only of what happens in a project. */
  feed?: readonly FeedEntry[]
}

export type FeedAction =
  | 'created'
  | 'updated'
  | 'closed'
  | 'reopened'
  | 'pushed'
  | 'commented'
  | 'merged'
  | 'joined'
  | 'left'
  | 'destroyed'
  | 'expired'

/** One line of activity (modules/activity/event-feed shows them). */
export type FeedEntry = {
  action: FeedAction
  /** Whose line it is. Default: the event's actor; without one, nobody is shown anything. */
  authorId?: number
  /** The project itself or a membership without. `title` is as it was. */
  target?: { type: string; id: number; iid?: number; title?: string }
  /** For those only who may read the code of the project. */
  code?: boolean
  /** What was pushed. */
  push?: PushedRefs
}

/** What a push did to one ref, or to many refs alike, without naming them. In the names of the API. */
export type PushedRefs = {
  /** New commits, counted to a bound of the emitter's; 0 for tags and for what goes. */
  commit_count: number
  action: 'created' | 'pushed' | 'removed'
  ref_type: 'branch' | 'tag'
  commit_from: string | null
  commit_to: string | null
  ref: string | null
  commit_title: string | null
  ref_count: number | null
}

/** A place in the log: everything at or before it has been read. */
export type Position = { readonly txid: string; readonly id: number }

export const start: Position = { txid: '0', id: 0 }

export type Event = {
  readonly position: Position
  readonly kind: string
  readonly projectId: number | null
  readonly groupId: number | null
  readonly actorId: number | null
  readonly payload: Readonly<Record<string, unknown>>
  readonly createdAt: Timestamp
}

/**
 * Writes an event, its lines of activity and its audit row, and does what follows from it (src/reactions.ts), all in the
 * transaction of the change: if that rolls back, the event never existed.
 */
export async function emit(tx: Tx, event: NewEvent): Promise<void> {
  const lines = (event.feed ?? []).flatMap((entry) => lineOf(event, entry) ?? [])
  const written = tx.run(sql`${lines.length > 0 ? sql`with shown as (${linesOf(lines)})` : empty}
    insert into events (kind, project_id, group_id, actor_id, payload)
    values (${event.kind}, ${event.projectId ?? null}, ${event.groupId ?? null}, ${event.actorId}, ${JSON.stringify(event.payload)}::jsonb)`)
  await Promise.all([written, writeAudit(tx, event), tx.react?.(tx, event)])
}

const linesOf = (lines: readonly object[]): Sql => sql`
  insert into feed_events (project_id, author_id, action, target_type, target_id, target_iid, target_title, code, push)
  select f.* from jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as f (project_id bigint, author_id bigint, action text,
    target_type text, target_id bigint, target_iid integer, target_title text, code boolean, push jsonb)`

/** As the table of the feed has it; nothing when there is nobody to name. */
function lineOf({ projectId, actorId }: NewEvent, { action, authorId, target, code, push }: FeedEntry) {
  const author = authorId ?? actorId
  if (projectId === undefined || author === null) return undefined
  return {
    project_id: projectId,
    author_id: author,
    action,
    target_type: target?.type,
    target_id: target?.id,
    target_iid: target?.iid,
    target_title: target?.title,
    code: code ?? false,
    push,
  }
}

type Row = {
  txid: string
  id: number
  kind: string
  project_id: number | null
  group_id: number | null
  actor_id: number | null
  payload: Record<string, unknown>
  created_at: Timestamp
}

/**
 * The next events after a position, at most `limit`. Events of transactions that may still be joined by an older one
 * are held back, so that a reader who remembers the last position misses none, whatever the order of commits.
 */
export async function readEvents(db: Db, after: Position, limit: number): Promise<Event[]> {
  const rows = await db.rows<Row>(sql`
    select e.txid::text, e.id, e.kind, e.project_id, e.group_id, e.actor_id, e.payload, e.created_at from events e
    where (e.txid, e.id) > (${after.txid}::xid8, ${after.id}) and e.txid < pg_snapshot_xmin(pg_current_snapshot())
    order by e.txid, e.id limit ${literal(limit)}`)
  return rows.map((row) => ({
    position: { txid: row.txid, id: row.id },
    kind: row.kind,
    projectId: row.project_id,
    groupId: row.group_id,
    actorId: row.actor_id,
    payload: row.payload,
    createdAt: row.created_at,
  }))
}
