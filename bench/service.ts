import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findEmbedded } from '../src/db/embedded/start.ts'
import { type Memory, memoryOf, processTree, readOrEmpty, statOf } from './memory.ts'
import { rootToken } from './world.ts'

const thisCheckout = fileURLToPath(new URL('..', import.meta.url))
const readyWithinMs = 60_000

export type Service = {
  readonly port: number
  readonly sshPort: number
  readonly databaseUrl: string
  /** Time from the command to the line that reports readiness. */
  readonly startMs: number
  /** Memory of all its processes, by kind. */
  memory(): Memory[]
  /** CPU time so far of all its processes, and of those they have waited for. */
  cpuSeconds(): number
} & AsyncDisposable

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Starts the service of a checkout as a user would, on its own folder, which also gets the log. */
export async function startService(dataDir: string, processes: number, checkout = thisCheckout): Promise<Service> {
  mkdirSync(dataDir, { recursive: true, mode: 0o755 })
  const [port, sshPort] = [await freePort(), await freePort()]
  const log = join(dataDir, 'bench.log')
  const began = performance.now()
  const child = spawn(process.execPath, [join(checkout, 'bin', 'stithy.js'), 'serve'], {
    env: {
      ...process.env,
      STITHY_DATA_DIR: dataDir,
      STITHY_HTTP_PORT: String(port),
      STITHY_SSH_PORT: String(sshPort),
      STITHY_PROCESSES: String(processes),
      STITHY_ROOT_TOKEN: rootToken,
    },
    stdio: ['ignore', openSync(log, 'w'), 'inherit'],
  })
  await ready(child, log, began)
  const startMs = performance.now() - began
  const databaseUrl = await findEmbedded(dataDir)
  if (databaseUrl === undefined) throw new Error('the database of the service does not answer')
  return {
    port,
    sshPort,
    databaseUrl,
    startMs,
    memory: () => memoryOf(processTree(child.pid!)),
    cpuSeconds: () => processTree(child.pid!).reduce((sum, pid) => sum + cpuSecondsOf(pid), 0),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function ready(child: ChildProcess, log: string, began: number): Promise<void> {
  while (!readFileSync(log, 'utf8').includes('Stithy is ready')) {
    if (child.exitCode !== null) throw new Error(`the service ended: ${readFileSync(log, 'utf8')}`)
    if (performance.now() - began > readyWithinMs) throw new Error('the service does not get ready')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Of its threads in nanoseconds, by the scheduler; of the children that it waited for in hundredths of a second. */
function cpuSecondsOf(pid: number): number {
  const threads = entriesOf(`/proc/${pid}/task`).reduce(
    (sum, thread) => sum + Number(readOrEmpty(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]),
    0,
  )
  // Nothing of a process that has ended meanwhile.
  const [childrenUser = 0, childrenSystem = 0] = statOf(pid).slice(13, 15)
  return threads / 1e9 + (Number(childrenUser) + Number(childrenSystem)) / 100
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
