import type { Ctx } from '../../../api/ctx.ts'
import { enqueue } from '../../../jobs/job.ts'
import { restoreAudiences } from './jobs.ts'
import { followingTables, lowerAudience, type Place, projectsAbove, rowsAbove } from './queries.ts'

/** Up to this number of rows, the statement of the change takes less than a second. */
const few = 2000
const projectsAtOnce = 50
const rowsAtOnce = 1000
/** Later than the change, which makes the job do nothing. */
const restoredAfterMs = 30 * 60_000

function* chunks<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size)
}

/**
 * Lowers the audience of the issues and merge requests of a place, in short transactions, before a change under the access lock that lowers
 * it, too: a deletion (audience 0) or a limit of visibility. That change would otherwise write all these rows while every change of
 * members waits. If the change fails, they are missing in lists over all projects of those who are not members, until a job restores them.
 */
export async function lowerAudiencesAhead(ctx: Ctx, place: Place, audience: number): Promise<void> {
  const projectIds = await projectsAbove(ctx.db, place, audience)
  if (projectIds.length === 0 || !(await hasMany(ctx, projectIds, audience))) return
  ctx.outside?.prepare()
  await ctx.transaction((tx) => enqueue(tx, restoreAudiences, { place }, restoredAfterMs))
  for (const table of followingTables)
    for (const some of chunks(projectIds, projectsAtOnce)) {
      const ids = await rowsAbove(ctx.db, table, some, audience, Number.MAX_SAFE_INTEGER)
      for (const batch of chunks(ids, rowsAtOnce))
        await ctx.transaction((tx) => lowerAudience(tx, table, batch, audience))
    }
}

async function hasMany(ctx: Ctx, projectIds: readonly number[], audience: number): Promise<boolean> {
  let count = 0
  for (const table of followingTables)
    count += (await rowsAbove(ctx.db, table, projectIds, audience, few + 1 - count)).length
  return count > few
}
