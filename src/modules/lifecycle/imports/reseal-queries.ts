import type { Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { urlPurpose } from './purpose.ts'

/** Encrypts the URLs of pending imports with the current key. Returns their number. */
export const resealImports = (tx: Tx, secrets: Secrets): Promise<number> =>
  resealRows(tx, { table: 'project_imports', id: 'project_id', column: 'sealed_url' }, (sealed, projectId) =>
    secrets.reseal(sealed, urlPurpose(projectId)),
  )
