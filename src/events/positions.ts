import type { Tx } from '../db/db.ts'
import { sql } from '../db/sql.ts'

/**
 * Makes all new events follow a position. Transaction ids begin again in another server; without this, events that were restored to it
 * would not be read, and later ones would come before them.
 */
export const continuePositions = (tx: Tx, after: string): Promise<number> =>
  tx.run(sql`update event_positions set added = greatest(added, ${after}::text::numeric)`)
