import type { Helper } from './helper.ts'

type Member = { helper: Helper; usedAt: number; readonly madeAt: number }

/**
 * Keeps a limited number of helpers alive over all repositories; ends idle ones, least recently used first, and replaces old ones: git keeps
 * some of what it has read, and the packs that maintenance has deleted, as long as its process lives.
 */
export class HelperPool {
  readonly #max: number
  readonly #idleMs: number
  readonly #maxAgeMs: number
  /** In order of use. */
  readonly #members = new Map<string, Member>()
  /** No longer given to callers; each ends when it has answered. */
  readonly #retired = new Map<Helper, string>()
  readonly #closing = new Set<Promise<void>>()
  readonly #sweeper: NodeJS.Timeout

  constructor({ max, idleMs, maxAgeMs }: { max: number; idleMs: number; maxAgeMs: number }) {
    this.#max = max
    this.#idleMs = idleMs
    this.#maxAgeMs = maxAgeMs
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(10, idleMs / 4)).unref()
  }

  get size(): number {
    return this.#members.size
  }

  /** The helper for `key`, created if necessary. */
  take(key: string, make: () => Helper): Helper {
    const now = performance.now()
    const found = this.#members.get(key)
    if (found && now - found.madeAt < this.#maxAgeMs) {
      this.#members.delete(key)
      this.#members.set(key, found)
      found.usedAt = now
      return found.helper
    }
    if (found) this.#retire(key, found.helper)
    this.trim(this.#max - 1)
    const helper = make()
    this.#members.set(key, { helper, usedAt: now, madeAt: now })
    return helper
  }

  /**
   * Ends idle helpers until at most `max` are left. Never ends busy ones, so a burst over more repositories than `max` exceeds
   * the limit until they have answered.
   */
  trim(max: number = this.#max): void {
    for (const helper of [...this.#retired.keys()]) if (!helper.busy) this.#end(helper)
    for (const [key, { helper }] of [...this.#members]) {
      if (this.#members.size <= max) return
      if (!helper.busy) this.#retire(key, helper)
    }
  }

  /** The next callers get new helpers for keys that start with `prefix`: the files of the repository have changed in a way that git ignores. */
  retire(prefix: string): void {
    for (const [key, { helper }] of [...this.#members]) if (key.startsWith(prefix)) this.#retire(key, helper)
    this.trim()
  }

  /** Ends the helpers whose key starts with `prefix`. Resolves when their processes have ended. */
  async close(prefix = ''): Promise<void> {
    for (const [key, { helper }] of [...this.#members]) {
      if (!key.startsWith(prefix)) continue
      this.#members.delete(key)
      this.#awaitEnd(helper.close())
    }
    for (const [helper, key] of [...this.#retired]) {
      if (!key.startsWith(prefix)) continue
      this.#retired.delete(helper)
      this.#awaitEnd(helper.close())
    }
    await Promise.all(this.#closing)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    await this.close()
  }

  #sweep() {
    const before = performance.now() - this.#idleMs
    for (const [key, { helper, usedAt }] of [...this.#members]) {
      if (usedAt > before) return
      if (!helper.busy) this.#retire(key, helper)
    }
  }

  /** The next caller gets another helper; callers that have this one may still use it. */
  #retire(key: string, helper: Helper) {
    this.#members.delete(key)
    this.#retired.set(helper, key)
    if (!helper.busy) this.#end(helper)
  }

  #end(helper: Helper) {
    this.#retired.delete(helper)
    this.#awaitEnd(helper.retire())
  }

  #awaitEnd(end: Promise<void>) {
    const closing = end.finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
