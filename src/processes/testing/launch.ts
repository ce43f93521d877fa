import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, vi } from 'vitest'
import { statementsFolder } from '../../db/testing/described.ts'

/** In milliseconds. Only ends a wait that would never end; no test asserts it. */
const waitMs = 250_000

const main = fileURLToPath(new URL('./main.ts', import.meta.url))

/** Every process of a service that a test starts checks its statements, and shares what the server says about them. */
function statementCheck(): string {
  const install = new URL('../../db/testing/install.ts', import.meta.url)
  install.searchParams.set('shared', statementsFolder())
  return `--import=${install}`
}

/** Where Node finds the check without its types, and other modules: stripping them takes each start and each command 100 ms of CPU time. */
const compileCache = () => join(tmpdir(), 'compile-cache')

/** A folder that is removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stithy-test-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/**
 * Ports of this test worker: another one might begin to listen on a port before it is used here. Below the range of ephemeral ports, of which an
 * outgoing connection may take any free one.
 */
const ports = { first: 12_000 + (Number(process.env['VITEST_POOL_ID'] ?? 0) % 10) * 2_000, count: 2_000 }
/** Another run of the tests probably uses others. */
let nextPort = (process.pid * 97) % ports.count

/** A free port that this process has not returned recently. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = ports.first + (nextPort++ % ports.count)
    const server = createServer()
    const failed = await new Promise((resolve) => {
      server.once('error', resolve)
      server.listen(port, '127.0.0.1', () => resolve(undefined))
    })
    if (failed !== undefined) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/** Runs a command of Stithy with a stand-in app; kills it after the test if it still runs. */
export class Launched {
  readonly process: ChildProcess
  out = ''
  err = ''
  readonly exit: Promise<number | NodeJS.Signals | null>

  constructor(
    words: readonly string[],
    env: Record<string, string>,
    options: { file?: string; node?: string; cwd?: string; cleanUp?: false } = {},
  ) {
    this.process = spawn(options.node ?? process.execPath, [options.file ?? main, ...words], {
      env: {
        PATH: process.env['PATH'],
        STITHY_SSH_PORT: '0',
        // Another Node may not know what a TypeScript file is.
        ...(options.node === undefined && { NODE_OPTIONS: statementCheck(), NODE_COMPILE_CACHE: compileCache() }),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(options.cwd !== undefined && { cwd: options.cwd }),
    })
    this.process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.out += text
    })
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.err += text
    })
    this.exit = once(this.process, 'close').then(([code, signal]) => code ?? signal)
    if (options.cleanUp !== false)
      onTestFinished(async () => {
        // Its pid may be that of another process by now.
        if (this.process.exitCode !== null || this.process.signalCode !== null) return
        const family = this.family()
        this.process.kill('SIGKILL')
        await this.exit
        await allGone(family)
      })
  }

  get pid(): number {
    return this.process.pid!
  }

  /** The pids of this process and its descendants. */
  family(): number[] {
    const children = Map.groupBy(allProcesses(), ({ parent }) => parent)
    const below = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap((child) => below(child.pid))]
    return below(this.pid)
  }

  /** Pids of the family whose title starts with the text. */
  named(title: string): number[] {
    return this.family().filter((pid) => titleOf(pid).startsWith(title))
  }

  /** Kills a process of the family whose title starts with the text; one that is being restarted has no title yet. */
  async killNamed(title: string): Promise<void> {
    await vi.waitFor(() => process.kill(this.named(title)[0]!, 'SIGKILL'), { timeout: waitMs })
  }

  async ready(): Promise<void> {
    const ended = this.exit.then((code) => Promise.reject(new Error(`ended with ${code}: ${this.err}`)))
    ended.catch(() => {})
    const { promise: isReady, resolve } = Promise.withResolvers<void>()
    const look = () => this.out.includes('Stithy is ready') && resolve()
    this.process.stdout!.on('data', look)
    look()
    const timeout = AbortSignal.timeout(waitMs)
    const late = once(timeout, 'abort').then(() => Promise.reject(new Error(`not ready: ${this.out}${this.err}`)))
    late.catch(() => {})
    await Promise.race([isReady, ended, late]).finally(() => this.process.stdout!.off('data', look))
  }
}

/** A data folder after a first start and a stop. Call it once per test file. */
export async function prepareTemplate(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stithy-template-'))
  const env = { STITHY_DATA_DIR: folder, STITHY_HTTP_PORT: String(await freePort()), STITHY_PROCESSES: '1' }
  const launched = new Launched(['serve'], env, { cleanUp: false })
  await launched.ready()
  launched.process.kill('SIGTERM')
  await launched.exit
  return folder
}

/** A copy of the template, which makes a start three times as fast. */
export async function preparedFolder(template: string): Promise<string> {
  const folder = await temporaryFolder()
  // cpSync does not preserve owners, which PostgreSQL checks.
  const [code] = await once(spawn('cp', ['-a', join(template, 'postgres'), join(template, 'cache'), folder]), 'exit')
  expect(code).toBe(0)
  return folder
}

/** Starts a service on its own folder and port, and waits until it is ready. */
export async function serveStandIn(
  env: Record<string, string> = {},
): Promise<Launched & { url: string; env: Record<string, string> }> {
  const port = env['STITHY_HTTP_PORT'] ?? String(await freePort())
  const all = {
    STITHY_DATA_DIR: env['STITHY_DATA_DIR'] ?? (await temporaryFolder()),
    STITHY_PROCESSES: '2',
    ...env,
    STITHY_HTTP_PORT: port,
  }
  const launched = Object.assign(new Launched(['serve'], all), { url: `http://127.0.0.1:${port}`, env: all })
  await launched.ready()
  return launched
}

/** Whether a process runs. Zombies do not: they are dead. */
export const isAlive = (pid: number): boolean => !['Z', undefined].includes(stateOf(pid)?.state)

export const allGone = (pids: readonly number[]): Promise<void> =>
  vi.waitFor(() => expect(pids.filter(isAlive).map(commandOf)).toEqual([]), { timeout: waitMs, interval: 10 })

const commandOf = (pid: number): string => readOr(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim()

/** Without zombies. */
function allProcesses(): { pid: number; parent: number }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const found = stateOf(Number(name))
      return found === undefined || found.state === 'Z' ? [] : [{ pid: Number(name), parent: found.parent }]
    })
}

function stateOf(pid: number): { state: string; parent: number } | undefined {
  const stat = readOr(`/proc/${pid}/stat`)
  if (stat === '') return undefined
  const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state: state!, parent: Number(parent) }
}

/** The command line of a process, which may be a title that it chose; empty if it has ended. */
export const titleOf = (pid: number): string => readOr(`/proc/${pid}/cmdline`)

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
