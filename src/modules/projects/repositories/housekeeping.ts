import type { Ctx } from '../../../api/ctx.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { removeStaleLocks } from '../../../git/repository/stale-locks.ts'
import { packRefs, prune, repack, writeCommitGraph } from '../../../git/transfer/maintenance.ts'
import { Rests } from '../../../jobs/rests.ts'
import { longAgo } from '../../../kernel/clock.ts'
import type { Settings } from '../../../settings/settings.ts'
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

/** In a steady stream of pushes each kind is due all the time. */
const rests = new Rests()
const restKey = (projectId: number, kind: Housekeeping) => `${projectId} ${kind}`

/** The kinds that are due, and after how many milliseconds each has rested. */
async function dueNow(ctx: Ctx, projectId: number): Promise<{ kind: Housekeeping; inMs: number }[]> {
  const row = await findHousekeeping(ctx.db, projectId)
  const kinds = row ? dueHousekeeping(row, ctx.settings) : []
  return kinds.map((kind) => ({ kind, inMs: rests.left(restKey(projectId, kind)) }))
}

/** After how many milliseconds there is something to do, if there is. */
export async function housekeepingDueIn(ctx: Ctx, projectId: number): Promise<number | undefined> {
  const due = await dueNow(ctx, projectId)
  return due.length === 0 ? undefined : Math.min(...due.map(({ inMs }) => inMs))
}

/** Does the most thorough of what is due and has rested. One at a time for a repository. */
export async function housekeepWhenDue(ctx: Ctx, projectId: number, repo: Repository): Promise<void> {
  const kind = (await dueNow(ctx, projectId)).find(({ inMs }) => inMs === 0)?.kind
  if (!kind) return
  const began = performance.now()
  await housekeep(ctx, projectId, repo, kind)
  rests.begin(restKey(projectId, kind), performance.now() - began)
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
    await prune(repo, { before: longAgo(keptUnreachableMs) })
    await writeCommitGraph(repo, { anew: true })
  }
  if (before) await saveHousekeeping(ctx.db, projectId, kind, before.pushes)
}
