import { byKey, type Db } from '../../../db/db.ts'
import { integer, json, type RowOf } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { type UserReferenceRow, userReferenceJson } from '../../accounts/index.ts'
import { isCounted, requiredOfAny } from '../merge-requests/approval-queries.ts'

const unnamedRow = { required: integer, approved_by: json<UserReferenceRow[]>() }

/** How many approvals of any approver a merge request needs, and those that count. */
export const findUnnamed = (db: Db, mergeRequestId: number): Promise<RowOf<typeof unnamedRow> | undefined> =>
  db.row(
    unnamedRow,
    byKey(sql`
      select ${requiredOfAny} as required,
        (
          select coalesce(json_agg(${userReferenceJson('u')} order by a.created_at, u.id), '[]')
          from approvals a join users u on u.id = a.user_id
          where a.merge_request_id = m.id and ${isCounted}
        ) as approved_by
      from merge_requests m join projects p on p.id = m.project_id
      where m.id = ${mergeRequestId}
    `),
  )
