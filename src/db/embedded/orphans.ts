import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Failure } from '../../kernel/failure.ts'
import { isRunning } from '../../kernel/running.ts'
import type { Layout } from './layout.ts'

const killMs = 5_000
/** How long an orphan may take to end on each signal, in ms. */
const timeouts = [
  ['SIGINT', 20_000],
  ['SIGQUIT', 5_000],
  ['SIGKILL', killMs],
] as const

/**
 * A word in the command line of every process of this cluster, and of no other: from device and inode, so a moved folder preserves
 * it and a copy has its own. PostgreSQL and initdb get it as `cluster_name`, which the processes of PostgreSQL show in their titles.
 */
export function markOf(cluster: string): string {
  const { dev, ino } = statSync(cluster, { bigint: true })
  return `stithy-${dev.toString(36)}-${ino.toString(36)}`
}

/**
 * Ends what a killed start left working in the folder of an unfinished cluster, of which nothing is needed. The PostgreSQL that initdb runs
 * has no mark, but its working folder is this one; where that cannot be seen, it ends when initdb does.
 */
export async function killMakersOf(folder: string): Promise<void> {
  const mark = markOf(folder)
  const working = () => [...new Set([...processesWith(mark), ...processesIn(folder)])]
  const deadline = performance.now() + killMs
  // One that is being started when it is looked for is found the next time.
  for (let running = working(); running.length > 0; running = working()) {
    for (const pid of running) signalProcess(pid, 'SIGKILL')
    if (performance.now() > deadline)
      throw new Failure(
        'unavailable',
        `A process of an earlier start does not end in ${folder} (${running.join(', ')}).`,
      )
    await delay(10)
  }
}

/**
 * Ends the processes of this cluster that a killed start left running, and removes the lock files that would stop PostgreSQL. The
 * caller holds the lock of the data folder, so every such process is an orphan.
 */
export async function endOrphans(layout: Layout): Promise<void> {
  const mark = markOf(layout.cluster)
  let answeringMs = 0
  for (const [signal, timeoutMs] of timeouts) {
    const running = processesWith(mark)
    if (running.length === 0) break
    // A process that ends loses its command line before its sockets.
    answeringMs = killMs
    // The postmaster ends its own children; without it each child is on its own.
    const postmaster = readPostmasterPid(layout)
    const targets = running.filter((pid) => pid === postmaster)
    for (const pid of targets.length > 0 && signal !== 'SIGKILL' ? targets : running) signalProcess(pid, signal)
    const deadline = performance.now() + timeoutMs
    while (performance.now() < deadline && processesWith(mark).length > 0) await delay(10)
  }
  const deadline = performance.now() + answeringMs
  while (await answers(join(layout.socket, '.s.PGSQL.5432'))) {
    if (performance.now() >= deadline)
      throw new Failure(
        'unavailable',
        `The database in ${layout.cluster} is in use by a process that cannot be seen from here (another container?): stop that one first.`,
      )
    await delay(10)
  }
  removeStaleLocks(layout)
}

/** The process named in postmaster.pid, whether or not it lives. */
function readPostmasterPid(layout: Layout): number | undefined {
  const pid = Number.parseInt(readOr(join(layout.cluster, 'postmaster.pid')), 10)
  return pid > 1 ? pid : undefined
}

/**
 * PostgreSQL trusts its lock files as long as a process with that pid exists, even a zombie or an unrelated one. No process of this
 * cluster runs here. If the pid is unused, PostgreSQL handles the file itself and also checks its shared memory.
 */
function removeStaleLocks(layout: Layout): void {
  const pid = readPostmasterPid(layout)
  if (pid === undefined || !isRunning(pid)) return
  rmSync(join(layout.cluster, 'postmaster.pid'), { force: true })
  rmSync(join(layout.socket, '.s.PGSQL.5432.lock'), { force: true })
  rmSync(join(layout.socket, '.s.PGSQL.5432'), { force: true })
}

/** Whether this process belongs to the cluster and runs on this machine; false in another container. */
export const isOfCluster = (cluster: string, pid: number): boolean => processesWith(markOf(cluster)).includes(pid)

/** Zombies have no command line, so they do not count. */
function processesWith(mark: string): number[] {
  if (process.platform !== 'linux') {
    return execFileSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes('postgres') && hasWord(line, mark))
      .map((line) => Number.parseInt(line, 10))
  }
  return postgresProcesses((pid) => hasWord(readOr(`/proc/${pid}/cmdline`), mark))
}

/** Processes whose working folder this is; only Linux shows it. */
function processesIn(folder: string): number[] {
  if (process.platform !== 'linux') return []
  const { dev, ino } = statSync(folder)
  return postgresProcesses((pid) => {
    try {
      const found = statSync(`/proc/${pid}/cwd`)
      return found.dev === dev && found.ino === ino
    } catch {
      return false
    }
  })
}

/** On Linux, those with PostgreSQL in their command line that meet a condition. */
const postgresProcesses = (condition: (pid: number) => boolean): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && readOr(`/proc/${name}/cmdline`).includes('postgres'))
    .map(Number)
    .filter(condition)

/** The whole mark, not a prefix: `stithy-1-23` is no part of `stithy-1-234`. */
const hasWord = (text: string, mark: string): boolean => new RegExp(`${mark}(?![a-z0-9])`).test(text)

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended by itself.
  }
}

/** Whether a process listens on this socket. */
export function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const finish = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => finish(true)).once('error', () => finish(false))
  })
}
