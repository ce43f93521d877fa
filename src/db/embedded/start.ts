import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Failure } from '../../kernel/failure.ts'
import { isThere } from '../../kernel/missing.ts'
import { lowerSessionPriority } from '../../kernel/priority.ts'
import { type Binaries, prepareBinaries } from './binaries.ts'
import { clusterArgument, ensureCluster, lastErrorLine, makeFolders, removeUnfinished } from './cluster.ts'
import { type Layout, layoutOf } from './layout.ts'
import { tieToUs } from './lifeline.ts'
import { keepLogShort, logFile, openLog, readLog } from './log.ts'
import { answers, endOrphans, isOfCluster, markOf } from './orphans.ts'
import { findOwner, type Owner } from './owner.ts'
import { type Durability, databaseName, roleName, writeSettings } from './settings.ts'
import { shortFolder } from './socket-folder.ts'

export type EmbeddedOptions = {
  /** Absolute. The cluster is in `<dataDir>/postgres`; the caller holds the lock of this folder. */
  dataDir: string
  /** Reports a slow step to the user, one line each. */
  log: (line: string) => void
  durability?: Durability
  /** Of the service, whose connections it must accept. */
  workers?: number
  /** Cancels the start. */
  signal?: AbortSignal
  /** Where PostgreSQL is copied if the data folder and the package are private to root. */
  copyParents?: readonly string[]
}

export type Embedded = {
  /** For `pg` and libpq; the same after each start with this data folder. */
  url: string
  pid: number
  /** Settles when PostgreSQL has ended, for any reason. */
  exited: Promise<void>
  /** Disconnects all clients, writes a checkpoint and ends. Idempotent. */
  stop(): Promise<void>
} & AsyncDisposable

const readyWithinMs = 300_000
/** A fast shutdown, then an immediate one that leaves the rest to recovery, then SIGKILL; with the time limit of each in ms. */
const stopSignals = [
  ['SIGINT', 30_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', 5_000],
] as const

/**
 * Starts the packaged PostgreSQL, creates the cluster the first time, and waits until it accepts connections. Ends processes left
 * by a killed start first. When this process ends for any reason, PostgreSQL stops. Fails (`unavailable`) with one sentence for the
 * user.
 */
export async function startEmbedded({
  dataDir,
  log,
  durability = 'durable',
  workers = 1,
  signal,
  copyParents,
}: EmbeddedOptions): Promise<Embedded> {
  const layout = layoutOf(dataDir)
  const owner = findOwner(layout.cluster)
  makeFolders(layout, owner)
  const binaries = prepareBinaries(layout, owner, copyParents)
  await ensureCluster(layout, owner, binaries, durability, log)
  await endOrphans(layout)
  writeSettings(layout, owner, durability, workers)

  const child = launch(layout, owner, binaries)
  const exited = new Promise<void>((resolve) => void child.once('exit', () => resolve()).once('error', () => resolve()))
  if (child.pid !== undefined) tieToUs(child.pid, owner, exited)
  // Now that its end follows ours, the shell may become PostgreSQL.
  child.stdin!.on('error', () => {})
  child.stdin!.end('go\n')
  const rotation = keepLogShort(layout)
  exited.then(() => clearInterval(rotation))

  const giveUp = () => child.kill('SIGINT')
  signal?.addEventListener('abort', giveUp)
  await ready(layout, child, log).finally(() => signal?.removeEventListener('abort', giveUp))
  const stop = () => end(child, exited)
  return { url: urlOf(layout), pid: child.pid!, exited, stop, [Symbol.asyncDispose]: stop }
}

/** Whether a start has created a database in this data folder. The caller may read the folder. */
export const hasCluster = (dataDir: string): boolean => isThere(layoutOf(dataDir).cluster)

/** URL of a PostgreSQL that another process runs in this data folder; undefined if none responds. */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  const layout = layoutOf(dataDir)
  return (await answers(join(shortFolder(layout.socket), socketName))) ? urlOf(layout) : undefined
}

/**
 * Gives a connection a lower priority (`os.constants.priority`), by the pid of its process in the PostgreSQL of this data folder. Each has
 * a session of its own.
 */
export function lowerEmbeddedPriority(dataDir: string, pid: number, priority: number): void {
  if (isOfCluster(layoutOf(dataDir).cluster, pid)) lowerSessionPriority(pid, priority)
}

/** Ends what a killed process left running in this data folder, before the folder is emptied. The caller holds its lock. */
export async function endEmbedded(dataDir: string): Promise<void> {
  const layout = layoutOf(dataDir)
  if (!isThere(layout.home)) return
  await removeUnfinished(layout)
  if (isThere(layout.cluster)) await endOrphans(layout)
}

const socketName = '.s.PGSQL.5432'

const urlOf = (layout: Layout): string =>
  `postgresql://${roleName}@localhost/${databaseName}?host=${encodeURIComponent(shortFolder(layout.socket))}`

async function end(child: ChildProcess, exited: Promise<void>): Promise<void> {
  for (const [signal, timeoutMs] of stopSignals) {
    if (!isRunning(child)) return
    child.kill(signal)
    await Promise.race([exited, delay(timeoutMs, undefined, { ref: false })])
  }
}

const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null

/** Waits for a line, and ends if this process ends before writing it. The shell keeps its pid and remains our direct child. */
const launchScript = 'read -r go || exit 1; exec "$@" </dev/null'

function launch(layout: Layout, owner: Owner, binaries: Binaries): ChildProcess {
  const output = openLog(layout, owner)
  try {
    const place = clusterArgument(owner, layout.cluster)
    const command = [binaries.postgres, '-D', place, '-c', `cluster_name=${markOf(layout.cluster)}`]
    return spawn('/bin/sh', ['-c', launchScript, 'sh', ...command], {
      cwd: layout.cluster,
      env: binaries.env,
      ...(owner.drop && { uid: owner.uid, gid: owner.gid }),
      // A session of its own: Ctrl-C must not reach it, so that PostgreSQL ends after the last request.
      detached: true,
      stdio: ['pipe', output, output],
    })
  } finally {
    closeSync(output)
  }
}

/** Waits for the status that pg_ctl waits for: the eighth line of postmaster.pid. */
async function ready(layout: Layout, child: ChildProcess, log: (line: string) => void): Promise<void> {
  const started = performance.now()
  const file = join(layout.cluster, 'postmaster.pid')
  let told = false
  while (isRunning(child)) {
    const lines = readLines(file)
    if (lines[0] === String(child.pid) && lines[7]?.trim() === 'ready') return
    const elapsedMs = performance.now() - started
    if (elapsedMs > readyWithinMs) {
      child.kill('SIGQUIT')
      throw new Failure(
        'unavailable',
        `PostgreSQL was not ready after ${readyWithinMs / 1000} s: see ${logFile(layout)}.`,
      )
    }
    if (elapsedMs > 2_000 && !told) {
      told = true
      log('PostgreSQL is recovering…')
    }
    await delay(elapsedMs < 1_000 ? 5 : 50)
  }
  throw new Failure('unavailable', `PostgreSQL did not start: ${lastErrorLine(readLog(layout))} (${logFile(layout)})`)
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
