import type { Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { downloadPurpose } from './download.ts'

/** Encrypts the URLs of archives with the current key. Returns their number. */
export const resealDownloads = (tx: Tx, secrets: Secrets): Promise<number> =>
  resealRows(tx, { table: 'archive_imports', id: 'id', column: 'sealed_url' }, (sealed, id) =>
    secrets.reseal(sealed, downloadPurpose(id)),
  )
