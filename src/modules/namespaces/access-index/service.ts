import { inBatches } from '../../../db/batches.ts'
import type { Db, Tx } from '../../../db/db.ts'
import {
  deleteEndedAccess,
  groupsDependingOn,
  lockAccess,
  lockAccessAtLast,
  lockAccessForNew,
  projectsSharedWith,
  refreshGroupAccess,
  refreshProjectAccess,
  sharedProjectsIn,
} from './queries.ts'

export { lockAccess, lockAccessAtLast, lockAccessForNew }

/**
 * Recomputes access after a group membership was added, changed or removed in this transaction. The access lock is
 * held.
 */
export async function groupMemberChanged(tx: Tx, groupId: number, userId: number): Promise<void> {
  await refreshGroupAccess(tx, await groupsDependingOn(tx, groupId), userId)
  const projects = await projectsSharedWith(tx, groupId)
  if (projects.length > 0) await refreshProjectAccess(tx, projects, userId)
}

/**
 * Recomputes access after memberships of a user in these projects were added, changed or removed in this transaction. The access lock
 * is held.
 */
export async function projectsMemberChanged(tx: Tx, projectIds: readonly number[], userId: number): Promise<void> {
  if (projectIds.length > 0) await refreshProjectAccess(tx, projectIds, userId)
}

/**
 * Recomputes everyone's access to a namespace and its descendants after it was created, moved or shared. The access
 * lock is held; that for new groups is enough if it was created in this transaction.
 */
export async function namespacePlaced(tx: Tx, namespaceId: number): Promise<void> {
  const groups = await groupsDependingOn(tx, namespaceId)
  await refreshGroupAccess(tx, groups)
  const projects = new Set([...(await projectsSharedWith(tx, namespaceId)), ...(await sharedProjectsIn(tx, groups))])
  if (projects.size > 0) await refreshProjectAccess(tx, [...projects])
}

/**
 * Recomputes access to a project after it was moved or shared. The access lock is held unless the project is new in
 * this transaction.
 */
export async function projectPlaced(tx: Tx, projectId: number): Promise<void> {
  await refreshProjectAccess(tx, [projectId])
}

/**
 * Deletes expired levels from the index. Queries ignore them from their expiry date on, so the delay changes no
 * permission.
 */
export const clearEndedAccess = (db: Db): Promise<void> => inBatches((size) => deleteEndedAccess(db, size))

/**
 * A namespace is about to be removed with all below: its members lose what was shared with it at once, not when its rows go.
 * `endShares` deletes these shares. The access lock is held.
 */
export async function namespaceRemoved(tx: Tx, namespaceId: number, endShares: () => Promise<void>): Promise<void> {
  const groups = await groupsDependingOn(tx, namespaceId)
  const projects = await projectsSharedWith(tx, namespaceId)
  await endShares()
  await refreshGroupAccess(tx, groups)
  if (projects.length > 0) await refreshProjectAccess(tx, projects)
}
