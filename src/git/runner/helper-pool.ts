import type { Helper } from './helper.ts'

type Member = { helper: Helper; usedAt: number }

/** Keeps a limited number of helpers alive over all repositories; ends idle ones, least recently used first. */
export class HelperPool {
  readonly #max: number
  readonly #idleMs: number
  /** In order of use. */
  readonly #members = new Map<string, Member>()
  /** No longer given to callers; each ends when it has answered. */
  readonly #retired = new Map<Helper, string>()
  readonly #closing = new Set<Promise<void>>()
  readonly #sweeper: NodeJS.Timeout

  constructor({ max, idleMs }: { max: number; idleMs: number }) {
    this.#max = max
    this.#idleMs = idleMs
    this.#sweeper = setInterval(() => this.#sweep(), Math.max(10, idleMs / 4)).unref()
  }

  get size(): number {
    return this.#members.size
  }

  /** The helper for `key`, created if necessary. */
  take(key: string, make: () => Helper): Helper {
    const found = this.#members.get(key)
    if (found) {
      this.#members.delete(key)
      this.#members.set(key, found)
      found.usedAt = performance.now()
      return found.helper
    }
    this.trim(this.#max - 1)
    const helper = make()
    this.#members.set(key, { helper, usedAt: performance.now() })
    return helper
  }

  /**
   * Ends idle helpers until at most `max` are left. Never ends busy ones, so a burst over more repositories than `max` exceeds
   * the limit until they have answered.
   */
  trim(max: number = this.#max): void {
    for (const [helper, key] of this.#retired) if (!helper.busy) this.#end(key, helper)
    for (const [key, { helper }] of this.#members) {
      if (this.#members.size <= max) return
      if (!helper.busy) this.#end(key, helper)
    }
  }

  /** The next callers get new helpers for keys that start with `prefix`: the files of the repository have changed in a way that git ignores. */
  retire(prefix: string): void {
    for (const [key, { helper }] of [...this.#members]) {
      if (!key.startsWith(prefix)) continue
      this.#members.delete(key)
      this.#retired.set(helper, key)
    }
    this.trim()
  }

  /** Ends the helpers whose key starts with `prefix`. Resolves when their processes have ended. */
  async close(prefix = ''): Promise<void> {
    for (const [key, { helper }] of [...this.#members]) if (key.startsWith(prefix)) this.#end(key, helper)
    for (const [helper, key] of [...this.#retired]) if (key.startsWith(prefix)) this.#end(key, helper)
    await Promise.all(this.#closing)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#sweeper)
    await this.close()
  }

  #sweep() {
    const before = performance.now() - this.#idleMs
    for (const [key, { helper, usedAt }] of this.#members) {
      if (usedAt > before) return
      if (!helper.busy) this.#end(key, helper)
    }
  }

  #end(key: string, helper: Helper) {
    if (!this.#retired.delete(helper)) this.#members.delete(key)
    const closing = helper.close().finally(() => this.#closing.delete(closing))
    this.#closing.add(closing)
  }
}
