import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { notify } from '../../../db/notifications.ts'
import { emit } from '../../../events/log.ts'
import { enqueueEach } from '../../../jobs/job.ts'
import { conflict, forbidden, notFound } from '../../../kernel/failure.ts'
import { blockAccounts, deleteCredentials, keepAnAdministrator } from '../../accounts/index.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { lockGroup } from '../groups/queries.ts'
import { removeHeld } from '../groups/removal.ts'
import { removeUser } from './jobs.ts'
import { deleteMemberships, lockAccount, markSpacesDeleting, soleOwnedGroups } from './queries.ts'

/**
 * Removes an account. From this commit on it opens no door, is member of nothing, and its own projects are found by nobody;
 * a job does the rest. With `hard` what he made goes, too, and the groups that only he owns; without it, they stand in
 * the way.
 */
export async function deleteUser(ctx: Ctx, userId: number, hard: boolean): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    const held = await lockAccount(tx, userId)
    if (!held) throw notFound('User')
    // Everything that removed people left is its.
    if (held.kind === 'ghost') throw forbidden('This action cannot be performed on internal users')
    // An owner who is kept out for a while cannot take over, but loses nothing, either.
    const groups = await soleOwnedGroups(tx, userId, !hard)
    if (groups.length > 0 && !hard) throw conflict('User cannot be removed while is the sole-owner of a group')
    for (const id of groups) {
      // One inside another is gone with that.
      const group = await lockGroup(tx, id)
      if (group) await removeHeld(tx, group, ctx.actor!.id)
    }
    await closeAccounts(tx, [userId], hard)
    await emit(tx, {
      kind: 'user_deleted',
      actorId: ctx.actor!.id,
      payload: { user_id: userId, hard_delete: hard },
      facts: { username: held.username, name: held.name },
    })
    await keepAnAdministrator(tx, held)
  })
}

/** From this commit on accounts open no door and are member of nothing; a job does the rest of each. The access lock is held. */
export async function closeAccounts(tx: Tx, userIds: readonly number[], hard: boolean): Promise<void> {
  if (userIds.length === 0) return
  await deleteMemberships(tx, userIds)
  await deleteCredentials(tx, userIds)
  await blockAccounts(tx, userIds)
  await markSpacesDeleting(tx, userIds)
  await enqueueEach(
    tx,
    removeUser,
    userIds.map((userId) => ({ userId, hard })),
  )
  await notify(tx, 'actors')
}
