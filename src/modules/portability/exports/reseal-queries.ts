import type { Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { uploadPurpose } from './purpose.ts'

/** Encrypts the URLs of uploads with the current key. Returns their number. */
export const resealUploads = (tx: Tx, secrets: Secrets): Promise<number> =>
  resealRows(tx, { table: 'export_requests', id: 'id', column: 'sealed_url' }, (sealed, id) =>
    secrets.reseal(sealed, uploadPurpose(id)),
  )
