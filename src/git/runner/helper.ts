import { Failure } from '../../kernel/failure.ts'
import type { Child } from './child.ts'
import { Inbox } from './inbox.ts'
import type { Exit } from './protocol.ts'

/** A request to a helper. `read` parses the answer from the data received; `undefined` until it is complete. */
export type Question<Answer> = {
  readonly request: Buffer
  /** Called for each new chunk. If it throws, the stream is out of sync and the helper is ended. */
  read(inbox: Inbox): { answer: Answer } | undefined
  /** Discards a partial answer before the request is repeated with a new process. */
  reset(): void
}

/** The process ended during a request that must not be repeated. */
export class HelperDeath extends Error {
  override name = 'HelperDeath'
  readonly exit: Exit

  constructor(exit: Exit) {
    super(`the git helper ended with ${exit.signal ?? exit.code}: ${exit.stderr.trim().slice(0, 1000)}`)
    this.exit = exit
  }
}

export type HelperOptions = {
  /** `last`: how the process before ended, if it died during a request. */
  start(last: Exit | undefined): Promise<Child>
  /** Maximum silence during a request, after which the process is killed; 0 for no limit. */
  timeoutMs(): number
  /** Whether a request may be repeated after its process died: true for read-only subcommands. */
  repeatable: boolean
  /** Written after the requests of each turn of the event loop, if the process answers only then. */
  flush?: Buffer
  /** Called after the last request was answered. */
  onIdle(): void
}

type Waiting = { question: Question<any>; resolve(answer: any): void; reject(error: Error): void; deaths: number }

/**
 * A long-lived git process that answers requests in order. Starts with the first request. If the process dies, the request it
 * was processing is repeated once if allowed, and those after it are sent again. A request that cannot be repeated rejects with
 * `HelperDeath`, one that ended two processes with `Failure('unavailable')`, whose cause is what `read` threw, if it did.
 */
export class Helper {
  readonly #options: HelperOptions
  #child: Child | undefined
  #starting = false
  #waiting: Waiting[] = []
  #unsent: Buffer[] = []
  #inbox = new Inbox()
  #timer: NodeJS.Timeout | undefined
  #closed = false
  #isRetired = false
  /** How the last process ended, if it died during a request. */
  #last: Exit | undefined
  /** Why the output of the process could not be read, if that is why it is being ended. */
  #misread: Error | undefined

  constructor(options: HelperOptions) {
    this.#options = options
  }

  get busy(): boolean {
    return this.#waiting.length > 0
  }

  /** The process id, while a process runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  ask<Answer>(question: Question<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Failure('unavailable', 'The git helper was closed'))
      this.#waiting.push({ question, resolve, reject, deaths: 0 })
      this.#unsent.push(question.request)
      if (!this.#child) void this.#launch()
      // Requests of one turn of the event loop go out in one write.
      else if (this.#unsent.length === 1) queueMicrotask(() => this.#flush())
    })
  }

  /** Ends the process and rejects pending requests. Resolves when the process has ended. */
  async close(): Promise<void> {
    this.#closed = true
    this.#rejectAll(new Failure('unavailable', 'The git helper was closed'))
    await this.#endProcess()
  }

  /**
   * Ends each process once it has answered. A caller that still has the helper may ask: another process starts. Resolves when the present
   * process has ended, if it is not busy; otherwise at once.
   */
  async retire(): Promise<void> {
    this.#isRetired = true
    if (!this.busy) await this.#endProcess()
  }

  async #endProcess(): Promise<void> {
    const child = this.#child
    if (!child) return
    this.#child = undefined
    // Not SIGKILL, so that git removes its lock files. The runner sends SIGKILL later.
    child.kill()
    child.destroy()
    await child.done.catch(() => {})
  }

  #flush() {
    if (!this.#child || this.#unsent.length === 0) return
    const { flush } = this.#options
    if (flush) this.#unsent.push(flush)
    this.#child.write(this.#unsent.length === 1 ? this.#unsent[0]! : Buffer.concat(this.#unsent))
    this.#unsent = []
    this.#watch()
  }

  async #launch() {
    if (this.#starting) return
    this.#starting = true
    try {
      const child = await this.#options.start(this.#last)
      if (this.#closed) {
        return void child.destroy()
      }
      this.#attach(child)
    } catch (error) {
      this.#rejectAll(error as Error)
    } finally {
      this.#starting = false
    }
  }

  #attach(child: Child) {
    this.#child = child
    this.#misread = undefined
    this.#inbox.clear()
    const ended = new Promise<void>((resolve) => child.once('close', resolve).once('end', resolve))
    child.on('data', (chunk: Buffer) => {
      this.#inbox.push(chunk)
      this.#drain(child)
    })
    child.done.then(
      // The exit notice comes by another connection and may overtake the last answers.
      (exit) => ended.then(() => this.#died(child, exit)),
      (error: Error) => this.#died(child, error),
    )
    this.#flush()
  }

  #drain(child: Child) {
    if (child !== this.#child) return
    try {
      while (this.#waiting.length > 0) {
        const read = this.#waiting[0]!.question.read(this.#inbox)
        if (!read) break
        this.#waiting.shift()!.resolve(read.answer)
      }
    } catch (error) {
      // Further output cannot be assigned to a request. `done` handles the rest.
      this.#misread = error as Error
      this.#inbox.clear()
      return void child.destroy()
    }
    this.#watch()
    if (this.#waiting.length > 0) return
    if (this.#isRetired) void this.#endProcess()
    this.#options.onIdle()
  }

  /** Restarts the timeout after output or a new request. */
  #watch() {
    if (this.#waiting.length === 0) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    } else if (this.#timer) this.#timer.refresh()
    else {
      const ms = this.#options.timeoutMs()
      if (ms === 0) return
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        this.#child?.kill()
      }, ms)
    }
  }

  #died(child: Child, cause: Exit | Error) {
    if (child !== this.#child) return
    this.#child = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    child.destroy()
    if (cause instanceof Error && !this.#options.repeatable) return this.#rejectAll(cause)
    const first = this.#waiting[0]
    this.#last = first && !(cause instanceof Error) ? cause : undefined
    if (first) {
      first.deaths++
      const death = cause instanceof Error ? cause : new HelperDeath(cause)
      const error = this.#options.repeatable
        ? new Failure('unavailable', 'Git could not read the object', { cause: this.#misread ?? death })
        : death
      if (!this.#options.repeatable || first.deaths > 1) this.#waiting.shift()!.reject(error)
    }
    for (const { question } of this.#waiting) question.reset()
    // Each with its own flush, so that answers before another death arrive, and the request that causes it is the first without one.
    const { flush } = this.#options
    this.#unsent = this.#waiting.flatMap(({ question: { request } }) => (flush ? [request, flush] : request))
    if (this.#waiting.length > 0) void this.#launch()
    else this.#options.onIdle()
  }

  #rejectAll(error: Error) {
    this.#unsent = []
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
