import { deleteSome } from '../db/batches.ts'
import type { Db, Tx } from '../db/db.ts'
import { literal, sql } from '../db/sql.ts'

/*
 * Each function changes at most `size` rows and resolves with their number, for `inBatches`. All are idempotent. The event
 * about a deletion remains until it expires: readers of the log need it, and it contains only ids.
 */

/** Deletes events that are older than this number of days. */
export const deleteOldEvents = (db: Db, days: number, size: number): Promise<number> =>
  db.run(deleteSome('events', sql`created_at < now() - make_interval(days => ${days}::integer)`, size))

/** Deletes audit rows that are older than this number of days. The trigger of the table allows no other deletion. */
export async function deleteOldAudit(tx: Tx, days: number, size: number): Promise<number> {
  const end = sql`now() - make_interval(days => ${days}::integer)`
  await tx.run(sql`select set_config('stithy.audit_end', (${end})::text, true)`)
  return tx.run(deleteSome('audit_events', sql`created_at < ${end}`, size))
}

/** Deletes events of a project that is being deleted. */
export const deleteEventsOfProject = (db: Db, projectId: number, size: number): Promise<number> =>
  db.run(deleteSome('events', sql`project_id = ${projectId} and kind <> 'project_deleted'`, size))

/** Deletes events of groups that are being deleted. */
export const deleteEventsOfGroups = (db: Db, groupIds: readonly number[], size: number): Promise<number> =>
  db.run(deleteSome('events', sql`group_id = any(${groupIds}::bigint[]) and kind <> 'group_deleted'`, size))

/** Deletes events about a user whose account is being removed. Readers of the log that have read of a membership learn that it ended. */
export const deleteEventsAbout = (db: Db, userId: number, size: number): Promise<number> =>
  db.run(
    deleteSome(
      'events',
      sql`
        payload ? 'user_id'
        and (payload ->> 'user_id')::bigint = ${userId}
        and kind not in ('user_deleted', 'member_removed')
      `,
      size,
    ),
  )

/** Sets the actor of the user's events to null. */
export const forgetActor = (db: Db, userId: number, size: number): Promise<number> =>
  db.run(sql`
    update events
    set actor_id = null
    where id = any(array(select id from events where actor_id = ${userId} limit ${literal(size)}))
  `)
