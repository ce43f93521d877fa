import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/** Closes an open issue. False if it is closed already, or deleted. */
export const saveClosed = async (tx: Tx, id: number, actorId: number): Promise<boolean> =>
  (await tx.run(sql`
    update issues
    set state = 'closed', closed_at = now(), closed_by_id = ${actorId}, updated_at = now()
    where id = ${id} and state = 'opened'
  `)) > 0
