import type { Tx } from '../../../db/db.ts'
import { resealRows } from '../../../db/reseal.ts'
import type { Secrets } from '../../../kernel/secrets.ts'
import { tokenPurpose } from './purpose.ts'

/** Encrypts the tokens of forges with the current key. Returns their number. */
export const resealForgeTokens = (tx: Tx, secrets: Secrets): Promise<number> =>
  resealRows(tx, { table: 'forge_imports', id: 'project_id', column: 'sealed_token' }, (sealed, projectId) =>
    secrets.reseal(sealed, tokenPurpose(projectId)),
  )
