import type { Tx } from '../../../db/db.ts'
import { notFound } from '../../../kernel/failure.ts'
import { lockState } from './edit-queries.ts'

/**
 * Locks the state of a project (archived, marked, being deleted) for a request that changes it. Throws if it is gone, or the caller has lost
 * the permission, after the wait for the lock.
 */
export async function lockToChange(tx: Tx, id: number): Promise<void> {
  if (!(await lockState(tx, id))) throw notFound('Project')
  await tx.requirePermission?.()
}
