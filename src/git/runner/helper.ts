import { Failure } from '../../kernel/failure.ts'
import type { Child } from './child.ts'
import { Inbox } from './inbox.ts'
import type { Exit } from './protocol.ts'

/** One question to a helper. `read` takes its answer from what has arrived; `undefined` until all of it is there. */
export type Question<Answer> = {
  readonly request: Buffer
  /** Called again with each new chunk. A thrown error means the helper no longer makes sense: it is ended. */
  read(inbox: Inbox): { answer: Answer } | undefined
  /** Forgets a half-read answer, because the question is asked again of a new process. */
  reset(): void
}

/** The process ended while it was busy with a question that must not be asked twice. */
export class HelperDeath extends Error {
  override name = 'HelperDeath'
  readonly exit: Exit

  constructor(exit: Exit) {
    super(`the git helper ended with ${exit.signal ?? exit.code}: ${exit.stderr.trim().slice(0, 1000)}`)
    this.exit = exit
  }
}

export type HelperOptions = {
  start(): Promise<Child>
  /** A silence of this length while a question is open counts as a death; 0: none does. */
  timeoutMs(): number
  /** Whether a question may be asked again when its process died over it: true for readers. */
  repeatable: boolean
  /** Called when the last question was answered. */
  onIdle(): void
}

type Waiting = { question: Question<any>; resolve(answer: any): void; reject(error: Error): void; deaths: number }

/**
 * A long-lived git process that answers in the order it is asked. Starts with the first question. When it dies, the
 * question it was busy with is asked once more, if it may be, and those behind it simply again: the process had not come
 * to them. One that cannot be asked again rejects with `HelperDeath`, one that ended two processes with `Failure('unavailable')`.
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

  constructor(options: HelperOptions) {
    this.#options = options
  }

  get busy(): boolean {
    return this.#waiting.length > 0
  }

  /** The process id, while one runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  ask<Answer>(question: Question<Answer>): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Failure('unavailable', 'The git helper was closed'))
      this.#waiting.push({ question, resolve, reject, deaths: 0 })
      this.#unsent.push(question.request)
      if (!this.#child) void this.#launch()
      // Whatever is asked in one turn goes out in one write.
      else if (this.#unsent.length === 1) queueMicrotask(() => this.#flush())
    })
  }

  /** Ends the process; who still waits is rejected. Resolves when it is gone. */
  async close(): Promise<void> {
    this.#closed = true
    this.#rejectAll(new Failure('unavailable', 'The git helper was closed'))
    const child = this.#child
    if (!child) return
    // Not SIGKILL: git takes its lock files with it. The runner insists after a while.
    child.kill()
    child.destroy()
    await child.done.catch(() => {})
  }

  #flush() {
    if (!this.#child || this.#unsent.length === 0) return
    this.#child.write(this.#unsent.length === 1 ? this.#unsent[0]! : Buffer.concat(this.#unsent))
    this.#unsent = []
    this.#watch()
  }

  async #launch() {
    if (this.#starting) return
    this.#starting = true
    try {
      const child = await this.#options.start()
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
    this.#inbox.clear()
    const ended = new Promise<void>((resolve) => child.once('close', resolve).once('end', resolve))
    child.on('data', (chunk: Buffer) => {
      this.#inbox.push(chunk)
      this.#drain(child)
    })
    child.done.then(
      // The notice may overtake the last answers, which come another way.
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
    } catch {
      // Whatever it says next belongs to no question. `done` does the rest.
      this.#inbox.clear()
      return void child.destroy()
    }
    this.#watch()
    if (this.#waiting.length === 0) this.#options.onIdle()
  }

  /** Restarts the deadline: the helper has shown a sign of life, or has just been asked. */
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
    if (cause instanceof Error) return this.#rejectAll(cause)
    const first = this.#waiting[0]
    if (first) {
      first.deaths++
      const death = new HelperDeath(cause)
      const error = this.#options.repeatable
        ? new Failure('unavailable', 'Git could not read the object', { cause: death })
        : death
      if (!this.#options.repeatable || first.deaths > 1) this.#waiting.shift()!.reject(error)
    }
    for (const { question } of this.#waiting) question.reset()
    this.#unsent = this.#waiting.map(({ question }) => question.request)
    if (this.#waiting.length > 0) void this.#launch()
    else this.#options.onIdle()
  }

  #rejectAll(error: Error) {
    this.#unsent = []
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
