import type { Db } from '../../../db/db.ts'
import { integer, type RowOf } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export const instanceStatisticsRow = {
  forks: integer,
  issues: integer,
  merge_requests: integer,
  notes: integer,
  ssh_keys: integer,
  users: integer,
  active_users: integer,
  projects: integer,
  groups: integer,
  milestones: integer,
}
export type InstanceStatistics = RowOf<typeof instanceStatisticsRow>

/** Counts all rows: time grows with the size of the installation. */
export const countEverything = async (db: Db): Promise<InstanceStatistics> =>
  (await db.row(
    instanceStatisticsRow,
    sql`
      select (select count(*) from projects where forked_from_project_id is not null and not deleting) as forks,
        (select count(*) from issues) as issues, (select count(*) from merge_requests) as merge_requests,
        (select count(*) from notes where not system) as notes, (select count(*) from ssh_keys) as ssh_keys,
        (select count(*) from users where kind <> 'ghost') as users,
        (select count(*) from users where kind = 'human' and state = 'active') as active_users,
        (select count(*) from projects where not deleting) as projects,
        (select count(*) from namespaces where kind = 'group' and not deleting) as groups,
        (select count(*) from milestones) as milestones
    `,
  ))!
