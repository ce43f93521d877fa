import { LRUCache } from 'lru-cache'
import type { Ctx } from '../../api/ctx.ts'
import { packRefs, prune, repack, writeCommitGraph } from '../../git/maintenance.ts'
import type { Repository } from '../../git/repository.ts'
import { removeStaleLocks } from '../../git/stale-locks.ts'
import type { Settings } from '../../settings/settings.ts'
import { findHousekeeping, type HousekeepingRow, saveHousekeeping } from './queries.ts'

/** From the least to the most thorough. */
export type Housekeeping = 'incremental' | 'full' | 'gc'

/**
 * What nothing reaches is removed when it is older than this. Objects of a push under way are in a folder of their own
 * until refs name them, and writers through the API renew what they find: both are younger by far.
 */
const keptUnreachableMs = 14 * 24 * 60 * 60_000
const staleLockMs = 60 * 60_000

/** The kinds whose period of pushes is over, as the settings say; the most thorough first, which is as good as the others. */
export function dueHousekeeping(row: HousekeepingRow, settings: Settings): Housekeeping[] {
  if (!settings.housekeeping_enabled) return []
  const isOver = (since: number, period: number) => period > 0 && row.pushes - since >= period
  const kinds = [
    ['gc', row.gc_at, settings.housekeeping_gc_period],
    ['full', row.full_at, settings.housekeeping_full_repack_period],
    ['incremental', row.incremental_at, settings.housekeeping_incremental_repack_period],
  ] as const
  return kinds.flatMap(([kind, since, period]) => (isOver(since, period) ? [kind] : []))
}

/** Until when each kind rests for a repository: in a steady stream of pushes it is due all the time. */
const resting = new LRUCache<string, number>({ max: 10_000 })
/** So many times as long as it took. */
const restShare = 9

/**
 * After pushes: packs the repository if enough of them have come. One at a time for a repository, and no kind for more than a
 * tenth of the time: a lesser one is done meanwhile. Returns the milliseconds after which to ask again, if something is due then.
 */
export async function housekeepWhenDue(ctx: Ctx, projectId: number, repo: Repository): Promise<number | undefined> {
  const row = await findHousekeeping(ctx.db, projectId)
  const due = row ? dueHousekeeping(row, ctx.settings) : []
  const began = performance.now()
  const rests = due.map((kind) => (resting.get(`${repo.gitDir} ${kind}`) ?? 0) - began)
  const kind = due.find((_, index) => rests[index]! <= 0)
  if (kind) {
    await housekeep(ctx, projectId, repo, kind)
    const ended = performance.now()
    resting.set(`${repo.gitDir} ${kind}`, ended + restShare * (ended - began))
  }
  return due[0] === kind ? undefined : rests[0]
}

/**
 * Packs the repository; `gc` also packs its refs and removes what nothing has reached for two weeks. Pushes and reads go on
 * meanwhile. One at a time for a repository.
 */
export async function housekeep(ctx: Ctx, projectId: number, repo: Repository, kind: Housekeeping): Promise<void> {
  const before = await findHousekeeping(ctx.db, projectId)
  await removeStaleLocks(repo, { olderThanMs: staleLockMs })
  if (kind === 'gc') await packRefs(repo)
  await repack(repo, kind === 'incremental' ? 'incremental' : 'full', {
    bitmap: ctx.settings.housekeeping_bitmaps_enabled,
  })
  if (kind === 'gc') {
    await prune(repo, { before: new Date(Date.now() - keptUnreachableMs) })
    await writeCommitGraph(repo, { anew: true })
  }
  if (before) await saveHousekeeping(ctx.db, projectId, kind, before.pushes)
}
