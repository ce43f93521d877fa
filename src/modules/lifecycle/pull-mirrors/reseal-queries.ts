import type { Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { mirrorPurpose } from './purpose.ts'

/** Encrypts the URLs of pull mirrors with the current key. Returns their number. */
export const resealPullMirrors = (tx: Tx, secrets: Secrets): Promise<number> =>
  resealRows(tx, { table: 'pull_mirrors', id: 'project_id', column: 'sealed_url' }, (sealed, projectId) =>
    secrets.reseal(sealed, mirrorPurpose(projectId)),
  )
