import type { Actor } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { assigneesTableOf, columnOf, readableRow, type ScheduledType, tableOf } from '../../discussion/index.ts'
import { visibleProjects } from '../../projects/index.ts'

/** Open noteables of this kind assigned to a user, in projects that are not archived, as far as the user may read them. */
export const countAssigned = async (db: Db, type: ScheduledType, caller: Actor): Promise<number> =>
  (await db.snapshotCache.row(
    { total: integer },
    sql`
      select count(*)::integer as total
      from ${assigneesTableOf(type)} a
        join ${tableOf(type)} m on m.id = a.${columnOf(type)}
        join projects p on p.id = m.project_id
      where a.user_id = ${caller.id}
        and m.state = 'opened'
        and not p.archived
        and not p.deleting
        and ${visibleProjects(caller)}
        and ${readableRow(type, caller)}
    `,
  ))!.total
