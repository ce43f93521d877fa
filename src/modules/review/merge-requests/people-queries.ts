import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { readableMergeRequests, visibleProjects } from '../../projects/index.ts'

/** Open merge requests assigned to a user, in projects that are not archived and that the user may read. */
export const countAssigned = async (db: Db, caller: NonNullable<Caller>): Promise<number> =>
  (await db.snapshotCache.row(
    { total: integer },
    sql`
      select count(*)::integer as total
      from merge_request_assignees a
        join merge_requests m on m.id = a.merge_request_id
        join projects p on p.id = m.project_id
      where a.user_id = ${caller.id}
        and m.state = 'opened'
        and not p.archived
        and not p.deleting
        and ${visibleProjects(caller)}
        and ${readableMergeRequests(caller)}
    `,
  ))!.total
