import type { Ctx } from '../../../api/ctx.ts'
import { deleteFiles } from '../../../db/held-files.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { removeStaleLocks } from '../../../git/repository/stale-locks.ts'
import { lacksBitmap, packRefs, prune, repack, writeCommitGraph } from '../../../git/transfer/maintenance.ts'
import { Throttle } from '../../../jobs/throttle.ts'
import { longAgo } from '../../../kernel/clock.ts'
import type { Settings } from '../../../settings/settings.ts'
import { findHousekeeping, type Housekeeping, type HousekeepingRow, saveHousekeeping } from './queries.ts'

/**
 * Minimum age of unreachable objects before gc deletes them. Objects of pending pushes are in quarantine until refs
 * point to them, and API writes renew existing objects, so both are much younger.
 */
const keptUnreachableMs = 14 * 24 * 60 * 60_000
const staleLockMs = 60 * 60_000

/** The kinds of housekeeping whose period of pushes is over, most thorough first, which includes the others. */
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

/** Limits how often each kind runs: with continuous pushes each is always due. */
const throttle = new Throttle()
const throttleKey = (projectId: number, kind: Housekeeping) => `${projectId} ${kind}`

/** The due kinds, and in how many milliseconds each may run again. */
async function dueNow(ctx: Ctx, projectId: number, repo: Repository): Promise<{ kind: Housekeeping; inMs: number }[]> {
  const row = await findHousekeeping(ctx.db, projectId)
  if (!row) return []
  const kinds = dueHousekeeping(row, ctx.settings)
  if (kinds.length === 0 && (await needsBitmap(ctx.settings, row, repo))) kinds.push('incremental')
  return kinds.map((kind) => ({ kind, inMs: throttle.delayMs(throttleKey(projectId, kind)) }))
}

/** A large repository gets its first bitmap at once: the first push is often the only one for a long time. */
const needsBitmap = async (settings: Settings, row: HousekeepingRow, repo: Repository): Promise<boolean> =>
  settings.housekeeping_enabled &&
  settings.housekeeping_bitmaps_enabled &&
  // Not again before the next push, in case git can write none.
  row.pushes > row.incremental_at &&
  lacksBitmap(repo)

/** Milliseconds until the next housekeeping; undefined if none is due. */
export async function housekeepingDueIn(ctx: Ctx, projectId: number, repo: Repository): Promise<number | undefined> {
  const due = await dueNow(ctx, projectId, repo)
  return due.length === 0 ? undefined : Math.min(...due.map(({ inMs }) => inMs))
}

/** Runs the most thorough kind that is due and may run. The caller serialises runs for a repository. */
export async function housekeepWhenDue(ctx: Ctx, projectId: number, repo: Repository): Promise<void> {
  const kind = (await dueNow(ctx, projectId, repo)).find(({ inMs }) => inMs === 0)?.kind
  if (!kind) return
  const began = performance.now()
  await housekeep(ctx, projectId, repo, kind)
  throttle.begin(throttleKey(projectId, kind), performance.now() - began)
}

/**
 * Packs the repository; `gc` also packs refs and deletes objects that have been unreachable for two weeks. Pushes and
 * reads continue meanwhile. The caller serialises runs for a repository.
 */
export async function housekeep(ctx: Ctx, projectId: number, repo: Repository, kind: Housekeeping): Promise<void> {
  const before = await findHousekeeping(ctx.db, projectId)
  const done = await packRepository(ctx, repo, kind)
  if (before) await saveHousekeeping(ctx.db, projectId, done, before.pushes)
}

/**
 * As `housekeep`, without a record of it. Returns what was done: `full` instead of `gc` while a backup runs, which may need objects
 * that have become unreachable since its moment.
 */
export async function packRepository(ctx: Ctx, repo: Repository, kind: Housekeeping): Promise<Housekeeping> {
  await removeStaleLocks(repo, { olderThanMs: staleLockMs })
  if (kind === 'gc') await packRefs(repo)
  await repack(repo, kind === 'incremental' ? 'incremental' : 'full', {
    bitmap: ctx.settings.housekeeping_bitmaps_enabled,
  })
  if (kind !== 'gc') return kind
  const pruned = await deleteFiles(ctx.transaction, () => prune(repo, { before: longAgo(keptUnreachableMs) }))
  if (pruned === 'held') return 'full'
  await writeCommitGraph(repo, { anew: true })
  return 'gc'
}
