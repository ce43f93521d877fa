import type { Db, Tx } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'

/** Projects whose repositories were not checked for `days` days: never checked ones first, then the oldest check. */
export async function projectsDueForCheck(db: Db, days: number, limit: number): Promise<number[]> {
  const rows = await db.rows(
    { id: integer },
    sql`
      select p.id
      from projects p left join project_housekeeping h on h.project_id = p.id
      where not p.deleting
        and p.default_branch is not null
        and (
          coalesce(h.checked_at + make_interval(days => ${days}), p.created_at + interval '1 day') < now()
          or h.checked_at > now() + interval '1 day'
        )
      order by h.checked_at nulls first, p.id
      limit ${literal(limit)}
    `,
  )
  return rows.map(({ id }) => id)
}

export const recordCheck = (tx: Tx, projectId: number): Promise<number> =>
  tx.run(sql`
    insert into project_housekeeping (project_id, checked_at)
    values (${projectId}, now())
    on conflict (project_id) do update set checked_at = excluded.checked_at
  `)
