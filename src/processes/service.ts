import { type ChildProcess, fork } from 'node:child_process'
import cluster from 'node:cluster'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Config, setForChildren } from '../config.ts'
import { shortFolder } from '../db/embedded/socket-folder.ts'
import { startEmbedded } from '../db/embedded/start.ts'
import type { Failure } from '../kernel/failure.ts'
import type { Credentials, Services } from './app-module.ts'
import { closeUnclaimed } from './close-unclaimed.ts'
import { proposeRoot } from './credentials.ts'
import { compileCacheDir } from './data-dir.ts'
import { databaseLacksRoom, isFull } from './disk-room.ts'
import { Forked } from './forked.ts'
import { jobsFlags, saveMemoryInChildren, workerFlags } from './memory.ts'
import { answerMetrics } from './metrics.ts'
import { gitRunner, type Parts } from './parts.ts'
import { ShutdownReport } from './shutdown-report.ts'
import { type Supervised, Supervisor } from './supervisor.ts'
import type { Notices, Terminal } from './terminal.ts'

const childEntry = fileURLToPath(new URL('./child.ts', import.meta.url))

const hintOf = ({ isInteractive }: Terminal): string => (isInteractive ? ' Press Ctrl-C again to stop at once.' : '')

/** What prevents a worker or the jobs process from starting again until an operator changes it. */
const obstacleOfChild = async (error: unknown): Promise<string | undefined> =>
  isFull(error) ? `${(error as Error).message} It is started again when there is room.` : undefined

/**
 * All processes of a running Stithy: PostgreSQL, the git runner, the HTTP workers and the jobs process. The caller holds the
 * lock of the data folder. Children are forked first and import the app while PostgreSQL starts.
 */
export class Service {
  /** Rejects when a process fails repeatedly. */
  readonly failed: Promise<never>
  readonly #gaveUp: (failure: Failure) => void
  readonly #config: Config
  readonly #parts: Parts
  readonly #notices: Notices
  readonly #shutdown: ShutdownReport
  readonly #database: Supervisor | undefined
  readonly #runner: Supervisor
  readonly #jobs: Supervisor
  readonly #workers: readonly Supervisor[]
  readonly #databaseUrl = Promise.withResolvers<string>()
  readonly #prepared = Promise.withResolvers<Credentials | undefined>()
  readonly #services = Promise.withResolvers<Services>()
  readonly #runnerSocket: string

  constructor(config: Config, parts: Parts, { terminal, notices }: { terminal: Terminal; notices: Notices }) {
    this.#config = config
    this.#parts = parts
    this.#notices = notices
    this.#shutdown = new ShutdownReport((line, busy) => notices.say(`${line}${hintOf(terminal)}`, busy))
    this.#runnerSocket = join(shortFolder(join(config.dataDir, 'run')), 'runner.sock')
    // An environment variable instead of a call, so that it applies to every module of a child from the first one.
    setForChildren('NODE_COMPILE_CACHE', compileCacheDir(config.dataDir))
    saveMemoryInChildren()
    const { promise, reject } = Promise.withResolvers<never>()
    this.failed = promise
    this.#gaveUp = reject
    // It may reject before a listener is attached.
    promise.catch(() => {})

    const supervisor = (process: Supervised) => new Supervisor(process, (line) => terminal.err(line))
    this.#database = config.database.kind === 'embedded' ? supervisor(this.#databaseProcess()) : undefined
    this.#runner = supervisor(gitRunner(parts, this.#runnerSocket))
    this.#jobs = supervisor(this.#jobsProcess())
    this.#workers = Array.from({ length: config.processes }, (_, index) => supervisor(this.#workerProcess(index + 1)))
  }

  /**
   * Resolves when every worker listens; with the credentials of the first administrator if it was just created. The jobs process starts
   * then: what waits for it is stored, and requests need not wait until it is loaded.
   */
  async start(): Promise<Credentials | undefined> {
    const { database } = this.#config
    if (database.kind === 'external') this.#databaseUrl.resolve(database.url)
    const runner = this.#runner.start(this.#gaveUp)
    const everyone = [this.#database?.start(this.#gaveUp), runner]
    everyone.push(...this.#workers.map((worker) => worker.start(this.#gaveUp)))
    const [databaseUrl, credentials] = await Promise.race([
      Promise.all([this.#databaseUrl.promise, this.#prepared.promise, runner]),
      // The failure of any process ends the wait.
      Promise.all(everyone).then(() => this.failed),
    ])
    this.#services.resolve({ databaseUrl, runnerSocket: this.#runnerSocket })
    await Promise.all(everyone)
    this.#jobs.startSoon(this.#gaveUp)
    return credentials
  }

  /** Stops users of a service before it: HTTP and jobs, then git, then PostgreSQL. Also ends an unfinished start. */
  async stop(graceMs: number, urgent: Promise<void>): Promise<void> {
    const clients = [...this.#workers, this.#jobs]
    await Promise.race([
      Promise.all(clients.map((client) => client.stop(graceMs))),
      urgent.then(() => Promise.all(clients.map((client) => client.stop(0)))),
    ])
    this.#shutdown.end()
    await this.#runner.stop(graceMs)
    await this.#database?.stop(graceMs)
  }

  #databaseProcess(): Supervised {
    const { dataDir, processes: workers } = this.#config
    return {
      name: 'PostgreSQL',
      start: async (signal) => {
        const log = (line: string) => this.#notices.say(line)
        const { url, pid, exited, stop } = await startEmbedded({ dataDir, log, workers, signal })
        this.#databaseUrl.resolve(url)
        return { pid, ended: exited.then(() => undefined), stop }
      },
      obstacle: async (error) =>
        (await databaseLacksRoom(error, dataDir))
          ? `the disk of ${dataDir} is full. It is started again when there is room.`
          : undefined,
    }
  }

  #workerProcess(number: number): Supervised {
    let prepares = number === 1
    return {
      name: `HTTP worker ${number}`,
      start: async (signal) => {
        cluster.setupPrimary({ exec: childEntry, args: ['worker', this.#parts.appModule], execArgv: workerFlags })
        const { process } = cluster.fork()
        closeUnclaimed(process)
        answerMetrics(process)
        return this.#started(process, signal, async (worker) => {
          if (prepares) this.#prepared.resolve(await this.#prepare(worker))
          prepares = false
          await this.#startApp(worker)
        })
      },
      obstacle: obstacleOfChild,
    }
  }

  #jobsProcess(): Supervised {
    return {
      name: 'The jobs process',
      start: (signal) => {
        const jobs = fork(childEntry, ['jobs', this.#parts.appModule], { execArgv: jobsFlags })
        return this.#started(jobs, signal, (jobs) => this.#startApp(jobs))
      },
      obstacle: obstacleOfChild,
    }
  }

  /** Migrations and the first administrator: in a child, so that the primary stays small. */
  async #prepare(worker: Forked): Promise<Credentials | undefined> {
    const databaseUrl = await Promise.race([this.#databaseUrl.promise, worker.untilEnded()])
    const root = proposeRoot(this.#config)
    worker.send({ kind: 'prepare', config: root.config, databaseUrl })
    const { credentials } = await worker.report('prepared')
    root.settle(credentials)
    return credentials
  }

  async #startApp(child: Forked): Promise<void> {
    const services = await Promise.race([this.#services.promise, child.untilEnded()])
    child.send({ kind: 'start', config: this.#config, services })
    await child.report('ready')
  }

  /** Starts a child; ends it if it fails to start, or if `signal` aborts meanwhile. */
  async #started(process: ChildProcess, signal: AbortSignal, start: (child: Forked) => Promise<void>): Promise<Forked> {
    const child = new Forked(process, {
      onProgress: (line) => this.#notices.say(line),
      onBusy: (each, busy) => this.#shutdown.update(each, busy),
    })
    child.ended.then(() => this.#shutdown.remove(child))
    const end = () => child.stop(0)
    signal.addEventListener('abort', end)
    try {
      await start(child)
      return child
    } catch (error) {
      await end()
      throw error
    } finally {
      signal.removeEventListener('abort', end)
    }
  }
}
