import type { Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { tokenPurpose, urlPurpose } from './purpose.ts'

/** Encrypts the URLs and tokens of hooks with the current key. Returns their number. */
export const resealHooks = async (tx: Tx, secrets: Secrets): Promise<number> =>
  (await resealRows(tx, { table: 'hooks', id: 'id', column: 'sealed_url' }, (sealed, id) =>
    secrets.reseal(sealed, urlPurpose(id)),
  )) +
  (await resealRows(tx, { table: 'hooks', id: 'id', column: 'sealed_token' }, (sealed, id) =>
    secrets.reseal(sealed, tokenPurpose(id)),
  ))
