import type { Caller } from '../../../access/actor.ts'
import type { Db } from '../../../db/db.ts'
import { boolean, type RowOf, text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import { columns, levelOf, limitsColumn, projectRow } from '../../projects/index.ts'

const foundRow = {
  ...projectRow,
  /** The path by which it was found. */
  path_key: text,
  /** It is an old path of the project. */
  redirect: boolean,
}
export type FoundProject = RowOf<typeof foundRow>

/**
 * The project at the longest of these paths in lower case, which must be sorted so; one that has the path now comes before one that
 * had it.
 */
export const findProjectAmong = (
  db: Db,
  caller: Caller,
  paths: readonly string[],
): Promise<Readonly<FoundProject> | undefined> =>
  db.snapshotCache.row(
    foundRow,
    sql`
      select ${columns}, ${levelOf(caller)} as level${limitsColumn(caller)}, r.path_key, r.redirect
      from routes r join projects p on p.id = r.project_id
      where r.path_key = any(${paths}::text[]) and not p.deleting
      order by r.redirect, length(r.path_key) desc
      limit 1
    `,
  )
