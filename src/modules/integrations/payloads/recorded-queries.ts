import type { Db } from '../../../db/db.ts'
import { json } from '../../../db/row.ts'
import { sql } from '../../../db/sql.ts'
import type { movedRefs } from './queries.ts'
import type { PayloadCtx, Shown } from './shown.ts'

/** The rows that were recorded with an event. */
export const findShown = async (db: Db, eventId: number): Promise<Shown> =>
  (await db.row({ shown: json<Shown>() }, sql`select shown from hook_events where id = ${eventId}`))?.shown ?? {}

/** `movedRefs` of a push that is gone. */
export async function recordedRefs({ db, shown }: PayloadCtx, eventId: number): ReturnType<typeof movedRefs> {
  const { refs = [] } = shown ?? (await findShown(db, eventId))
  return refs.map(({ ref, old_oid, new_oid }) => ({
    name: Buffer.from(ref, 'hex').toString('utf8'),
    from: old_oid,
    to: new_oid,
  }))
}
