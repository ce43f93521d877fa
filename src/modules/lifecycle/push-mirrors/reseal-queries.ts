import type { Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { targetPurpose } from './purpose.ts'

/** Encrypts the URLs of push mirrors with the current key. Returns their number. */
export const resealPushMirrors = (tx: Tx, secrets: Secrets): Promise<number> =>
  resealRows(tx, { table: 'push_mirrors', id: 'id', column: 'sealed_url' }, (sealed, id) =>
    secrets.reseal(sealed, targetPurpose(id)),
  )
