import type { Db } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export type TakenPath = {
  readonly taken: boolean
  /** The path with the smallest free number appended; null if the path is free, or if a hundred numbers are taken. */
  readonly suggested: string | null
}

/** Whether a path is taken below `parent` or at the top level. Redirects do not count as taken. */
export async function findTakenPath(db: Db, path: string, parent: string | undefined): Promise<TakenPath> {
  const full = parent === undefined ? path : `${parent}/${path}`
  const taken = await db.exists(sql`select 1 from routes where path_key = lower(${full}) and not redirect`)
  if (!taken) return { taken: false, suggested: null }
  const free = await db.row(
    { number: integer },
    sql`
      select number
      from generate_series(1, 100) as number
      where not exists (select from routes where path_key = lower(${full} || number) and not redirect)
      order by number
      limit 1
    `,
  )
  return { taken: true, suggested: free ? `${path}${free.number}` : null }
}
