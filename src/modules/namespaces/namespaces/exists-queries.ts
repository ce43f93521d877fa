import type { Db } from '../../../db/db.ts'
import { integer } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'

export type TakenPath = {
  readonly taken: boolean
  /** The path with the smallest number behind it that is free; null when the path is, or when a hundred are not. */
  readonly suggested: string | null
}

/** Whether something is called so below `parent`, or at the top. Where something was, and only leads elsewhere, is free. */
export async function findTakenPath(db: Db, path: string, parent: string | undefined): Promise<TakenPath> {
  const full = parent === undefined ? path : `${parent}/${path}`
  const taken = await db.exists(sql`select 1 from routes where path_key = lower(${full}) and not redirect`)
  if (!taken) return { taken: false, suggested: null }
  const free = await db.row(
    { number: integer },
    sql`
    select number from generate_series(1, 100) as number
    where not exists (select from routes where path_key = lower(${full} || number) and not redirect)
    order by number limit 1`,
  )
  return { taken: true, suggested: free ? `${path}${free.number}` : null }
}
