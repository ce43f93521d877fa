import type { Ctx } from '../../../api/ctx.ts'
import type { Db } from '../../../db/db.ts'
import { raw } from '../../../db/sql.ts'

/** Runs reads that all see the database as it is at one moment. It takes no transaction id, so readers of the event log do not wait. */
export const snapshotOf = <T>(ctx: Ctx, work: (db: Db) => Promise<T>): Promise<T> =>
  ctx.transaction(async (tx) => {
    await tx.run(raw('set transaction isolation level repeatable read, read only'))
    return work(tx)
  })
