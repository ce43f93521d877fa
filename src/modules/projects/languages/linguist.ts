import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Files to classify. */
export type Batch = {
  readonly files: readonly { readonly path: string; readonly content?: string }[]
  /** Include files that linguist excludes by their path. */
  readonly keepVendored: boolean
  /** Decide between candidate languages by content; otherwise all candidates are returned. Needs contents. */
  readonly weighsContent: boolean
}

export type Named = { readonly language: string | null; readonly others: readonly (string | null)[] }

export type Answer = {
  /** In the order of the batch; `undefined` for files that do not count. */
  readonly files: readonly (Named | undefined)[]
  /** Types of the languages found: `programming`, `markup`, `data`, `prose`. */
  readonly types: Readonly<Record<string, string>>
}

/** Maximum files per batch: linguist scans its lists for each file, so time grows with the square of a batch. */
const batchSize = 500

/** How long a thread waits for the next use, in milliseconds: starting one and its first answer take longer than most uses. */
const spareMs = 60_000

/** The thread took too much time or memory for a file, and would again. */
export class LinguistEnded extends Error {
  constructor() {
    super('the language detection thread ended')
  }
}

/** Classifies files in a thread, which the next use takes over. */
export class Linguist implements AsyncDisposable {
  /** The thread that the next use takes. */
  static #spare: LinguistThread | undefined

  readonly #thread: LinguistThread
  readonly #deadline: NodeJS.Timeout
  readonly #types = new Map<string, string>()

  /** Terminates the thread after `timeoutMs` in total; pending requests fail. */
  constructor({ timeoutMs }: { timeoutMs: number }) {
    this.#thread = Linguist.#take() ?? new LinguistThread()
    this.#deadline = setTimeout(() => void this.#thread.end(), timeoutMs)
  }

  static #take(): LinguistThread | undefined {
    const spare = Linguist.#spare
    Linguist.#spare = undefined
    return spare?.take() ? spare : undefined
  }

  /** Classifies files, in their order. Throws `LinguistEnded` if the thread takes too much time or memory, and what else ended it. */
  async name({ files, ...how }: Batch): Promise<(Named | undefined)[]> {
    const named: (Named | undefined)[] = []
    for (let at = 0; at < files.length; at += batchSize) {
      const answer = await this.#thread.ask({ files: files.slice(at, at + batchSize), ...how })
      named.push(...answer.files)
      for (const [name, type] of Object.entries(answer.types)) this.#types.set(name, type)
    }
    return named
  }

  /** Whether a language is programming or markup; assumed for languages that were only candidates. */
  isCounted(language: string): boolean {
    return ['programming', 'markup'].includes(this.#types.get(language) ?? 'programming')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#deadline)
    if (Linguist.#spare !== undefined || !this.#thread.isFree) return this.#thread.end()
    this.#thread.wait(spareMs)
    Linguist.#spare = this.#thread
  }
}

class LinguistThread {
  readonly #worker = new Worker(new URL('./linguist-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })
  #asked = 0
  #isDead = false
  /** Why it died, unless it took too much time or memory. */
  #failure: Error | undefined
  #spareTimer: NodeJS.Timeout | undefined

  constructor() {
    this.#worker.unref()
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ERR_WORKER_OUT_OF_MEMORY') this.#failure = error
    })
    this.#worker.on('exit', () => {
      this.#isDead = true
    })
  }

  /** Whether it can be used again: it lives, and everything is answered. */
  get isFree(): boolean {
    return !this.#isDead && this.#asked === 0
  }

  async ask(batch: Batch): Promise<Answer> {
    // It may have ended since the last answer, and then no event follows.
    if (this.#isDead) throw this.#failure ?? new LinguistEnded()
    const gone = new AbortController()
    const died = once(this.#worker, 'exit', { signal: gone.signal }).then(() => {
      throw this.#failure ?? new LinguistEnded()
    })
    died.catch(() => {})
    this.#asked++
    try {
      this.#worker.postMessage(batch)
      const [answer] = (await Promise.race([once(this.#worker, 'message', { signal: gone.signal }), died])) as [Answer]
      this.#asked--
      return answer
    } finally {
      gone.abort()
    }
  }

  /** Ends after this time, unless it is taken before. */
  wait(ms: number): void {
    this.#spareTimer = setTimeout(() => void this.end(), ms).unref()
  }

  /** Ends the wait; false if it has ended meanwhile. */
  take(): boolean {
    clearTimeout(this.#spareTimer)
    return !this.#isDead
  }

  async end(): Promise<void> {
    this.#isDead = true
    await this.#worker.terminate()
  }
}
