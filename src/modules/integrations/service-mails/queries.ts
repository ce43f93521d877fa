import type { Db } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/** Whether a group above the project disabled mails. */
export const areMailsDisabled = (db: Db, projectId: number | null): Promise<boolean> =>
  db.exists(sql`
    select
    from projects p
      join namespaces n on n.id = p.namespace_id
      join namespaces above on above.id = any(n.traversal_ids) and above.emails_disabled
    where p.id = ${projectId}
  `)
