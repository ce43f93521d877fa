import type { Db, Tx } from '../db/db.ts'
import { literal, sql } from '../db/sql.ts'
import type { Timestamp } from '../db/types.ts'

/** What happened to what. `payload` holds the facts as they were; readers must not need the rows it names. */
export type NewEvent = {
  kind: string
  projectId?: number
  groupId?: number
  actorId: number | null
  payload: Readonly<Record<string, unknown>>
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

/** Writes an event in the transaction of what it tells: without its commit, it never happened. */
export const emit = (tx: Tx, event: NewEvent): Promise<number> =>
  tx.run(sql`insert into events (kind, project_id, group_id, actor_id, payload)
    values (${event.kind}, ${event.projectId ?? null}, ${event.groupId ?? null}, ${event.actorId}, ${JSON.stringify(event.payload)}::jsonb)`)

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
    select txid::text, id, kind, project_id, group_id, actor_id, payload, created_at from events
    where (txid, id) > (${after.txid}::xid8, ${after.id}) and txid < pg_snapshot_xmin(pg_current_snapshot())
    order by txid, id limit ${literal(limit)}`)
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
