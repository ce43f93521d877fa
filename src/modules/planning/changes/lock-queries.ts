import type { Tx } from '../../../db/db.ts'
import type { RowOf, Shape } from '../../../db/row.ts'
import { raw, type Sql, sql } from '../../../db/sql.ts'
import { tableOf, withPlaceOf } from '../../discussion/index.ts'

/**
 * Locks the row of an issue or epic until the transaction ends; undefined if it is deleted. Throws if the caller has lost the permission
 * meanwhile. Who deletes it also waits for those who add something to it: they may have to lock it, too.
 */
export const lockOf =
  <S extends Shape>(type: 'Issue' | 'Epic', shape: S, columns: Sql) =>
  async (tx: Tx, id: number, to: 'change' | 'delete' = 'change'): Promise<RowOf<S> | undefined> => {
    const held = await tx.row(
      shape,
      sql`
        ${withPlaceOf(type, id)}
        select ${columns}
        from place cross join ${tableOf(type)} m
        where m.id = ${id} for ${raw(to === 'change' ? 'no key update' : 'update')} of m
      `,
    )
    if (held) await tx.requirePermission?.()
    return held
  }
