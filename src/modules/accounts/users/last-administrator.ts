import type { Tx } from '../../../db/db.ts'
import { forbidden } from '../../../kernel/failure.ts'
import type { UserRow } from './queries.ts'
import { hasAdministrator } from './state-queries.ts'

/**
 * Throws if no active administrator is left. Call it at the end of the transaction that changes the account, with the
 * account as it was before: concurrent transactions run one after the other here and see each other's changes.
 */
export async function keepAnAdministrator(tx: Tx, held: Pick<UserRow, 'admin' | 'state'>): Promise<void> {
  if (!held.admin || held.state !== 'active' || (await hasAdministrator(tx))) return
  throw forbidden('Without this user there would be no active administrator')
}
