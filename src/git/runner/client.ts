import { randomUUID } from 'node:crypto'
import { createConnection, type Socket } from 'node:net'
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
  /** Ends the process, started or not; whoever waits for it, or reads it, gets the signal's reason. */
  gone?: AbortSignal
}

/** A control connection and what hangs on it. */
type Link = {
  client: string
  socket: Socket
  jobs: Map<number, Pending>
  /** Questions for the load of the lanes. */
  asked: Map<number, PromiseWithResolvers<LaneLoads>>
  closed: boolean
}
type Pending = {
  sockets: Socket[]
  pid?: number
  started: PromiseWithResolvers<number>
  done: PromiseWithResolvers<Exit>
}

const lost = () => new Failure('unavailable', 'The git runner is not available')

/**
 * A server process's connection to the runner of its machine. Connects on first use, and again after the runner was
 * restarted on the same path; what was running then rejects with `Failure('unavailable')`.
 */
export class Runner {
  readonly socketPath: string
  readonly #env: Record<string, string>
  #link: Promise<Link> | undefined
  #nextId = 1
  #disposed = false

  private constructor(socketPath: string, path: string) {
    this.socketPath = socketPath
    this.#env = gitEnvironment(path)
  }

  /** Rejects with `Failure('unavailable')` when nobody listens. `path` is where git and its programs are looked up. */
  static async connect(socketPath: string, { path = process.env['PATH'] ?? '/usr/bin:/bin' } = {}): Promise<Runner> {
    const runner = new Runner(socketPath, path)
    await runner.#connected()
    return runner
  }

  /**
   * Starts git with `argv`. Resolves when the process runs: one round trip and one `spawn` in the runner. Rejects with
   * `Failure('unavailable')` when the runner is lost or has too much waiting, and with `Failure('rate_limited')` when the
   * caller has.
   */
  async start(argv: string[], options: RunOptions = {}): Promise<Child> {
    const { gone } = options
    gone?.throwIfAborted()
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
    const pending: Pending = { sockets: [], started: Promise.withResolvers(), done: Promise.withResolvers() }
    // Whoever started the child hears of a loss by the first of the two.
    pending.done.promise.catch(() => {})
    pending.started.promise.catch(() => {})
    if (link.closed) throw lost()
    link.jobs.set(id, pending)
    const dial = (greeting: Greeting) => {
      const socket = createConnection({ path: this.socketPath, allowHalfOpen: true })
      socket.on('error', () => {})
      socket.write(`${JSON.stringify(greeting)}\n`)
      pending.sockets.push(socket)
      // A connection that closes before the child runs (the runner is out of descriptors, say) leaves nobody to tell us.
      socket.once('close', () => pending.pid === undefined && settle(link, id, lost()))
      return socket
    }
    const socket = dial({ kind: 'run', client: link.client, ...request })
    const channel = request.extra ? dial({ kind: 'extra', client: link.client, id }) : undefined
    const kill = (signal: NodeJS.Signals) => void (link.jobs.has(id) && say(link, { kill: id, signal }))
    // Where it still waits for its turn, it is taken out of the line.
    const leave = () => kill('SIGTERM')
    gone?.addEventListener('abort', leave, { once: true })
    try {
      const pid = await pending.started.promise
      gone?.throwIfAborted()
      if (!request.stdin) socket.end()
      const child = new Child({ socket, channel, pid, done: pending.done.promise, kill })
      if (gone) endWith(gone, child)
      return child
    } catch (error) {
      kill('SIGTERM')
      for (const open of pending.sockets) open.destroy()
      gone?.throwIfAborted()
      throw error
    } finally {
      gone?.removeEventListener('abort', leave)
    }
  }

  /** Runs `git version` to its end: rejects when the runner or git cannot. */
  async ping(): Promise<void> {
    const child = await this.start(['version'], { timeoutMs: 3000 })
    child.resume()
    const { code } = await child.done
    if (code !== 0) throw new Failure('unavailable', 'git does not run')
  }

  /** What runs and waits in each lane, for all processes of the machine together. */
  async loads(): Promise<LaneLoads> {
    const link = await this.#connected()
    if (link.closed) throw lost()
    const id = this.#nextId++
    const asked = Promise.withResolvers<LaneLoads>()
    link.asked.set(id, asked)
    say(link, { load: id })
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
    if (this.#disposed) return Promise.reject(lost())
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
      reject(lost())
      for (const id of [...link.jobs.keys()]) settle(link, id, lost())
      for (const { reject } of link.asked.values()) reject(lost())
    })
    return promise
  }
}

function say(link: Link, notice: ClientNotice) {
  if (link.socket.writable) link.socket.write(`${JSON.stringify(notice)}\n`)
}

function hear(link: Link, notice: Exclude<RunnerNotice, { ready: true }>) {
  if ('load' in notice) {
    link.asked.get(notice.answers)?.resolve(notice.load)
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

/** The reader of a child hears why it ended; one that nobody reads yet does not disturb anybody. */
function endWith(gone: AbortSignal, child: Child) {
  const end = () => void child.on('error', () => {}).destroy(gone.reason as Error)
  gone.addEventListener('abort', end, { once: true })
  const forget = () => gone.removeEventListener('abort', end)
  child.done.then(forget, forget)
}

/** Ends a job without an exit: nobody waits for it afterwards, and no process of it is left. */
function settle(link: Link, id: number, error: Error) {
  const pending = link.jobs.get(id)
  if (!pending) return
  link.jobs.delete(id)
  pending.started.reject(error)
  pending.done.reject(error)
  for (const socket of pending.sockets) socket.destroy()
  if (pending.pid === undefined) return
  // The runner that would have ended it is gone. Politely first, so that git takes its lock files with it.
  const { pid } = pending
  signalGroup(pid, 'SIGTERM')
  setTimeout(() => signalGroup(pid, 'SIGKILL'), 1_000).unref()
}

function signalGroup(pid: number, signal: NodeJS.Signals) {
  try {
    process.kill(-pid, signal)
  } catch {
    // It went by itself.
  }
}
