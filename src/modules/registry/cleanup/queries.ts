import type { Db } from '../../../db/db.ts'
import { integer, json } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { CleanupPolicy } from '../../projects/index.ts'

/** A project whose cleanup policy is enabled and names tags to delete. */
const cleaned = sql`
  p.settings -> 'container_expiration_policy' ->> 'name_regex' is not null
  and coalesce((p.settings -> 'container_expiration_policy' ->> 'enabled')::boolean, true)
  and not p.archived
  and not p.deleting
  and p.container_registry_access_level > 0
`

const cadence = (fallback: string) => sql`
  case coalesce(
    p.settings -> 'container_expiration_policy' ->> 'cadence', ${fallback}
    )
    when '1d' then interval '1 day'
    when '7d' then interval '7 days'
    when '14d' then interval '14 days'
    when '1month' then interval '1 month'
    else interval '3 months'
  end
`

/** Schedules the first cleanup of each project a period after its policy appears, and earlier if the period has become shorter. */
export const scheduleCleanups = (db: Db, fallback: string): Promise<number> =>
  db.run(sql`
    insert into container_cleanups as c (project_id, next_run_at)
    select p.id, now() + ${cadence(fallback)}
    from projects p
    where ${cleaned} and exists (select from container_repositories r where r.project_id = p.id)
    on conflict (project_id) do update set next_run_at = excluded.next_run_at where c.next_run_at > excluded.next_run_at
  `)

/** The projects whose cleanup is due, at most `limit`; their next one is a period later. */
export async function takeDueCleanups(db: Db, fallback: string, limit: number): Promise<number[]> {
  const due = await db.rows(
    { id: integer },
    sql`
      update container_cleanups c
      set next_run_at = now() + ${cadence(fallback)}
      from projects p
      where p.id = c.project_id
        and c.project_id = any(
          array(
            select d.project_id
            from container_cleanups d join projects p on p.id = d.project_id
            where d.next_run_at <= now() and ${cleaned}
            order by d.next_run_at
            limit ${limit}
          )
        )
      returning p.id
    `,
  )
  return due.map(({ id }) => id)
}

/** The policy of a project whose images are cleaned up now; undefined without one. */
export const findCleanupPolicy = async (db: Db, projectId: number): Promise<Partial<CleanupPolicy> | undefined> =>
  (
    await db.row(
      { policy: json<Partial<CleanupPolicy>>() },
      sql`
        select p.settings -> 'container_expiration_policy' as policy
        from projects p
        where p.id = ${projectId} and ${cleaned}
      `,
    )
  )?.policy

/** Ids of all repositories of a project. */
export async function repositoryIdsOf(db: Db, projectId: number): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`select id from container_repositories where project_id = ${projectId} and deleted_at is null order by id`,
  )
  return rows.map(({ id }) => id)
}
