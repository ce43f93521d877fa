import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { storeName } from '../blobs/location.ts'

/** A backup that succeeded: it is complete, perhaps with problems such as a damaged file. */
export type Success = {
  readonly id: string
  /** Times in ISO 8601. */
  readonly ended_at: string
  readonly seconds: number
  /** Everything that it has, and what of it was new and is stored compressed, in bytes. */
  readonly bytes: number
  readonly stored_bytes: number
  readonly problems: number
}

/** How the last backup of this installation to its usual place ended, and the last one that succeeded. */
export type LastBackup = {
  /** Name of the store. */
  readonly place: string
  readonly ended_at: string
  readonly result: 'succeeded' | 'with_problems' | 'failed'
  /** Why it failed. */
  readonly reason?: string
  readonly success?: Success
}

/** Not part of a backup: a restored copy has none of its own. */
export const lastBackupFile = (dataDir: string): string => join(dataDir, 'last-backup.json')

/** Undefined if there was none, if it went to another place than the one that is configured, or if the file is damaged. */
export async function readLastBackup(dataDir: string, url: string | undefined): Promise<LastBackup | undefined> {
  try {
    const found: LastBackup = JSON.parse(await readFile(lastBackupFile(dataDir), 'utf8'))
    if (typeof found.place !== 'string' || Number.isNaN(Date.parse(found.ended_at))) return undefined
    return url === undefined || storeName(url) === found.place ? found : undefined
  } catch {
    return undefined
  }
}

/** Without a setting, the usual place is that of the first success. A backup elsewhere by hand is neither a failure nor a success there. */
export function isUsualPlace(place: string, url: string | undefined, last: LastBackup | undefined): boolean {
  if (url !== undefined) return place === storeName(url)
  return last?.success === undefined || last.place === place
}

const minutesOfDay = 24 * 60

/** The longest time in ms between two of the times of day, which are minutes after midnight. */
export function periodOf(at: readonly number[]): number {
  const times = [...new Set(at)].sort((a, b) => a - b)
  const gaps = times.map((time, index) => (times[index + 1] ?? times[0]! + minutesOfDay) - time)
  return Math.max(...gaps) * 60_000
}
