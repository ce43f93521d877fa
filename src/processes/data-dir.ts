import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parentsOfNew, syncFolderNow } from '../kernel/durable.ts'
import { Failure } from '../kernel/failure.ts'
import { systemReason } from './explain.ts'
import { identityOf } from './process-identity.ts'

/** Folder of Node's compile cache, which makes the next start faster. Safe to delete. */
export const compileCacheDir = (dataDir: string): string => join(dataDir, 'cache', 'node')

export type DataDirLock = Disposable

/** Another process holds the lock. */
export class DataDirInUse extends Failure {
  constructor(dataDir: string, pid: number) {
    super('conflict', `Stithy already runs in ${dataDir} (process ${pid}): stop it, or set STITHY_DATA_DIR.`)
  }
}

/** Exists in a data folder while a backup is restored into it. */
export const unfinishedRestoreFile = (dataDir: string): string => join(dataDir, 'unfinished-restore')

/**
 * Creates the data folder if necessary and locks it for this process until disposed, or until the process ends: the lock of a
 * dead process is ignored. Fails with DataDirInUse, or with a readable message if the folder is not writable. Also fails if the folder
 * is partly restored, unless `toRestore`.
 */
export async function lockDataDir(dataDir: string, { toRestore = false } = {}): Promise<DataDirLock> {
  if (!toRestore && existsSync(unfinishedRestoreFile(dataDir)))
    throw new Failure(
      'conflict',
      `The restore into ${dataDir} has not been completed: repeat it, or delete the folder.`,
    )
  const lock = join(dataDir, 'lock')
  const takeover = join(dataDir, 'lock.takeover')
  const mine = join(dataDir, `lock.${process.pid}`)
  try {
    const made = mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    if (made !== undefined) parentsOfNew(resolve(made), resolve(dataDir)).forEach(syncFolderNow)
    writeFileSync(mine, `${process.pid} ${identityOf(process.pid)}\n`, { mode: 0o600 })
  } catch (cause) {
    throw new Failure(
      'unavailable',
      `Cannot write to the data folder ${dataDir} (STITHY_DATA_DIR): ${systemReason(cause)}.`,
      { cause },
    )
  }
  try {
    while (!linked(mine, lock)) {
      const holder = livingHolder(lock)
      if (holder !== undefined) throw new DataDirInUse(dataDir, holder)
      // Only one process may replace a stale lock; otherwise the second would replace the first one's new lock.
      if (linked(mine, takeover)) {
        try {
          if (livingHolder(lock) === undefined) rmSync(lock, { force: true })
        } finally {
          rmSync(takeover, { force: true })
        }
      } else if (livingHolder(takeover) === undefined) rmSync(takeover, { force: true })
      else await delay(5)
    }
  } finally {
    rmSync(mine, { force: true })
  }
  return { [Symbol.dispose]: () => rmSync(lock, { force: true }) }
}

/** The process that holds the lock of a data folder, if one does. */
export const holderOf = (dataDir: string): number | undefined => livingHolder(join(dataDir, 'lock'))

/** False if the file exists. Atomic: the file has its content from the start. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function livingHolder(file: string): number | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const [pid, identity] = /^(\d+) (.+)\n$/.exec(text)?.slice(1) ?? []
  return pid !== undefined && identityOf(Number(pid)) === identity ? Number(pid) : undefined
}

/** Writes a file atomically and durably, readable only by its owner. */
export function writePrivateFile(path: string, text: string): void {
  const unfinished = `${path}.${process.pid}`
  try {
    writeFileSync(unfinished, text, { mode: 0o600, flush: true })
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
  syncFolderNow(dirname(path))
}
