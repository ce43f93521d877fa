import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Db } from '../../../db/db.ts'
import { removeStaleLocks } from '../../../git/repository/stale-locks.ts'
import { job } from '../../../jobs/job.ts'
import { repositoryDir } from '../../projects/index.ts'
import { settle } from './journal.ts'
import { repositoriesBeingPushed, unsettledPushes } from './queries.ts'

/** Between the verdict and the last ref a push needs milliseconds; after this it was cut off. */
const cutOffAfterSeconds = 120
/** Less than the time between two runs of the job. */
const seenForMs = 30_000

/**
 * Clears away the locks that a crash left on refs of pushes under way, which would refuse every later one. Only for a
 * start, before anything of ours runs git. Returns how many went.
 */
export async function releaseLocks(db: Db, repositoriesDir: string): Promise<number> {
  let released = 0
  for (const { id, repository_storage } of await repositoriesBeingPushed(db))
    released += await removeStaleLocks(
      { gitDir: repositoryDir(repositoriesDir, repository_storage, id) },
      { olderThanMs: 0 },
    )
  return released
}

/**
 * Settles pushes that a crash cut off. With 0, all there are: for a start, when nobody pushes yet. One that cannot be
 * settled is told to the log, and tried again next time: it holds up neither the others nor the start.
 */
export async function recoverPushes(
  ctx: Ctx,
  olderThanSeconds: number,
  isCutOff: (ids: readonly number[]) => readonly number[] = (ids) => ids,
): Promise<number> {
  let recovered = 0
  for (const id of isCutOff(await unsettledPushes(ctx.db, olderThanSeconds))) {
    try {
      await settle(ctx, id)
      recovered++
    } catch (error) {
      ctx.log.error({ err: error, push_id: id }, 'a push cannot be settled')
    }
  }
  return recovered
}

/** Pushes that were found unsettled, and when, by a clock that is never set. */
const found = new Map<number, number>()

/**
 * Those that an earlier run found as well. When the clock is set forward, pushes under way look as if they had been cut off, and
 * settling them now would lose what follows from them.
 */
function seenBefore(ids: readonly number[]): readonly number[] {
  const now = performance.now()
  for (const id of found.keys()) if (!ids.includes(id)) found.delete(id)
  for (const id of ids) if (!found.has(id)) found.set(id, now)
  return ids.filter((id) => now - found.get(id)! > seenForMs)
}

export const settleCutOffPushes = job({
  name: 'settle_cut_off_pushes',
  input: Type.Object({}),
  key: () => 'settle_cut_off_pushes',
  attempts: 3,
  every: { cron: '* * * * *', input: {} },
  run: async (_input, ctx) => {
    await recoverPushes(ctx, cutOffAfterSeconds, seenBefore)
  },
})
