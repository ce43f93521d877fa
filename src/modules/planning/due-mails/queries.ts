import type { Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { inOrderOf } from '../filters/queries.ts'

/**
 * Takes at most `size` open issues that are due tomorrow and were not mailed for that day, in projects that are not archived, and
 * marks them as mailed. A rollback returns them.
 */
export async function takeDueTomorrow(tx: Tx, size: number): Promise<number[]> {
  const rows = await tx.rows(
    { id: integer },
    sql`
      update issues
      set due_mailed_for = due_date
      where id = any(
        array(
          select m.id
          from issues m join projects p on p.id = m.project_id
          where m.state = 'opened'
            and ${inOrderOf(['opened'])}
            and m.due_date = current_date + 1
            and m.due_mailed_for is distinct from m.due_date
            and not p.archived
            and not p.deleting
          order by m.id
          limit ${size}
          for no key update of m
        )
      )
      returning id
    `,
  )
  return rows.map(({ id }) => id)
}
