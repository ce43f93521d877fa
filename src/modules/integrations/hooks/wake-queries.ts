import type { Tx } from '../../../db/db.ts'
import { notifying } from '../../../db/notifications.ts'
import { sql } from '../../../db/sql.ts'

/** Wakes the sender after the commit. */
export const wakeSender = (tx: Tx): Promise<number> => tx.run(sql`select ${notifying('hooks')}`)

/** Lets what waits for its next attempt be sent after the commit, because a change of the hook or service may be the repair. It is locked. */
export async function sendAtOnce(tx: Tx, hookId: number): Promise<void> {
  await tx.run(sql`update hook_deliveries set next_at = now() where hook_id = ${hookId} and ready and next_at > now()`)
  await wakeSender(tx)
}
