import type { Db } from '../../../db/db.ts'
import { boolean, integer, nullable, type RowOf, text } from '../../../db/row.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import { settingDefaults } from '../../projects/index.ts'

/** Whether a push moved a branch. The journal contains its changes. */
export const movedBranch = (pushId: number): Sql => sql`
  exists (
    select from ref_changes where push_id = ${pushId} and substr(ref, 1, 11) = 'refs/heads/' and new_oid is not null
  )
`

const originRow = {
  full_path: text,
  default_branch: nullable(text),
  forked_from_project_id: nullable(integer),
  /** Commits on the default branch close the issues that they name. */
  closes: boolean,
}
export type Origin = RowOf<typeof originRow>

/** The project that received a push, and the one from which it was forked. */
export const findOrigin = (db: Db, projectId: number): Promise<Origin | undefined> =>
  db.row(
    originRow,
    sql`
      select p.full_path, p.default_branch, f.id as forked_from_project_id,
        coalesce(
          (p.settings ->> 'autoclose_referenced_issues')::boolean, ${settingDefaults.autoclose_referenced_issues}
        ) as closes
      from projects p left join projects f on f.id = p.forked_from_project_id and not f.deleting
      where p.id = ${projectId} and not p.deleting
    `,
  )
