import type { Ctx } from '../../../api/ctx.ts'
import { enqueueEach } from '../../../jobs/job.ts'
import { restoreAudiences } from './jobs.ts'
import { followingTables, lowerAudience, type Place, projectsAbove, rowsAbove, stillAbove } from './queries.ts'

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
 * Makes a change under the access lock that lowers the audience of the issues and merge requests of places: a deletion (audience 0) or a limit of
 * visibility. If they are many, their audience is lowered before, in short transactions: the change would otherwise write all these rows
 * while every change of members waits. If it fails, or leaves a project as it is, such as one of a group that was restored meanwhile, they are missing in
 * lists over all projects of those who are not members, until a job has restored them: at once, or half an hour later if the process ends.
 */
export async function withAudiencesLowered<T>(
  ctx: Ctx,
  places: readonly Place[],
  audience: number,
  change: () => Promise<T>,
): Promise<T> {
  const lowered: number[] = []
  try {
    for (const place of places) lowered.push(...(await lower(ctx, place, audience)))
    return await change()
  } finally {
    if (lowered.length > 0)
      await restoreUnchanged(ctx, lowered, audience).catch((err: unknown) =>
        ctx.log.warn({ err }, 'audiences are restored half an hour later'),
      )
  }
}

/** Queues the restoration of those projects that the change has not lowered. */
const restoreUnchanged = (ctx: Ctx, projectIds: readonly number[], audience: number): Promise<void> =>
  ctx.transaction(async (tx) => {
    const left = await stillAbove(tx, projectIds, audience)
    await enqueueEach(
      tx,
      restoreAudiences,
      left.map((projectId) => ({ projectId, hasFailed: true })),
    )
  })

/** Returns the projects whose rows were lowered: none if they are few. */
async function lower(ctx: Ctx, place: Place, audience: number): Promise<readonly number[]> {
  const projectIds = await projectsAbove(ctx.db, place, audience)
  if (projectIds.length === 0 || !(await hasMany(ctx, projectIds, audience))) return []
  ctx.outside?.prepare()
  const inputs = projectIds.map((projectId) => ({ projectId, hasFailed: false }))
  await ctx.transaction((tx) => enqueueEach(tx, restoreAudiences, inputs, restoredAfterMs))
  for (const table of followingTables)
    for (const some of chunks(projectIds, projectsAtOnce)) {
      const ids = await rowsAbove(ctx.db, table, some, audience, Number.MAX_SAFE_INTEGER)
      for (const batch of chunks(ids, rowsAtOnce))
        await ctx.transaction((tx) => lowerAudience(tx, table, batch, audience))
    }
  return projectIds
}

async function hasMany(ctx: Ctx, projectIds: readonly number[], audience: number): Promise<boolean> {
  let count = 0
  for (const table of followingTables)
    count += (await rowsAbove(ctx.db, table, projectIds, audience, few + 1 - count)).length
  return count > few
}
