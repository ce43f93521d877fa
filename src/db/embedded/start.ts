import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { Failure } from '../../kernel/failure.ts'
import { type Binaries, prepareBinaries } from './binaries.ts'
import { clusterArgument, ensureCluster, lastComplaint, makeFolders } from './cluster.ts'
import { type Layout, layoutOf } from './layout.ts'
import { answers, endOrphans, markOf } from './orphans.ts'
import { findOwner, type Owner } from './owner.ts'
import { type Durability, databaseName, roleName, writeSettings } from './settings.ts'
import { shortFolder } from './socket-folder.ts'

export type EmbeddedOptions = {
  /** Absolute. The cluster lies in `<dataDir>/postgres`; the caller holds the lock of this folder. */
  dataDir: string
  /** One line for a person, for steps that take long. */
  log: (line: string) => void
  durability?: Durability
}

export type Embedded = {
  /** For `pg` and libpq alike; the same after each start of this data folder. */
  url: string
  pid: number
  /** Settles when PostgreSQL is gone, for whatever reason. */
  exited: Promise<void>
  /** Disconnects everybody, writes a checkpoint and ends. Idempotent. */
  stop(): Promise<void>
} & AsyncDisposable

const readyWithinMs = 300_000
const stopWithinMs = 30_000

/**
 * Starts the packaged PostgreSQL, making the cluster the first time, and waits until it takes connections. What an
 * earlier, killed start left running is ended first. When this process dies, however it dies, PostgreSQL stops.
 * Fails (`unavailable`) with one sentence for a person.
 */
export async function startEmbedded({ dataDir, log, durability = 'durable' }: EmbeddedOptions): Promise<Embedded> {
  const layout = layoutOf(dataDir)
  const owner = findOwner(layout.cluster)
  makeFolders(layout, owner)
  const binaries = prepareBinaries(layout, owner)
  await ensureCluster(layout, owner, binaries, durability, log)
  await endOrphans(layout)
  writeSettings(layout, owner, durability)

  const { child, lifeline } = launch(layout, owner, binaries)
  let running = true
  const exited = new Promise<void>((resolve) => {
    const finish = () => {
      running = false
      // Tells the watcher that there is nobody left to signal: the number may soon be somebody else's.
      lifeline.end('gone\n')
      resolve()
    }
    child.once('exit', finish).once('error', finish)
  })
  await ready(layout, child, () => running, log)

  const stop = async () => {
    const signals = [
      ['SIGINT', stopWithinMs],
      ['SIGQUIT', 5_000],
      ['SIGKILL', 5_000],
    ] as const
    for (const [signal, patienceMs] of signals) {
      if (!running) return
      child.kill(signal)
      await Promise.race([exited, delay(patienceMs, undefined, { ref: false })])
    }
  }
  return { url: urlOf(layout), pid: child.pid!, exited, stop, [Symbol.asyncDispose]: stop }
}

/** URL of a PostgreSQL that another process runs in this data folder; undefined when none answers. */
export async function findEmbedded(dataDir: string): Promise<string | undefined> {
  const layout = layoutOf(dataDir)
  return (await answers(join(shortFolder(layout.socket), socketName))) ? urlOf(layout) : undefined
}

const socketName = '.s.PGSQL.5432'

const urlOf = (layout: Layout): string =>
  `postgresql://${roleName}@localhost/${databaseName}?host=${encodeURIComponent(shortFolder(layout.socket))}`

/**
 * The shell becomes PostgreSQL (same pid, our direct child) after it has left a watcher behind: a shell that reads
 * from a pipe of ours. The kernel closes that pipe when we die, even by SIGKILL, and the watcher then asks PostgreSQL
 * to shut down. The watcher is nobody's child, because PostgreSQL takes the death of an unknown child for a crash.
 */
const script = `
({ read -r line || kill -INT $$; } <&3 >/dev/null 2>&1 &)
exec "$@" 3<&-
`

function launch(layout: Layout, owner: Owner, binaries: Binaries): { child: ChildProcess; lifeline: Writable } {
  const output = openSync(startLog(layout), 'w', 0o600)
  try {
    const place = clusterArgument(owner, layout.cluster)
    const command = [binaries.postgres, '-D', place, '-c', `cluster_name=${markOf(layout.cluster)}`]
    const child = spawn('/bin/sh', ['-c', script, 'sh', ...command], {
      cwd: layout.cluster,
      env: binaries.env,
      ...(owner.drop && { uid: owner.uid, gid: owner.gid }),
      // A session of its own: Ctrl-C is for us, and PostgreSQL ends after the last request.
      detached: true,
      stdio: ['ignore', output, output, 'pipe'],
    })
    const lifeline = child.stdio[3] as Writable
    lifeline.on('error', () => {})
    return { child, lifeline }
  } finally {
    closeSync(output)
  }
}

const startLog = (layout: Layout): string => join(layout.log, 'start.log')

/** Waits for the word that pg_ctl waits for: the eighth line of postmaster.pid. */
async function ready(
  layout: Layout,
  child: ChildProcess,
  isRunning: () => boolean,
  log: (line: string) => void,
): Promise<void> {
  const started = Date.now()
  const file = join(layout.cluster, 'postmaster.pid')
  let told = false
  while (isRunning()) {
    const lines = readLines(file)
    if (lines[0] === String(child.pid) && lines[7]?.trim() === 'ready') return
    const elapsedMs = Date.now() - started
    if (elapsedMs > readyWithinMs) {
      child.kill('SIGQUIT')
      throw new Failure('unavailable', `PostgreSQL was not ready after ${readyWithinMs / 1000} s: see ${layout.log}.`)
    }
    if (elapsedMs > 2_000 && !told) {
      told = true
      log('PostgreSQL is recovering…')
    }
    await delay(elapsedMs < 1_000 ? 5 : 50)
  }
  throw new Failure('unavailable', `PostgreSQL did not start: ${lastComplaint(readComplaints(layout))} (${layout.log})`)
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}

/** What came before the logger started, or else today's log. */
function readComplaints(layout: Layout): string {
  const day = new Date().toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' })
  const [early, logged] = [startLog(layout), join(layout.log, `postgresql-${day}.log`)].map((file) => readLines(file))
  return (early!.some((line) => /FATAL|PANIC|could not|error/.test(line)) ? early! : logged!).join('\n')
}
