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

/** The thread that classifies files; terminated on disposal. */
export class Linguist implements AsyncDisposable {
  readonly #thread = new Worker(new URL('./linguist-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })
  readonly #deadline: NodeJS.Timeout
  readonly #types = new Map<string, string>()

  /** Terminates the thread after `timeoutMs` in total; pending requests fail. */
  constructor({ timeoutMs }: { timeoutMs: number }) {
    this.#thread.unref()
    // The pending request reports the error.
    this.#thread.on('error', () => {})
    this.#deadline = setTimeout(() => void this.#thread.terminate(), timeoutMs)
  }

  /** Classifies files, in their order. Throws if the thread dies. */
  async name({ files, ...how }: Batch): Promise<(Named | undefined)[]> {
    const named: (Named | undefined)[] = []
    for (let at = 0; at < files.length; at += batchSize) {
      const answer = await this.#ask({ files: files.slice(at, at + batchSize), ...how })
      named.push(...answer.files)
      for (const [name, type] of Object.entries(answer.types)) this.#types.set(name, type)
    }
    return named
  }

  /** Whether a language is programming or markup; assumed for languages that were only candidates. */
  isCounted(language: string): boolean {
    return ['programming', 'markup'].includes(this.#types.get(language) ?? 'programming')
  }

  async #ask(batch: Batch): Promise<Answer> {
    const gone = new AbortController()
    const died = once(this.#thread, 'exit', { signal: gone.signal }).then(() => {
      throw new Error('the language detection thread ended')
    })
    died.catch(() => {})
    try {
      this.#thread.postMessage(batch)
      const [answer] = (await Promise.race([once(this.#thread, 'message', { signal: gone.signal }), died])) as [Answer]
      return answer
    } finally {
      gone.abort()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#deadline)
    await this.#thread.terminate()
  }
}
