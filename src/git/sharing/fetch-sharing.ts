import { statfs } from 'node:fs/promises'
import { BlockPool } from './block-pool.ts'
import { GrowingBytes } from './growing-bytes.ts'
import { isLate } from './late.ts'
import { Peers } from './peers.ts'
import { type ResponseReader, SharedResponse, type Source, type StartResponse } from './shared-response.ts'

export type FetchSharingOptions = {
  /** For files without a name. Must exist; without it, nothing is shared. */
  readonly folder: string
  /** Where the server processes of this machine find each other, to share clones. Must exist, and be private. Without it, each has its own. */
  readonly sockets?: string
  /** Time in milliseconds for which further fetches may join a complete response. Default one minute. */
  readonly joinableMs?: number
  /** Maximum number of responses. Default 200. */
  readonly maxResponses?: number
  /** Maximum bytes of all responses. Default 2 GiB. */
  readonly maxBytes?: number
  /** Bytes of the disk that remain free for everything else. Default 1 GiB. */
  readonly minFreeBytes?: number
  /**
   * Time in milliseconds after which a client that takes nothing is cut off, if others wait for it: those of a response for which the disk has no room.
   * Default one minute.
   */
  readonly stalledMs?: number
}

/** How long a fetch waits for the process of another caller, who may have too many of them waiting. */
const otherCallerMs = 5_000
/** Free space is measured after this many bytes. */
const measuredBytes = 32 * 1024 * 1024

/** A response that may be shared. */
export type Shareable = {
  /** The same in all processes, and of equal responses only. */
  readonly key: string
  /** The client has nothing yet, so that the response is large. */
  readonly isClone: boolean
}

type Entry = {
  readonly response: SharedResponse
  readonly caller: string
  readonly origin: Origin
}

/** Who writes a response: git, or another process. `asking`, while the other processes are asked, before git starts. */
type Origin = {
  is: 'asking' | 'git' | 'peer'
  /** The processes whose answer is still to come, once they are known. */
  toAsk?: ReadonlySet<number>
}

/**
 * The responses that equal fetches share, of one server process (docs/adr/0023-equal-fetches-share-a-response.md). The key of a response has
 * everything that git's output depends on; the caller has checked that the client may read the repository.
 */
export class FetchSharing {
  readonly maxBytes: number
  readonly #options: Required<Omit<FetchSharingOptions, 'sockets'>>
  readonly #sockets: string | undefined
  #peers: Promise<Peers | undefined> | undefined
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>()
  /** All responses with bytes on disk, also those that no further fetch may join. */
  readonly #stored = new Set<SharedResponse>()
  readonly #pool = new BlockPool()
  #unmeasured = Number.POSITIVE_INFINITY
  #hasSpace = false

  constructor({
    folder,
    sockets,
    joinableMs = 60_000,
    maxResponses = 200,
    maxBytes = 2 * 1024 ** 3,
    minFreeBytes = 1024 ** 3,
    stalledMs = 60_000,
  }: FetchSharingOptions) {
    this.maxBytes = maxBytes
    this.#sockets = sockets
    this.#options = { folder, joinableMs, maxResponses, maxBytes, minFreeBytes, stalledMs }
  }

  /**
   * A reader of the response, which `start` produces unless another fetch has. `undefined` if nothing can be
   * shared now: the disk is full, or the first fetch waits for a process because its caller has too many.
   */
  async join(wanted: Shareable, caller: string, start: StartResponse): Promise<ResponseReader | undefined> {
    const { key } = wanted
    const known = this.#joinable(key)
    if (known) return this.#joinKnown(known, caller)
    if (!(await this.#mayGrow(0))) return undefined
    // Another fetch may have come first meanwhile.
    const { response } = this.#joinable(key) ?? this.#add(wanted, caller, start)
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
    const isRunning = !(await isLate(response.started, otherCallerMs).catch(() => true))
    if (isRunning) return reader
    reader.leave()
    return undefined
  }

  #add({ key, isClone }: Shareable, caller: string, startGit: StartResponse): Entry {
    const { folder, maxResponses, joinableMs } = this.#options
    if (this.#entries.size >= maxResponses) this.#forget(this.#entries.keys().next().value!)
    const bytes = new GrowingBytes(folder, this.#pool)
    const origin: Origin = { is: isClone && this.#sockets !== undefined ? 'asking' : 'git' }
    const start: StartResponse = async (signal) => {
      const found = origin.is === 'asking' ? await this.#askPeers(key, origin, signal) : undefined
      origin.is = found ? 'peer' : 'git'
      return found ?? startGit(signal)
    }
    const { stalledMs } = this.#options
    const response = new SharedResponse({ bytes, start, mayGrow: (more) => this.#mayGrow(more), stalledMs })
    const entry: Entry = { response, caller, origin }
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

  async #askPeers(key: string, origin: Origin, signal: AbortSignal): Promise<Source | undefined> {
    // The sockets are an economy: without them, each process starts git.
    this.#peers ??= Peers.listen(this.#sockets!, (...question) => this.#forPeer(...question)).catch(() => undefined)
    try {
      const listed = (toAsk: ReadonlySet<number>) => {
        origin.toAsk = toAsk
      }
      return await (await this.#peers)?.find(key, signal, listed)
    } catch {
      return undefined
    }
  }

  /**
   * Of two processes that ask each other at once, the one with the lower id starts git, and the other gets its response; one that this process has
   * asked before waits for what this process finds. What came from a process
   * is not given on: it would be shared for as long as clients come, even if its commits were removed from the repository.
   */
  async #forPeer(key: string, pid: number, gone: Promise<void>): Promise<ResponseReader | undefined> {
    const entry = this.#joinable(key)
    if (!entry) return undefined
    const { is, toAsk } = entry.origin
    if (is === 'asking' && pid < process.pid && (toAsk?.has(pid) ?? true)) return undefined
    const reader = entry.response.join()
    const started = entry.response.started.then(
      () => true,
      () => false,
    )
    const isRunning = await Promise.race([started, gone.then(() => false)])
    if (isRunning && entry.origin.is === 'git') return reader
    reader.leave()
    return undefined
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
    await (await this.#peers)?.[Symbol.asyncDispose]()
    for (const key of [...this.#entries.keys()]) this.#forget(key)
  }
}
