import type { Db } from '../../../db/db.ts'
import { integer, type RowOf } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export const instanceStatisticsRow = {
  forks: integer,
  issues: integer,
  merge_requests: integer,
  notes: integer,
  snippets: integer,
  ssh_keys: integer,
  users: integer,
  active_users: integer,
  projects: integer,
  groups: integer,
  milestones: integer,
}
export type InstanceStatistics = RowOf<typeof instanceStatisticsRow>

/** Adds up what is stored, and counts in indexes and narrow tables: time grows with the number of projects, not of issues or comments. */
export const countEverything = async (db: Db): Promise<InstanceStatistics> =>
  (await db.row(
    instanceStatisticsRow,
    sql`
      select (select count(*) from projects where forked_from_project_id is not null) - (
          select count(*)
          from project_activity a join projects p on p.id = a.id
          where a.deleting and p.forked_from_project_id is not null
        ) as forks,
        (select coalesce(sum(opened + closed), 0) from issue_counts)::bigint as issues,
        (select count(*) from merge_requests) as merge_requests,
        (select coalesce(sum(number), 0) from comment_counts)::bigint as notes,
        (select count(*) from snippets where file_name <> '') as snippets, (select count(*) from ssh_keys) as ssh_keys,
        (select count(*) from users where kind <> 'ghost') as users,
        (select count(*) from users where kind = 'human' and state = 'active') as active_users,
        (select count(*) from project_activity where not deleting) as projects,
        (select count(*) from namespaces where kind = 'group' and not deleting) as groups,
        (select count(*) from milestones) as milestones
    `,
  ))!
