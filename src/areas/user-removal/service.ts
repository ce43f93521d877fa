import type { Ctx } from '../../api/ctx.ts'
import type { Tx } from '../../db/db.ts'
import { notify } from '../../db/notifications.ts'
import { emit } from '../../events/log.ts'
import { enqueue } from '../../jobs/job.ts'
import { conflict, forbidden, notFound } from '../../kernel/failure.ts'
import { lockAccess } from '../access-index/service.ts'
import { lockGroup } from '../groups/queries.ts'
import { removeHeld } from '../groups/removal.ts'
import { markGroupDeleting } from '../groups/removal-queries.ts'
import { keepAnAdministrator } from '../users/last-administrator.ts'
import { removeUser } from './jobs.ts'
import {
  blockAccount,
  deleteCredentials,
  deleteMemberships,
  lockAccount,
  personalNamespace,
  soleOwnedGroups,
} from './queries.ts'

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
    const groups = await soleOwnedGroups(tx, userId)
    if (groups.length > 0 && !hard) throw conflict('User cannot be removed while is the sole-owner of a group')
    for (const id of groups) {
      // One inside another is gone with that.
      const group = await lockGroup(tx, id)
      if (group) await removeHeld(tx, group, ctx.actor!.id)
    }
    await closeAccount(tx, userId, hard)
    await emit(tx, {
      kind: 'user_deleted',
      actorId: ctx.actor!.id,
      payload: { user_id: userId, username: held.username, name: held.name, hard_delete: hard },
    })
    await keepAnAdministrator(tx, held)
  })
}

/** From this commit on an account opens no door and is member of nothing; a job does the rest. The access lock is held. */
export async function closeAccount(tx: Tx, userId: number, hard: boolean): Promise<void> {
  await deleteMemberships(tx, userId)
  await deleteCredentials(tx, userId)
  await blockAccount(tx, userId)
  const space = await personalNamespace(tx, userId)
  if (space) await markGroupDeleting(tx, space.traversal_ids)
  await enqueue(tx, removeUser, { userId, hard })
  await notify(tx, 'actors')
}
