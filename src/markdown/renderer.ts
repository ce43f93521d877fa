import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Counter } from 'prom-client'
import { escaped } from '../kernel/html.ts'
import { SharedSlots } from '../kernel/shares.ts'
import { limits } from './limits.ts'
import { MarkdownPool, type PoolLimits, poolLimits } from './pool.ts'
import type { MarkdownDocument, Rendered } from './types.ts'

const renders = new Counter({
  name: 'stithy_markdown_renders_total',
  help: 'Documents rendered, without those from the cache, by result: html, or text if a document exceeded a limit',
  labelNames: ['result'],
})

const cacheBytes = 32 * 1024 * 1024
/** A document that exceeded a limit may have done so because the machine was busy: it is tried again later. */
const textCachedMs = 600_000

/** Who renders, for the shares of the pool, and the version of what is cached. */
export type RenderOptions = {
  /** Owner of the share (`shareKeyOf`). */
  readonly caller: string
  /** Documents that were rendered with another version are rendered again. */
  readonly version: number
  readonly signal?: AbortSignal | undefined
}

/** Renders Markdown outside of the thread of requests, and caches the result. */
export class MarkdownRenderer implements AsyncDisposable {
  readonly #pool: MarkdownPool
  readonly #slots: SharedSlots
  readonly #cache = new LRUCache<string, Rendered>({ maxSize: cacheBytes, sizeCalculation: sizeOf })
  readonly #onText: (reason: string) => void
  readonly #running = new Map<string, Promise<Rendered>>()
  readonly #keys = new WeakMap<
    readonly MarkdownDocument[],
    { readonly version: number; readonly keys: readonly (string | undefined)[] }
  >()

  /** `onText` is called with the reason why a document is shown as text. */
  constructor(of: Partial<PoolLimits> = {}, onText: (reason: string) => void = () => {}) {
    this.#onText = onText
    this.#pool = new MarkdownPool(of)
    this.#slots = new SharedSlots('Markdown', { slots: of.threads ?? poolLimits.threads, maxWaiting: 200 })
  }

  /**
   * The HTML of documents, in their order; frozen, and the same object as long as it is cached. A document that exceeds a limit is its text. Rejects only if too many of the caller's
   * requests wait, and with the reason of the signal.
   */
  async render(
    documents: readonly MarkdownDocument[],
    { caller, version, signal }: RenderOptions,
  ): Promise<Rendered[]> {
    const keys = this.#keysOf(documents, version)
    // What is too long needs no thread, and is not cached.
    const known = documents.map((document, index) => {
      const key = keys[index]
      return key === undefined ? asText(document) : this.#cache.get(key)
    })
    if (known.every((rendered) => rendered !== undefined)) return known
    const rest = async (): Promise<Rendered[]> => {
      const rendered: Rendered[] = []
      for (const [index, document] of documents.entries()) {
        signal?.throwIfAborted()
        rendered.push(known[index] ?? (await this.#render(keys[index]!, document)))
      }
      return rendered
    }
    return this.#slots.run(caller, rest, signal)
  }

  /** The keys of documents, undefined for those that are too long. Made once for a list that is frozen. */
  #keysOf(documents: readonly MarkdownDocument[], version: number): readonly (string | undefined)[] {
    const known = this.#keys.get(documents)
    if (known?.version === version) return known.keys
    const keys = documents.map(({ text, context }) =>
      text.length > limits.text ? undefined : keyOf(`${JSON.stringify([version, context])}\n${text}`),
    )
    if (Object.isFrozen(documents)) this.#keys.set(documents, { version, keys })
    return keys
  }

  /** Requests for the same document share its result. */
  #render(key: string, document: MarkdownDocument): Promise<Rendered> {
    const known = this.#cache.get(key)
    if (known) return Promise.resolve(known)
    const running = this.#running.get(key) ?? this.#start(key, document).finally(() => this.#running.delete(key))
    this.#running.set(key, running)
    return running
  }

  async #start(key: string, document: MarkdownDocument): Promise<Rendered> {
    try {
      const rendered = Object.freeze(await this.#pool.render(document))
      renders.inc({ result: 'html' })
      this.#cache.set(key, rendered)
      return rendered
    } catch (error) {
      renders.inc({ result: 'text' })
      this.#onText(error instanceof Error ? error.message : String(error))
      const rendered = Object.freeze(asText(document))
      this.#cache.set(key, rendered, { ttl: textCachedMs })
      return rendered
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool[Symbol.asyncDispose]()
  }
}

/** Longer keys are hashed. Most titles and notes are shorter, for which the hash would cost more than the rest of the look-up. */
const maxKeyLength = 1000

const keyOf = (inputs: string): string => (inputs.length > maxKeyLength ? hash('sha256', inputs, 'base64') : inputs)

/** Approximate bytes of an entry. */
function sizeOf({ parts, references, targets }: Rendered, key: string): number {
  let size = 500 + 2 * key.length + 100 * (references.length + targets.length)
  for (const part of parts) size += 2 * part.length + 20
  for (const { fallback } of references) size += 2 * fallback.length
  return size
}

/** The text of a document that cannot be rendered. */
const asText = ({ text, context }: MarkdownDocument): Rendered => ({
  parts: [context.inline ? escaped(text) : `<pre>${escaped(text)}</pre>`],
  references: [],
  targets: [],
})
