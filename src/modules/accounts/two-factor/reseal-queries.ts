import type { Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { purpose } from './purpose.ts'

/** Encrypts the secrets of second factors with the current key. Returns their number. */
export const resealTwoFactors = (tx: Tx, secrets: Secrets): Promise<number> =>
  resealRows(tx, { table: 'two_factors', id: 'user_id', column: 'secret' }, (sealed, userId) =>
    secrets.reseal(sealed, purpose(userId)),
  )
