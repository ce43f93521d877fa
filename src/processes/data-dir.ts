import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { linkSync, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { answers } from '../db/embedded/orphans.ts'
import { shortFolder } from '../db/embedded/socket-folder.ts'
import { ageOf } from '../kernel/clock.ts'
import { makeFolderNow } from '../kernel/durable.ts'
import { Failure } from '../kernel/failure.ts'
import { isThere, missingAs } from '../kernel/missing.ts'
import { systemReason } from './explain.ts'
import { identityOf } from './process-identity.ts'

/** Folder of Node's compile cache, which makes the next start faster. Safe to delete. */
export const compileCacheDir = (dataDir: string): string => join(dataDir, 'cache', 'node')

export type DataDirLock = Disposable

/** Another process holds the lock. */
export class DataDirInUse extends Failure {
  readonly pid: number

  constructor(dataDir: string, pid: number) {
    super('conflict', `Stithy already runs in ${dataDir} (process ${pid}): stop it, or set STITHY_DATA_DIR.`)
    this.pid = pid
  }
}

/** Exists in a data folder while a backup is restored into it. */
export const unfinishedRestoreFile = (dataDir: string): string => join(dataDir, 'unfinished-restore')

/**
 * Creates the data folder if necessary and locks it for this process until disposed, or until the process ends: the lock of a
 * dead process is ignored. The process listens on a socket meanwhile, by which others know in another container, where it cannot be seen,
 * that it lives. Fails with DataDirInUse, or with a readable message if the folder is not writable. Also fails if the folder
 * is partly restored, unless `toRestore`.
 */
export async function lockDataDir(dataDir: string, { toRestore = false } = {}): Promise<DataDirLock> {
  const lock = join(dataDir, 'lock')
  const takeover = join(dataDir, 'lock.takeover')
  // Not named by the process id: in two containers the first process has the same one.
  const mine = join(dataDir, `lock.${randomUUID()}`)
  const text = `${process.pid} ${identityOf(process.pid)}\n`
  let isUnfinished: boolean
  let running: number | undefined
  try {
    // Before anything is written: commands beside a running service can do without the lock, also on a full disk.
    running = await livingHolder(dataDir, lock)
    isUnfinished = !toRestore && isThere(unfinishedRestoreFile(dataDir))
    if (!isUnfinished && running === undefined) {
      makeFolderNow(dataDir, 0o700)
      writeFileSync(mine, text, { mode: 0o600, flag: 'wx' })
    }
  } catch (cause) {
    throw new Failure(
      'unavailable',
      `Cannot write to the data folder ${dataDir} (STITHY_DATA_DIR): ${(cause as NodeJS.ErrnoException).code === 'EEXIST' ? 'not a folder' : systemReason(cause)}.`,
      { cause },
    )
  }
  if (isUnfinished)
    throw new Failure(
      'conflict',
      `The restore into ${dataDir} has not been completed: repeat it, or delete the folder.`,
    )
  if (running !== undefined) throw new DataDirInUse(dataDir, running)
  const heard = await listen(socketOf(dataDir, text))
  try {
    while (!linked(mine, lock)) {
      const holder = await livingHolder(dataDir, lock)
      if (holder !== undefined) throw new DataDirInUse(dataDir, holder)
      // Only one process may replace a stale lock; otherwise the second would replace the first one's new lock.
      if (linked(mine, takeover)) {
        try {
          await removeStale(dataDir, lock)
        } finally {
          rmSync(takeover, { force: true })
        }
      } else if ((await livingHolder(dataDir, takeover)) === undefined) await removeStale(dataDir, takeover)
      else await delay(5)
    }
  } catch (error) {
    heard[Symbol.dispose]()
    throw error
  } finally {
    rmSync(mine, { force: true })
  }
  try {
    removeUnfinished(dataDir)
  } catch {
    // A later start removes them.
  }
  return {
    [Symbol.dispose]: () => {
      rmSync(lock, { force: true })
      heard[Symbol.dispose]()
    },
  }
}

/** The process that holds the lock of a data folder, if one does. */
export const holderOf = (dataDir: string): Promise<number | undefined> => livingHolder(dataDir, join(dataDir, 'lock'))

/** Where the process listens that has written this text into its lock. */
const socketOf = (dataDir: string, text: string): string =>
  join(shortFolder(dataDir), `lock.${createHash('sha256').update(text).digest('hex').slice(0, 16)}`)

/** Listens on a socket, without an effect on file systems that have none. */
async function listen(path: string): Promise<Disposable> {
  const server = createServer((socket) => socket.destroy()).unref()
  server.listen(path)
  await once(server, 'listening').catch(() => {})
  return { [Symbol.dispose]: () => void server.close() }
}

/** A start that has not taken the lock after this time, in ms, was killed. */
const unfinishedMs = 3_600_000

/** Removes what starts have left that were killed before they had the lock. */
function removeUnfinished(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    if (!/^lock\.([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{1,9})$/.test(name)) continue
    const file = join(dataDir, name)
    const facts = lstatSync(file, { throwIfNoEntry: false })
    if (facts?.isFile() && ageOf(facts.mtimeMs) > unfinishedMs) rmSync(file, { force: true })
  }
}

/** Removes a lock and its socket if the process is dead, and nothing that another has written meanwhile. */
async function removeStale(dataDir: string, file: string): Promise<void> {
  const text = readLock(file)
  if (text === undefined || (await writerOf(dataDir, text)) !== undefined || readLock(file) !== text) return
  rmSync(file, { force: true })
  rmSync(socketOf(dataDir, text), { force: true })
}

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

function readLock(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    return missingAs(undefined)(error)
  }
}

const livingHolder = async (dataDir: string, file: string): Promise<number | undefined> =>
  writerOf(dataDir, readLock(file) ?? '')

/** The process that has written the text of a lock, if it lives. */
async function writerOf(dataDir: string, text: string): Promise<number | undefined> {
  const [pid, identity] = /^(\d+) (.+)\n$/.exec(text)?.slice(1) ?? []
  if (pid === undefined) return undefined
  const isSeen = identityOf(Number(pid)) === identity
  return isSeen || (await answers(socketOf(dataDir, text))) ? Number(pid) : undefined
}
