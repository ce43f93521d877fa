import type { Tx } from '../../../db/db.ts'
import { notifying } from '../../../db/notifications.ts'
import { sql } from '../../../db/sql.ts'

/** Wakes the sender after the commit. */
export const wakeSender = (tx: Tx): Promise<number> => tx.run(sql`select ${notifying('hooks')}`)
