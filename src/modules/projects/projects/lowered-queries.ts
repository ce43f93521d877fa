import type { Tx } from '../../../db/db.ts'
import { integer, notNull, type RowOf } from '../../../db/row.ts'
import { type Sql, sql } from '../../../db/sql.ts'
import { changingAudience } from '../topics/count.ts'

/** A project whose visibility is lowered, with the visibility before. */
const loweredRow = { id: notNull(integer), visibility: notNull(integer) }
export type LoweredProject = RowOf<typeof loweredRow>

/**
 * Runs `change`, which gives projects this visibility, as `changingAudience` does. Returns the projects whose visibility that lowers: these
 * and their forks (trigger `lower_forks`), by id, without those that are being deleted.
 */
export const lowering = (
  tx: Tx,
  which: Sql,
  change: (ids: readonly number[]) => Promise<unknown>,
  visibility: number,
): Promise<LoweredProject[]> =>
  changingAudience(
    tx,
    which,
    async (ids) => {
      const lowered = await moreVisible(tx, ids, visibility)
      await change(ids)
      return lowered
    },
    visibility,
  )

/** Of these projects and their forks, and the forks of those, which are more visible. */
const moreVisible = (tx: Tx, ids: readonly number[], visibility: number): Promise<LoweredProject[]> =>
  tx.rows(
    loweredRow,
    sql`
      with recursive above as (
        select id, visibility, deleting
        from projects
        where id = any(${ids}::bigint[]) and visibility > ${visibility}
        union
        select f.id, f.visibility, f.deleting
        from above a join projects f on f.forked_from_project_id = a.id
        where f.visibility > ${visibility}
      )
      select id, visibility
      from above
      where not deleting
      order by id
    `,
  )
