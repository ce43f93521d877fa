import type { Tx } from '../../../db/db.ts'
import { forbidden } from '../../../kernel/failure.ts'
import type { UserRow } from './queries.ts'
import { hasAdministrator } from './state-queries.ts'

/**
 * Refuses to take an administrator away when nobody would be left who can act as one. Called at the end of the transaction
 * that does it, with the account as it was: of several at the same moment, each sees what the others did.
 */
export async function keepAnAdministrator(tx: Tx, held: Pick<UserRow, 'admin' | 'state'>): Promise<void> {
  if (!held.admin || held.state !== 'active' || (await hasAdministrator(tx))) return
  throw forbidden('Without this user there would be no active administrator')
}
