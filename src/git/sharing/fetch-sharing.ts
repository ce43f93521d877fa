import { statfs } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { type ResponseReader, SharedResponse, type StartResponse } from './shared-response.ts'

export type FetchSharingOptions = {
  /** For files without a name. Must exist; without it, nothing is shared. */
  readonly folder: string
  /** Time in milliseconds for which further fetches may join a complete response. Default one minute. */
  readonly joinableMs?: number
  /** Maximum number of responses. Default 200. */
  readonly maxResponses?: number
  /** Maximum bytes of all responses. Default 2 GiB. */
  readonly maxBytes?: number
  /** Bytes of the disk that remain free for everything else. Default 1 GiB. */
  readonly minFreeBytes?: number
}

/** How long a fetch waits for the process of another caller, who may have too many of them waiting. */
const otherCallerMs = 5_000
/** Free space is measured after this many bytes. */
const measuredBytes = 32 * 1024 * 1024

type Entry = { readonly response: SharedResponse; readonly caller: string }

/**
 * The responses that equal fetches share, of one server process (docs/adr/0023-equal-fetches-share-a-response.md). The key of a response has
 * everything that git's output depends on; the caller has checked that the client may read the repository.
 */
export class FetchSharing {
  readonly maxBytes: number
  readonly #options: Required<FetchSharingOptions>
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>()
  /** All responses with bytes on disk, also those that no further fetch may join. */
  readonly #stored = new Set<SharedResponse>()
  #unmeasured = Number.POSITIVE_INFINITY
  #hasSpace = false

  constructor({
    folder,
    joinableMs = 60_000,
    maxResponses = 200,
    maxBytes = 2 * 1024 ** 3,
    minFreeBytes = 1024 ** 3,
  }: FetchSharingOptions) {
    this.maxBytes = maxBytes
    this.#options = { folder, joinableMs, maxResponses, maxBytes, minFreeBytes }
  }

  /**
   * A reader of the response with this key, which `start` produces unless another fetch has. `undefined` if nothing can be
   * shared now: the disk is full, or the first fetch waits for a process because its caller has too many.
   */
  async join(key: string, caller: string, start: StartResponse): Promise<ResponseReader | undefined> {
    const known = this.#joinable(key)
    if (known) return this.#joinKnown(known, caller)
    if (!(await this.#mayGrow(0))) return undefined
    // Another fetch may have come first meanwhile.
    const { response } = this.#joinable(key) ?? this.#add(key, caller, start)
    return response.join()
  }

  #joinable(key: string): Entry | undefined {
    const entry = this.#entries.get(key)
    if (!entry || entry.response.isJoinable) return entry
    this.#forget(key)
    return undefined
  }

  async #joinKnown({ response, caller: first }: Entry, caller: string): Promise<ResponseReader | undefined> {
    const reader = response.join()
    if (first === caller) return reader
    const timer = new AbortController()
    const isRunning = await Promise.race([
      response.started.then(
        () => true,
        () => false,
      ),
      delay(otherCallerMs, false, { signal: timer.signal, ref: false }).catch(() => false),
    ])
    timer.abort()
    if (isRunning) return reader
    reader.leave()
    return undefined
  }

  #add(key: string, caller: string, start: StartResponse): Entry {
    const { folder, maxResponses, joinableMs } = this.#options
    if (this.#entries.size >= maxResponses) this.#forget(this.#entries.keys().next().value!)
    const response = new SharedResponse(folder, start, (bytes) => this.#mayGrow(bytes))
    const entry: Entry = { response, caller }
    this.#entries.set(key, entry)
    this.#stored.add(response)
    const forget = () => this.#entries.get(key) === entry && this.#forget(key)
    void response.over.then((isGood) => {
      if (isGood) setTimeout(forget, joinableMs).unref()
      else forget()
    })
    void response.closed.then(() => this.#stored.delete(response))
    return entry
  }

  #forget(key: string): void {
    const { response } = this.#entries.get(key)!
    this.#entries.delete(key)
    response.retire()
  }

  /** Whether there is room for this many more bytes. Removes responses that nothing reads, if that makes room. */
  async #mayGrow(bytes: number): Promise<boolean> {
    const { maxBytes } = this.#options
    if (this.#sizes() + bytes > maxBytes)
      for (const [key, { response }] of this.#entries) {
        if (!response.hasReaders) this.#forget(key)
        if (this.#sizes() + bytes <= maxBytes) break
      }
    return this.#sizes() + bytes <= maxBytes && (await this.#leavesSpace(bytes))
  }

  #sizes(): number {
    let sum = 0
    for (const { size } of this.#stored) sum += size
    return sum
  }

  async #leavesSpace(bytes: number): Promise<boolean> {
    this.#unmeasured += bytes
    if (this.#unmeasured < measuredBytes && this.#hasSpace) return true
    this.#unmeasured = 0
    this.#hasSpace = await statfs(this.#options.folder).then(
      ({ bavail, bsize }) => bavail * bsize - bytes >= this.#options.minFreeBytes,
      () => false,
    )
    return this.#hasSpace
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const key of [...this.#entries.keys()]) this.#forget(key)
  }
}
