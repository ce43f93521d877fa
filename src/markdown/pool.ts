import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { FromThread } from './thread.ts'
import type { MarkdownDocument, Rendered } from './types.ts'

export type PoolLimits = {
  readonly threads: number
  /** Processor time for one document in milliseconds. Counted in the thread, so that a busy machine does not shorten it. */
  readonly processorMs: number
  /** Time for one document, however little processor time the machine gives to it. */
  readonly timeoutMs: number
  /** Memory of a thread. */
  readonly heapMb: number
}

/** A document of the largest size that is not hostile takes a tenth of the processor time. */
export const poolLimits: PoolLimits = { threads: 2, processorMs: 1_000, timeoutMs: 15_000, heapMb: 160 }

/** A document took too long, or more memory than a thread may use. */
export class Exhausted extends Error {}

/** The parser found a limit exceeded, or failed. */
export class Unrenderable extends Error {}

type Task = {
  readonly document: MarkdownDocument
  readonly resolve: (rendered: Rendered) => void
  readonly reject: (error: Error) => void
}

/** Threads that render documents. They start on demand, and are replaced when a document exhausts one. */
export class MarkdownPool implements AsyncDisposable {
  readonly #limits: PoolLimits
  readonly #waiting: Task[] = []
  readonly #threads = new Set<MarkdownThread>()
  #isClosed = false

  constructor(limits: Partial<PoolLimits> = {}) {
    this.#limits = { ...poolLimits, ...limits }
  }

  /** Renders a document in the order of the calls. Rejects with `Exhausted` or `Unrenderable`. */
  render(document: MarkdownDocument): Promise<Rendered> {
    const { promise, resolve, reject } = Promise.withResolvers<Rendered>()
    if (this.#isClosed) reject(new Exhausted('the pool is closed'))
    else {
      this.#waiting.push({ document, resolve, reject })
      this.#next()
    }
    return promise
  }

  #next(): void {
    // A thread may have died while it was idle.
    for (const thread of this.#threads) if (thread.isDead && !thread.isBusy) this.#threads.delete(thread)
    const idle = [...this.#threads].find((thread) => !thread.isBusy) ?? this.#started()
    const task = idle && this.#waiting.shift()
    if (task) void idle.run(task).finally(() => this.#ended(idle))
  }

  #started(): MarkdownThread | undefined {
    if (this.#waiting.length === 0 || this.#threads.size >= this.#limits.threads) return undefined
    const thread = new MarkdownThread(this.#limits)
    this.#threads.add(thread)
    return thread
  }

  #ended(thread: MarkdownThread): void {
    if (thread.isDead) this.#threads.delete(thread)
    if (this.#waiting.length > 0 && !this.#isClosed) this.#next()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    for (const { reject } of this.#waiting.splice(0)) reject(new Exhausted('the pool is closed'))
    await Promise.all([...this.#threads].map((thread) => thread.end()))
  }
}

/** One thread, which renders one document at a time. */
class MarkdownThread {
  readonly #limits: PoolLimits
  readonly #worker: Worker
  readonly #ready: Promise<void>
  #answer: ((answer: FromThread | Error) => void) | undefined
  isBusy = false
  isDead = false

  constructor(limits: PoolLimits) {
    this.#limits = limits
    this.#worker = new Worker(new URL('./thread.ts', import.meta.url), {
      // A large young generation: most of what a document needs is garbage when it is rendered.
      resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 },
    })
    // An idle thread does not keep the process alive; requests do.
    this.#worker.unref()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#ready = promise
    this.#worker.on('message', (message: FromThread) => {
      if (message === 'ready') resolve()
      else this.#answer?.(message)
    })
    const end = (reason: string) => {
      this.isDead = true
      resolve()
      this.#answer?.(new Exhausted(reason))
    }
    this.#worker.on('error', (error: Error) => end(error.message))
    this.#worker.on('exit', () => end('the thread ended'))
  }

  /** Settles the task; never rejects. */
  async run({ document, resolve, reject }: Task): Promise<void> {
    this.isBusy = true
    await this.#ready
    const answer = await this.#ask(document)
    this.isBusy = false
    if (answer instanceof Error) reject(answer)
    else if (answer === 'ready' || 'refused' in answer)
      reject(new Unrenderable(answer === 'ready' ? answer : answer.refused))
    else resolve(answer.rendered)
  }

  async #ask(document: MarkdownDocument): Promise<FromThread | Error> {
    if (this.isDead) return new Exhausted('the thread ended')
    const { promise, resolve } = Promise.withResolvers<FromThread | Error>()
    this.#answer = resolve
    const watched = new AbortController()
    this.#worker.postMessage(document)
    void this.#watch(watched.signal)
    const answer = await promise
    watched.abort()
    this.#answer = undefined
    return answer
  }

  /** Ends the thread when its document exceeds a limit. */
  async #watch(signal: AbortSignal): Promise<void> {
    const { processorMs, timeoutMs } = this.#limits
    const usedMs = async (): Promise<number> => {
      const { user, system } = await this.#worker.cpuUsage()
      return (user + system) / 1000
    }
    try {
      const started = performance.now()
      const before = await usedMs()
      for (;;) {
        await setTimeout(Math.min(processorMs, timeoutMs) / 2, undefined, { signal, ref: false })
        const late = performance.now() - started > timeoutMs
        if (late || (await usedMs()) - before > processorMs) return await this.end()
      }
    } catch {
      // The document is rendered, or the thread has ended.
    }
  }

  async end(): Promise<void> {
    this.isDead = true
    await this.#worker.terminate()
  }
}
