import { randomUUID } from 'node:crypto'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Failure } from '../../kernel/failure.ts'
import { refusal } from '../../kernel/shares.ts'
import { Child } from './child.ts'
import { gitEnvironment } from './environment.ts'
import {
  type ClientNotice,
  type Exit,
  type Greeting,
  type LaneLoads,
  lineSplitter,
  type RunnerNotice,
  type RunRequest,
} from './protocol.ts'

export type RunOptions = Partial<Omit<RunRequest, 'id' | 'argv'>> & {
  /** Ends the process, even before it started; the caller and the reader of its output get the signal's reason. */
  signal?: AbortSignal
}

export type ConnectOptions = {
  /** The search path for git and its programs. */
  readonly path?: string
  /** How long work waits for a runner that restarts, in milliseconds. */
  readonly restartMs?: number
}

/** A control connection and its state. */
type Link = {
  client: string
  socket: Socket
  jobs: Map<number, Pending>
  /** Pending questions about the jobs of all clients. */
  asked: Map<number, PromiseWithResolvers<Answer>>
  closed: boolean
}
type Answer = Extract<RunnerNotice, { answers: number }>
type Pending = {
  sockets: Socket[]
  /** The runner may have the request. */
  isSent: boolean
  pid?: number
  started: PromiseWithResolvers<number>
  done: PromiseWithResolvers<Exit>
}

/** The runner has ended. What it ran is being killed. */
export class RunnerLost extends Failure {
  constructor() {
    super('unavailable', 'The git runner is not available')
  }
}

/** The runner cannot have the request, which may be sent again. */
class Unsent extends RunnerLost {}

/** How long work waits for a runner that restarts, which takes less than a second on an idle machine, in milliseconds. */
const restartMs = 5_000
/** Between attempts to reach it. */
const retryMs = 25

/**
 * A server process's connection to the runner of its machine. Connects on first use, and reconnects after the runner restarted
 * on the same path: what was running then rejects with `RunnerLost`, and what comes meanwhile waits.
 */
export class Runner {
  readonly socketPath: string
  readonly #env: Record<string, string>
  readonly #restartMs: number
  #link: Promise<Link> | undefined
  #nextId = 1
  #disposed = false

  private constructor(socketPath: string, { path, restartMs }: Required<ConnectOptions>) {
    this.socketPath = socketPath
    this.#env = gitEnvironment(path)
    this.#restartMs = restartMs
  }

  /** Rejects with `RunnerLost` if no runner listens. */
  static async connect(socketPath: string, options: ConnectOptions = {}): Promise<Runner> {
    const runner = new Runner(socketPath, { path: process.env['PATH'] ?? '/usr/bin:/bin', restartMs, ...options })
    await runner.#connected()
    return runner
  }

  /**
   * Starts git with `argv`. Resolves when the process runs: one round trip and one `spawn` in the runner. Rejects with
   * `Failure('unavailable')` if the connection is lost or too many jobs wait, and with `Failure('rate_limited')` if too many
   * jobs of the caller wait.
   */
  async start(argv: string[], options: RunOptions = {}): Promise<Child> {
    const until = performance.now() + this.#restartMs
    for (;;) {
      try {
        return await this.#startNow(argv, options)
      } catch (error) {
        if (!(error instanceof Unsent) || performance.now() >= until) throw error
        await delay(retryMs)
      }
    }
  }

  async #startNow(argv: string[], options: RunOptions): Promise<Child> {
    const { signal } = options
    signal?.throwIfAborted()
    const link = await this.#connected()
    const id = this.#nextId++
    const request: RunRequest = {
      id,
      argv,
      lane: options.lane ?? 'short',
      background: options.background ?? false,
      owner: options.owner ?? '',
      caller: options.caller ?? '',
      nested: options.nested ?? false,
      timeoutMs: options.timeoutMs ?? 60_000,
      stdin: options.stdin ?? false,
      extra: options.extra ?? false,
      ...(options.env && { env: options.env }),
    }
    const pending: Pending = {
      sockets: [],
      isSent: false,
      started: Promise.withResolvers(),
      done: Promise.withResolvers(),
    }
    // The caller learns of a lost connection from whichever promise it awaits first.
    pending.done.promise.catch(() => {})
    pending.started.promise.catch(() => {})
    if (link.closed) throw new Unsent()
    link.jobs.set(id, pending)
    const dial = (greeting: Greeting) => {
      const socket = createConnection({ path: this.socketPath, allowHalfOpen: true })
      socket.on('error', () => {})
      socket.once('connect', () => {
        pending.isSent = true
      })
      socket.write(`${JSON.stringify(greeting)}\n`)
      pending.sockets.push(socket)
      // If the connection closes before the child runs (the runner is out of descriptors, say), no notice will come.
      socket.once('close', () => pending.pid === undefined && lose(link, id))
      return socket
    }
    const socket = dial({ kind: 'run', client: link.client, ...request })
    const channel = request.extra ? dial({ kind: 'extra', client: link.client, id }) : undefined
    const kill = (signal: NodeJS.Signals) => void (link.jobs.has(id) && say(link, { kill: id, signal }))
    // A job that waits for a slot is removed from the queue.
    const leave = () => kill('SIGTERM')
    signal?.addEventListener('abort', leave, { once: true })
    try {
      const pid = await pending.started.promise
      signal?.throwIfAborted()
      if (!request.stdin) socket.end()
      const child = new Child({ socket, channel, pid, done: pending.done.promise, kill })
      if (signal) endWith(signal, child)
      return child
    } catch (error) {
      kill('SIGTERM')
      for (const open of pending.sockets) open.destroy()
      signal?.throwIfAborted()
      throw error
    } finally {
      signal?.removeEventListener('abort', leave)
    }
  }

  /** Runs `git version`: rejects if the runner or git does not work now. */
  async ping(): Promise<void> {
    const child = await this.#startNow(['version'], { timeoutMs: 3000 })
    child.resume()
    const { code } = await child.done
    if (code !== 0) throw new Failure('unavailable', 'git does not run')
  }

  /** Running and waiting jobs in each lane, of all processes of the machine together. */
  async loads(): Promise<LaneLoads> {
    return ((await this.#ask((load) => ({ load }))) as Extract<Answer, { load: LaneLoads }>).load
  }

  /** The repositories of the transfers that run or wait, of all processes of the machine together. */
  async ownersOfTransfers(): Promise<ReadonlySet<string>> {
    return new Set(((await this.#ask((owners) => ({ owners }))) as Extract<Answer, { owners: string[] }>).owners)
  }

  async #ask(question: (id: number) => ClientNotice): Promise<Answer> {
    const link = await this.#connected()
    if (link.closed) throw new RunnerLost()
    const id = this.#nextId++
    const asked = Promise.withResolvers<Answer>()
    link.asked.set(id, asked)
    say(link, question(id))
    return asked.promise
  }

  /** Ends every child of this process and closes the connection. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed = true
    const link = await this.#link?.catch(() => undefined)
    if (!link || link.closed) return
    const ended = [...link.jobs].map(([id, { done }]) => {
      say(link, { kill: id, signal: 'SIGTERM' })
      return done.promise.catch(() => {})
    })
    await Promise.all(ended)
    const closed = new Promise((resolve) => link.socket.once('close', resolve))
    link.socket.end()
    await closed
  }

  #connected(): Promise<Link> {
    if (this.#disposed) return Promise.reject(new RunnerLost())
    this.#link ??= this.#dial()
    return this.#link
  }

  #dial(): Promise<Link> {
    const { promise, resolve, reject } = Promise.withResolvers<Link>()
    const socket = createConnection(this.socketPath)
    const link: Link = { client: randomUUID(), socket, jobs: new Map(), asked: new Map(), closed: false }
    socket.setEncoding('utf8')
    socket.on('error', () => {})
    socket.on('connect', () =>
      socket.write(`${JSON.stringify({ kind: 'control', client: link.client, env: this.#env } satisfies Greeting)}\n`),
    )
    socket.on(
      'data',
      lineSplitter((line) => {
        const notice = JSON.parse(line) as RunnerNotice
        if ('ready' in notice) return resolve(link)
        hear(link, notice)
      }),
    )
    socket.on('close', () => {
      link.closed = true
      this.#link = undefined
      reject(new Unsent())
      for (const id of [...link.jobs.keys()]) lose(link, id)
      for (const { reject } of link.asked.values()) reject(new RunnerLost())
    })
    return promise
  }
}

function say(link: Link, notice: ClientNotice) {
  if (link.socket.writable) link.socket.write(`${JSON.stringify(notice)}\n`)
}

function hear(link: Link, notice: Exclude<RunnerNotice, { ready: true }>) {
  if ('answers' in notice) {
    link.asked.get(notice.answers)?.resolve(notice)
    link.asked.delete(notice.answers)
    return
  }
  const pending = link.jobs.get(notice.id)
  if (!pending) return
  if ('started' in notice) {
    pending.pid = notice.started
    pending.started.resolve(notice.started)
  } else if ('exit' in notice) {
    link.jobs.delete(notice.id)
    pending.done.resolve(notice.exit)
  } else {
    settle(link, notice.id, notice.full ? refusal({ full: notice.full }, 'git') : new Error(notice.refused))
  }
}

/** The reader of a child gets the reason of the abort; without a reader the error is ignored. */
function endWith(signal: AbortSignal, child: Child) {
  const end = () => void child.on('error', () => {}).destroy(signal.reason as Error)
  signal.addEventListener('abort', end, { once: true })
  const forget = () => signal.removeEventListener('abort', end)
  child.done.then(forget, forget)
}

const lose = (link: Link, id: number) =>
  settle(link, id, link.jobs.get(id)?.isSent === false ? new Unsent() : new RunnerLost())

/** Settles a job without an exit: rejects its promises and ends its process. */
function settle(link: Link, id: number, error: Error) {
  const pending = link.jobs.get(id)
  if (!pending) return
  link.jobs.delete(id)
  pending.started.reject(error)
  pending.done.reject(error)
  for (const socket of pending.sockets) socket.destroy()
  if (pending.pid === undefined) return
  // The runner that owned it has ended. SIGTERM first, so that git removes its lock files.
  const { pid } = pending
  signalGroup(pid, 'SIGTERM')
  setTimeout(() => signalGroup(pid, 'SIGKILL'), 1_000).unref()
}

function signalGroup(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(-pid, signal)
  } catch {
    // The process has ended already.
  }
}
