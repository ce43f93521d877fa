import type { Db } from '../../../db/db.ts'
import { integer, listOf, type RowOf, textOf } from '../../../db/row.ts'
import { literal, sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'

/** Maximum commits of a merge request that are read for a message. */
const maxListed = 1000

export const mergedByRow = {
  iid: integer,
  /** Its commits, oldest first. */
  commits: listOf(textOf<Oid>()),
}
export type MergedBy = RowOf<typeof mergedByRow>

/** The merge request of a project whose merge commit this is. */
export const findMergedBy = (db: Db, projectId: number, mergeCommit: Oid): Promise<MergedBy | undefined> =>
  db.row(
    mergedByRow,
    sql`
      select m.iid,
        array(
          select c.oid
          from merge_request_commits c
          where c.diff_id = m.diff_id
          order by c.position desc
          limit ${literal(maxListed)}
        ) as commits
      from merge_requests m
      where m.project_id = ${projectId} and m.merge_commit_oid = ${mergeCommit} and m.state = 'merged'
      order by m.id
      limit 1
    `,
  )
