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

/** The most thorough kind whose period of pushes is over, as the settings say. */
export function dueHousekeeping(row: HousekeepingRow, settings: Settings): Housekeeping | undefined {
  if (!settings.housekeeping_enabled) return undefined
  const isOver = (since: number, period: number) => period > 0 && row.pushes - since >= period
  if (isOver(row.gc_at, settings.housekeeping_gc_period)) return 'gc'
  if (isOver(row.full_at, settings.housekeeping_full_repack_period)) return 'full'
  if (isOver(row.incremental_at, settings.housekeeping_incremental_repack_period)) return 'incremental'
  return undefined
}

/** After pushes: packs the repository if enough of them have come. One at a time for a repository. */
export async function housekeepWhenDue(ctx: Ctx, projectId: number, repo: Repository): Promise<void> {
  const row = await findHousekeeping(ctx.db, projectId)
  const kind = row && dueHousekeeping(row, ctx.settings)
  if (kind) await housekeep(ctx, projectId, repo, kind)
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
