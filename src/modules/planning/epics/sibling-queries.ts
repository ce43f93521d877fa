import type { Tx } from '../../../db/db.ts'
import { raw, sql } from '../../../db/sql.ts'

/** What has an order below an epic: the links of its issues, and its children. */
const siblings = {
  issues: { table: raw('epic_issues'), epic: raw('epic_id') },
  children: { table: raw('epics'), epic: raw('parent_id') },
} as const

/** The place next to another row: directly after `before`, or else directly before `after`. */
export type NextTo = { readonly before: number | undefined; readonly after: number | undefined }

/** Moves a row among its siblings below an epic, and numbers those in between anew. The order of the epic is locked. */
export const placeNextTo = (
  tx: Tx,
  what: keyof typeof siblings,
  epicId: number,
  id: number,
  { before, after }: NextTo,
): Promise<number> => {
  const { table, epic } = siblings[what]
  return tx.run(sql`
    with placed as (
      select s.id,
        row_number() over (
          order by case
              when s.id = ${id} then (
                select n.relative_position from ${table} n where n.id = ${before ?? after}
              )
              else s.relative_position
            end,
            case when s.id = ${id} then ${before === undefined ? -1 : 1}::integer else 0 end, s.id
        ) as place
      from ${table} s
      where s.${epic} = ${epicId}
    )
    update ${table} s
    set relative_position = placed.place
    from placed
    where placed.id = s.id and s.relative_position is distinct from placed.place
  `)
}
