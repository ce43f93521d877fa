import { visibilities } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { notify } from '../../../db/notifications.ts'
import { emit, emitAll } from '../../../events/log.ts'
import { enqueueEach } from '../../../jobs/job.ts'
import { conflict, notFound } from '../../../kernel/failure.ts'
import { blockAccounts, deleteCredentials, isLeaving, keepAnAdministrator, refuseGhost } from '../../accounts/index.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { withAudiencesLowered } from '../../projects/index.ts'
import { lockGroup } from '../groups/queries.ts'
import { removeHeld } from '../groups/removal.ts'
import type { EndedMember } from '../members/queries.ts'
import { emitAllRemoved } from '../members/service.ts'
import { removeUser } from './jobs.ts'
import {
  deleteMemberships,
  lockAccount,
  lockAutoMerges,
  lockSpace,
  markSpacesDeleting,
  personalNamespace,
  soleOwnedGroups,
  tokensOfBot,
} from './queries.ts'

/**
 * Deletes an account. From this commit on it cannot act, has no memberships, and its personal projects are hidden; a
 * job deletes the rest. With `hard`, its contributions and the groups it alone owns are deleted too; without, such
 * groups are a conflict.
 */
export async function deleteUser(ctx: Ctx, userId: number, hard: boolean): Promise<void> {
  const remove = async (tx: Tx) => {
    await lockAccess(tx)
    // With `hard`, blocked owners count too: they cannot take over now, but must not lose the group.
    const groups = await soleOwnedGroups(tx, userId, !hard)
    if (groups.length > 0 && !hard) throw conflict('User cannot be removed while is the sole-owner of a group')
    for (const id of groups) {
      // A group inside another one was deleted with it.
      const group = await lockGroup(tx, id)
      if (group) await removeHeld(tx, group, ctx.actor!.id)
    }
    await lockSpace(tx, userId)
    await lockAutoMerges(tx, userId)
    // Last, because what others add to these groups and projects refers to its author. The account of a ghost has none of them.
    const held = await lockAccount(tx, userId)
    if (!held) throw notFound('User')
    refuseGhost(held)
    const repeated = await isLeaving(tx, userId)
    const tokens = await tokensOfBot(tx, userId)
    await emitAllRemoved(tx, await closeAccounts(tx, [userId], hard), { actorId: ctx.actor!.id })
    await emitAll(
      tx,
      tokens.map(({ id, project_id, namespace_id }) => ({
        kind: 'resource_access_token_revoked',
        ...(project_id === null ? { groupId: namespace_id! } : { projectId: project_id }),
        actorId: ctx.actor!.id,
        payload: { token_id: id },
      })),
    )
    // Repeating the request succeeds without an event.
    if (repeated) return
    await emit(tx, {
      kind: 'user_deleted',
      actorId: ctx.actor!.id,
      payload: { user_id: userId, hard_delete: hard },
      facts: { username: held.username, name: held.name },
    })
    await keepAnAdministrator(tx, held)
  }
  const places = await deletedWith(ctx, userId, hard)
  await withAudiencesLowered(ctx, places, visibilities.private, () => ctx.transaction(remove))
}

/** The namespaces that are deleted with an account. */
async function deletedWith(ctx: Ctx, userId: number, hard: boolean): Promise<{ namespaceId: number }[]> {
  const groups = await soleOwnedGroups(ctx.db, userId, !hard)
  // A conflict: nothing is deleted.
  if (groups.length > 0 && !hard) return []
  const space = await personalNamespace(ctx.db, userId)
  return [...groups, ...(space ? [space.id] : [])].map((namespaceId) => ({ namespaceId }))
}

/**
 * From this commit on the accounts cannot act and have no memberships; a job for each deletes the rest. Returns the memberships that
 * ended, for events, without those of what is deleted with the accounts. The access lock is held.
 */
export async function closeAccounts(tx: Tx, userIds: readonly number[], hard: boolean): Promise<EndedMember[]> {
  if (userIds.length === 0) return []
  const ended = await deleteMemberships(tx, userIds)
  await deleteCredentials(tx, userIds)
  await blockAccounts(tx, userIds)
  await markSpacesDeleting(tx, userIds)
  await enqueueEach(
    tx,
    removeUser,
    userIds.map((userId) => ({ userId, hard })),
  )
  await notify(tx, 'actors')
  return ended
}
