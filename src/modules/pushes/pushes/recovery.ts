import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Db } from '../../../db/db.ts'
import { removeStaleLocks } from '../../../git/repository/stale-locks.ts'
import { job } from '../../../jobs/job.ts'
import { repositoryDir } from '../../projects/index.ts'
import { settle } from './journal.ts'
import { repositoriesBeingPushed, unsettledPushes } from './queries.ts'

/** A push takes milliseconds from its decision to its last ref; after this time it counts as interrupted. */
const interruptedAfterSeconds = 120
/** Pushes that are read at once. */
const usualBatchSize = 1000
/** Less than the time between two runs of the job. */
const seenForMs = 30_000

/**
 * Removes lock files that a crash left on refs of pending pushes; they would block every later push. Call it at startup
 * only, before this service runs git. Returns the number removed.
 */
export async function releaseLocks(db: Db, repositoriesDir: string): Promise<number> {
  let released = 0
  for (const { id, repository_storage, side } of await repositoriesBeingPushed(db)) {
    const gitDir = repositoryDir(repositoriesDir, repository_storage, id, side ? 'side' : 'project')
    // One repository that cannot be read does not prevent the start; its housekeeping reports the error.
    released += await removeStaleLocks({ gitDir }, { olderThanMs: 0 }).catch(() => 0)
  }
  return released
}

/**
 * Settles pushes that a crash interrupted. With 0, all pending ones: for startup, before pushes are accepted. A failure
 * is logged and retried next time; it blocks neither other pushes nor the startup.
 */
export async function recoverPushes(
  ctx: Ctx,
  olderThanSeconds: number,
  isCutOff: (ids: readonly number[]) => readonly number[] = (ids) => ids,
  batchSize = usualBatchSize,
): Promise<number> {
  let recovered = 0
  for (const id of isCutOff(await allUnsettled(ctx.db, olderThanSeconds, batchSize))) {
    try {
      await settle(ctx, id)
      recovered++
    } catch (error) {
      ctx.log.error({ err: error, push_id: id }, 'failed to settle a push')
    }
  }
  return recovered
}

/** Also those after a thousand that cannot be settled. */
async function allUnsettled(db: Db, olderThanSeconds: number, size: number): Promise<number[]> {
  const all: number[] = []
  for (;;) {
    const ids = await unsettledPushes(db, olderThanSeconds, { after: all.at(-1) ?? 0, size })
    all.push(...ids)
    if (ids.length < size) return all
  }
}

/** Pushes found unsettled, with the time by a monotonic clock. */
const found = new Map<number, number>()

/**
 * The pushes that an earlier run found too. When the clock is set forward, pending pushes look interrupted, and
 * settling them early would lose their effects.
 */
function seenBefore(ids: readonly number[]): readonly number[] {
  const now = performance.now()
  const still = new Set(ids)
  for (const id of found.keys()) if (!still.has(id)) found.delete(id)
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
    await recoverPushes(ctx, interruptedAfterSeconds, seenBefore)
  },
})
