import { accountOf } from '../../../access/actor.ts'
import { allowsNow } from '../../../api/allows-now.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { isTreePath } from '../../../git/format/path-bytes.ts'
import { Failure } from '../../../kernel/failure.ts'
import { type ProjectSubject, project as projectSubject } from '../../projects/index.ts'
import {
  deleteLock,
  findLockAt,
  holdLock,
  insertLock,
  type LockFilters,
  type LockRow,
  listLocks,
} from './lock-queries.ts'

const maxPathBytes = 2000

/** Account that owns a new lock; for a deploy key, the user who created the key. */
function ownerOf(ctx: Ctx): number {
  const id = accountOf(ctx.actor!)
  if (id === null) throw new Failure('forbidden', 'A lock needs an account as its owner')
  return id
}

/** Locks a file for the caller. `made` is false, with the existing lock, if the path is locked already. */
export async function lockFile(
  ctx: Ctx,
  project: ProjectSubject,
  path: string,
): Promise<{ lock: LockRow; made: boolean }> {
  if (!isTreePath(path) || !path.isWellFormed() || Buffer.byteLength(path) > maxPathBytes)
    throw new Failure('unprocessable', 'path is invalid')
  const ownerId = ownerOf(ctx)
  return await ctx.transaction(async (tx) => {
    const made = await insertLock(tx, { projectId: project.id, path, ownerId })
    await tx.requirePermission?.()
    const lock = await findLockAt(tx, project.id, path)
    // The lock was removed while the insert waited for it.
    if (!lock) throw new Failure('conflict', 'The lock has changed, try again')
    if (made)
      await emit(tx, {
        kind: 'file_locked',
        projectId: project.id,
        actorId: ownerId,
        payload: { lock_id: lock.id },
      })
    return { lock, made }
  })
}

/** Removes the caller's lock; with `force`, which needs a maintainer, the lock of any user. */
export async function unlockFile(ctx: Ctx, project: ProjectSubject, id: number, force: boolean): Promise<LockRow> {
  const accountId = ownerOf(ctx)
  return await ctx.transaction(async (tx) => {
    const lock = await holdLock(tx, project.id, id)
    if (!lock) throw new Failure('not_found', 'Lock not found')
    await tx.requirePermission?.()
    if (lock.owner_id !== accountId) {
      if (!force) throw new Failure('forbidden', `${lock.path} is locked by ${lock.owner_name}`)
      if (!(await allowsNow(projectSubject, 'force_unlock', project.id, ctx, tx)))
        throw new Failure('forbidden', 'You must have maintainer access to force delete a lock')
    }
    await deleteLock(tx, id)
    await emit(tx, {
      kind: 'file_unlocked',
      projectId: project.id,
      actorId: accountId,
      payload: { lock_id: lock.id, owner_id: lock.owner_id },
    })
    return lock
  })
}

/** A page of locks, oldest first, and the id at which the next page begins. */
export type LockPage = { locks: LockRow[]; next: number | undefined }

/** Starts at the lock with the id `from`. */
export async function lockPage(
  ctx: Ctx,
  project: ProjectSubject,
  filters: LockFilters,
  { from, limit }: { from: number; limit: number },
): Promise<LockPage> {
  const found = await listLocks(ctx.db, project.id, filters, from, limit + 1)
  return { locks: found.slice(0, limit), next: found[limit]?.id }
}
