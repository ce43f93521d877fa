import type { Tx } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/** False if it has this state already. The row is locked. */
export const setArchived = async (tx: Tx, id: number, archived: boolean): Promise<boolean> =>
  (await tx.run(sql`
    update projects set archived = ${archived}, updated_at = now() where id = ${id} and archived <> ${archived}
  `)) > 0

/** Removes the deletion mark, and the archiving that came with it. False if there was none. The row is locked. */
export const unmarkForDeletion = async (tx: Tx, id: number): Promise<boolean> =>
  (await tx.run(sql`
    update projects
    set archived = false, marked_for_deletion_on = null, updated_at = now()
    where id = ${id} and marked_for_deletion_on is not null
  `)) > 0
