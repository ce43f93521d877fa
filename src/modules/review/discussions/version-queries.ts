import type { Db } from '../../../db/db.ts'
import { notNull, textOf } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { Ends } from '../../discussion/index.ts'

/** The version of a merge request whose diff has these ends. */
export const findVersion = (
  db: Db,
  mergeRequestId: number,
  { base_sha, start_sha, head_sha }: Ends,
): Promise<{ base_oid: Oid; head_oid: Oid } | undefined> =>
  db.row(
    { base_oid: notNull(textOf<Oid>()), head_oid: notNull(textOf<Oid>()) },
    sql`
      select base_oid, head_oid
      from merge_request_diffs
      where merge_request_id = ${mergeRequestId}
        and base_oid = ${base_sha}
        and start_oid = ${start_sha}
        and head_oid = ${head_sha}
      limit 1
    `,
  )
