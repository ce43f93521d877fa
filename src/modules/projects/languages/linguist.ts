import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Files to name the language of. */
export type Batch = {
  readonly files: readonly { readonly path: string; readonly content?: string }[]
  /** Look at files, too, that are not of the project by their path. */
  readonly keepVendored: boolean
  /** Let patterns decide between candidates; without, all of them are answered. Needs contents. */
  readonly weighsContent: boolean
}

export type Named = { readonly language: string | null; readonly others: readonly (string | null)[] }

export type Answer = {
  /** In the order of the batch; `undefined` for those that do not count. */
  readonly files: readonly (Named | undefined)[]
  /** Kinds of the languages that were found: `programming`, `markup`, `data`, `prose`. */
  readonly types: Readonly<Record<string, string>>
}

/** Its lists are walked for each file, so time grows with the square of a batch. */
const batchSize = 500

/** The thread that knows languages, for as long as it is in use. */
export class Linguist implements AsyncDisposable {
  readonly #thread = new Worker(new URL('./linguist-thread.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  })
  readonly #deadline: NodeJS.Timeout
  readonly #types = new Map<string, string>()

  /** After `timeoutMs` in all, whatever is being asked fails. */
  constructor({ timeoutMs }: { timeoutMs: number }) {
    this.#thread.unref()
    // Whoever asks hears of it.
    this.#thread.on('error', () => {})
    this.#deadline = setTimeout(() => void this.#thread.terminate(), timeoutMs)
  }

  /** What the files are, in their order. Rejects when the thread dies. */
  async name({ files, ...how }: Batch): Promise<(Named | undefined)[]> {
    const named: (Named | undefined)[] = []
    for (let at = 0; at < files.length; at += batchSize) {
      const answer = await this.#ask({ files: files.slice(at, at + batchSize), ...how })
      named.push(...answer.files)
      for (const [name, type] of Object.entries(answer.types)) this.#types.set(name, type)
    }
    return named
  }

  /** Whether people write programs or pages in a language; so it is taken of one that was only among the candidates. */
  isCounted(language: string): boolean {
    return ['programming', 'markup'].includes(this.#types.get(language) ?? 'programming')
  }

  async #ask(batch: Batch): Promise<Answer> {
    const gone = new AbortController()
    const died = once(this.#thread, 'exit', { signal: gone.signal }).then(() => {
      throw new Error('the thread that names languages has ended')
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
