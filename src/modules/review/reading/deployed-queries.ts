import type { Db } from '../../../db/db.ts'
import { integer, notNull, type RowOf, textOf } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'

/** `oid` is the commit that the merge added to the target branch: of the merge, else of the squash, else the head. */
const mergeRow = { id: integer, oid: notNull(textOf<Oid>()) }

/** The merge requests of a project that were merged last, newest first. */
export const newestMerges = (db: Db, projectId: number, limit: number): Promise<RowOf<typeof mergeRow>[]> =>
  db.rows(
    mergeRow,
    sql`
      select m.id, coalesce(m.merge_commit_oid, m.squash_commit_oid, v.head_oid) as oid
      from merge_requests m left join merge_request_diffs v on v.id = m.diff_id
      where m.project_id = ${projectId}
        and m.state = 'merged'
        and coalesce(m.merge_commit_oid, m.squash_commit_oid, v.head_oid) is not null
      order by m.merged_at desc nulls last, m.id desc
      limit ${limit}
    `,
  )
