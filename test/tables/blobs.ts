import { integer, text } from '../../src/db/row.ts'
import { sql } from '../../src/db/sql.ts'
import type { World } from '../world.ts'

/** Number of objects of a store by their state. */
export async function objectStates(world: World, store: string): Promise<Record<string, number>> {
  const rows = await world.db.rows(
    { state: text, count: integer },
    sql`select state, count(*)::integer as count from blob_objects where store = ${store} group by state`,
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]))
}

/** Makes unfinished objects look as if they had not changed for two days. */
export const ageUnfinished = (world: World): Promise<number> =>
  world.db.run(sql`update blob_objects set changed_at = changed_at - interval '2 days' where state <> 'stored'`)

/** As before the first start. */
export const forgetLocation = (world: World): Promise<number> => world.db.run(sql`delete from blob_location`)
