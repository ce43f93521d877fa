import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { awaitPlace, awaitProject, placesHeld, projectsInChange } from './edit-queries.ts'

/**
 * Waits for each of these rows that another transaction has locked. Each in a transaction of its own, which holds no other row meanwhile: the others
 * lock a group before those inside, whatever their ids.
 */
async function awaitEach(
  ctx: Ctx,
  locked: (tx: Tx) => Promise<number[]>,
  awaitRow: (tx: Tx, id: number) => Promise<unknown>,
): Promise<void> {
  for (const id of await ctx.transaction(locked)) await ctx.transaction((tx) => awaitRow(tx, id))
}

/**
 * Waits for the projects inside a group before the lock of access is taken, for which all other changes of access would wait, too. In
 * transactions of their own, because the locks of the projects come after that lock.
 */
export async function awaitProjects(ctx: Ctx, groupId: number): Promise<void> {
  ctx.outside?.prepare()
  await awaitEach(ctx, (tx) => projectsInChange(tx, groupId), awaitProject)
}

/** As `awaitProjects`, for a transfer, which also waits for what keeps the group in its place (`holdPlace`). */
export async function awaitContents(ctx: Ctx, groupId: number): Promise<void> {
  await awaitProjects(ctx, groupId)
  await awaitEach(ctx, (tx) => placesHeld(tx, groupId), awaitPlace)
}
