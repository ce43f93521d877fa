import type { Db } from '../../../db/db.ts'
import { text } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

/** Above the maximum depth of groups, so that no project is deeper. */
const maxParts = 30

/** The path, in lower case, of the project at a path or above it, including redirects. */
export async function findProjectAround(db: Db, path: string): Promise<string | undefined> {
  const parts = path.toLowerCase().split('/', maxParts)
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const row = await db.row(
    { path_key: text },
    sql`
      select path_key
      from routes
      where path_key = any(${paths}::text[]) and project_id is not null
      order by length(path_key) desc
      limit 1
    `,
  )
  return row?.path_key
}
