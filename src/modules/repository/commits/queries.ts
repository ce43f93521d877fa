import type { Db } from '../../../db/db.ts'
import { boolean, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/** Whether two projects are in the same fork network, and the full name of the first. One statement. */
export const findForkRelation = async (
  db: Db,
  projectId: number,
  otherId: number,
): Promise<{ related: boolean; full_name: string }> =>
  (await db.row(
    { related: boolean, full_name: text },
    sql`
      with recursive lines (line, id) as (
        select id, id
        from projects
        where id in (${projectId}, ${otherId})
        union
        select l.line, p.forked_from_project_id
        from lines l join projects p on p.id = l.id
        where p.forked_from_project_id is not null
      )
      select exists (
          select from lines a join lines b on b.id = a.id where a.line = ${projectId} and b.line = ${otherId}
        ) as related,
        n.full_name || ' / ' || p.name as full_name
      from projects p join namespaces n on n.id = p.namespace_id
      where p.id = ${projectId}
    `,
  ))!
