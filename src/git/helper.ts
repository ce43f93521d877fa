import { Failure } from '../kernel/failure.ts'
import { Inbox } from './inbox.ts'
import type { Child } from './runner/child.ts'

/** One question to a helper. `read` takes its answer from what has arrived; `undefined` until all of it is there. */
export type Question<Answer> = {
  readonly request: Buffer
  /** Called again with each new chunk. A thrown error means the helper no longer makes sense: it is ended. */
  read(inbox: Inbox): { answer: Answer } | undefined
  /** Forgets a half-read answer, because the question is asked again of a new process. */
  reset(): void
}

type Waiting = { question: Question<any>; resolve(answer: any): void; reject(error: Error): void; deaths: number }

/**
 * A long-lived git process that answers in the order it is asked. Starts with the first question. When it dies, the
 * question it was busy with is asked once more (a reader cannot do harm twice) and those behind it simply again;
 * one that ends the process twice rejects. A silence of `timeoutMs` counts as a death.
 */
export class Helper {
  readonly #start: () => Promise<Child>
  readonly #timeoutMs: number
  readonly #onIdle: () => void
  #child: Child | undefined
  #starting = false
  #waiting: Waiting[] = []
  #unsent: Buffer[] = []
  #inbox = new Inbox()
  #timer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: { start(): Promise<Child>; timeoutMs: number; onIdle(): void }) {
    this.#start = options.start
    this.#timeoutMs = options.timeoutMs
    this.#onIdle = options.onIdle
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
      this.#send(question.request)
    })
  }

  /** Ends the process; who still waits is rejected. Resolves when it is gone. */
  async close(): Promise<void> {
    this.#closed = true
    this.#rejectAll(new Failure('unavailable', 'The git helper was closed'))
    const child = this.#child
    if (!child) return
    child.kill('SIGKILL')
    child.destroy()
    await child.done.catch(() => {})
  }

  #send(request: Buffer) {
    this.#unsent.push(request)
    if (this.#child) {
      // Whatever is asked in one turn goes out in one write.
      if (this.#unsent.length === 1) queueMicrotask(() => this.#flush())
    } else if (!this.#starting) void this.#launch()
  }

  #flush() {
    if (!this.#child || this.#unsent.length === 0) return
    this.#child.write(this.#unsent.length === 1 ? this.#unsent[0]! : Buffer.concat(this.#unsent))
    this.#unsent = []
    this.#watch()
  }

  async #launch() {
    this.#starting = true
    let child: Child
    try {
      child = await this.#start()
    } catch (error) {
      this.#starting = false
      return this.#rejectAll(error as Error)
    }
    this.#starting = false
    if (this.#closed) {
      child.kill('SIGKILL')
      return void child.destroy()
    }
    this.#child = child
    this.#inbox.clear()
    child.on('data', (chunk: Buffer) => {
      if (child !== this.#child) return
      this.#inbox.push(chunk)
      this.#drain(child)
    })
    // The end of its output, or the end of the runner: whichever is noticed first.
    child.on('end', () => this.#died(child))
    child.done.then(
      () => this.#died(child),
      (error: Error) => this.#died(child, error),
    )
    this.#flush()
  }

  #drain(child: Child) {
    try {
      while (this.#waiting.length > 0) {
        const read = this.#waiting[0]!.question.read(this.#inbox)
        if (!read) break
        this.#waiting.shift()!.resolve(read.answer)
      }
    } catch {
      child.kill('SIGKILL')
      return this.#died(child)
    }
    this.#watch()
    if (this.#waiting.length === 0) this.#onIdle()
  }

  /** Restarts the deadline: the helper has shown a sign of life, or has just been asked. */
  #watch() {
    if (this.#waiting.length === 0) {
      clearTimeout(this.#timer)
      this.#timer = undefined
    } else if (this.#timer) this.#timer.refresh()
    else {
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        const child = this.#child
        if (!child) return
        child.kill('SIGKILL')
        this.#died(child)
      }, this.#timeoutMs)
    }
  }

  #died(child: Child, reason?: Error) {
    if (child !== this.#child) return
    this.#child = undefined
    clearTimeout(this.#timer)
    this.#timer = undefined
    child.destroy()
    this.#unsent = []
    if (reason) return this.#rejectAll(reason)
    const [first, ...behind] = this.#waiting
    if (!first) return this.#onIdle()
    first.deaths++
    if (first.deaths > 1) {
      first.reject(
        new Failure('unavailable', 'Git could not read the object', { cause: new Error('the helper ended twice') }),
      )
      this.#waiting = behind
    }
    for (const { question } of this.#waiting) question.reset()
    this.#unsent = this.#waiting.map(({ question }) => question.request)
    if (this.#waiting.length > 0) void this.#launch()
    else this.#onIdle()
  }

  #rejectAll(error: Error) {
    this.#unsent = []
    for (const { reject } of this.#waiting.splice(0)) reject(error)
  }
}
