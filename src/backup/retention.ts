import { timeOf } from './store/backup-id.ts'
import { Reader } from './store/inventory.ts'
import { readManifest } from './store/manifest.ts'
import type { BackupStore } from './store/store.ts'
import type { Piece } from './store/writer.ts'

/** How many days, weeks and months have a backup each, counted back from the newest one. */
export type Keep = { readonly days: number; readonly weeks: number; readonly months: number }

const dayMs = 24 * 60 * 60_000

/**
 * The backups to keep: the newest one, and the newest of each day, week (from Monday) and month that has one, in UTC. Periods
 * without a backup do not count, so nothing is removed only because time passes.
 */
export function backupsToKeep(ids: readonly string[], { days, weeks, months }: Keep): Set<string> {
  const newest = [...ids].sort().reverse()
  const result = new Set(newest.slice(0, 1))
  const periods = [
    [days, (time: Date) => Math.floor(time.getTime() / dayMs)],
    // The first of January 1970 was a Thursday.
    [weeks, (time: Date) => Math.floor((time.getTime() / dayMs + 3) / 7)],
    [months, (time: Date) => time.getUTCFullYear() * 12 + time.getUTCMonth()],
  ] as const
  for (const [count, periodOf] of periods) {
    const seen = new Set<number>()
    for (const id of newest) {
      const period = periodOf(timeOf(id))
      if (seen.has(period) || seen.size >= count) continue
      seen.add(period)
      result.add(id)
    }
  }
  return result
}

/**
 * Removes old backups, and all contents that the others do not use. The caller holds the lease. Fails with `BackupDamaged`, and removes
 * nothing, if one of the others cannot be read. Returns the number of backups.
 */
export async function removeOld(store: BackupStore, keep: Keep, progress: (line: string) => void): Promise<number> {
  const ids = await store.ids()
  const wanted = backupsToKeep(ids, keep)
  const old = ids.filter((id) => !wanted.has(id))
  const used = new Set<string>()
  const use = (pieces: readonly Piece[]) => {
    for (const [name] of pieces) used.add(name)
  }
  for (const id of wanted) {
    const { inventory } = await readManifest(store, id)
    use(inventory)
    for await (const entry of new Reader(store).entries(inventory))
      use(entry.is === 'repository' ? entry.refs : entry.at)
  }
  if (old.length > 0) progress(`removing ${old.length} old ${old.length === 1 ? 'backup' : 'backups'}`)
  await store.remove(old, (name) => used.has(name))
  return old.length
}
