import type { Db } from '../../../db/db.ts'
import { sql } from '../../../db/sql.ts'

/** Records time and address of a sign-in; the previous ones become those of the last sign-in. */
export const recordSignIn = (db: Db, userId: number, address: string | undefined): Promise<number> =>
  db.run(sql`
    update users
    set last_sign_in_at = coalesce(current_sign_in_at, now()),
      last_sign_in_ip = coalesce(current_sign_in_ip, ${address ?? null}), current_sign_in_at = now(),
      current_sign_in_ip = ${address ?? null}
    where id = ${userId}
  `)
