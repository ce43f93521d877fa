import type { Ctx } from '../../../api/ctx.ts'
import { awaitPlacesInside, awaitProjectsInside } from './edit-queries.ts'

/**
 * Waits for the projects inside a group before the lock of access is taken, for which all other changes of access would wait, too. In a
 * transaction of its own, because the locks of the projects come after that lock.
 */
export async function awaitProjects(ctx: Ctx, groupId: number): Promise<void> {
  ctx.outside?.prepare()
  await ctx.transaction((tx) => awaitProjectsInside(tx, groupId))
}

/** As `awaitProjects`, for a transfer, which also waits for what keeps the group in its place (`holdPlace`). */
export async function awaitContents(ctx: Ctx, groupId: number): Promise<void> {
  await awaitProjects(ctx, groupId)
  await ctx.transaction((tx) => awaitPlacesInside(tx, groupId))
}
