import { createHash } from 'node:crypto'
import { Failure } from '../../kernel/failure.ts'
import { bandPackets, bands, Packets } from '../format/packets.ts'
import { RunnerLost } from '../runner/client.ts'
import { cutOff, type Exit } from '../runner/protocol.ts'
import { FetchResponse } from './fetch-response.ts'
import type { GrowingBytes } from './growing-bytes.ts'
import { isLate } from './late.ts'

/** The bytes of a response, and how git, which writes it, ended. */
export type Source = AsyncIterable<Buffer> & {
  /** Bytes that are read without waiting. */
  readonly readableLength: number
  readonly done: Promise<Exit>
}

/** Starts what writes the response. The signal ends it. */
export type StartResponse = (signal: AbortSignal) => Promise<Source>

/** One client's place in a response. */
export type ResponseReader = {
  /** More bytes, or how git ended. Rejects if the response cannot be completed. */
  next(): Promise<Buffer | Exit>
  /** Must be called at the end, and when the client disconnects; may be called again. */
  leave(): void
}

type ResponseParts = {
  /** Empty, for its own use. */
  readonly bytes: GrowingBytes
  readonly start: StartResponse
  /** Decides whether this many more bytes may be written to disk. */
  readonly mayGrow: (bytes: number) => Promise<boolean>
  /** Time in milliseconds after which a reader that takes nothing is cut off, if others wait for it. */
  readonly stalledMs: number
}

type Place = {
  position: number
  isCutOff: boolean
}

/** Several readers of a response that is being written get parts of at least this size, unless nothing comes for this time in milliseconds. */
const gatheredBytes = 256 * 1024
const pauseMs = 10
/** Bytes written at once. */
const batchBytes = 1024 * 1024

/** One response of `upload-pack`: written once, as fast as git can, and read by any number of clients at their own pace. */
export class SharedResponse {
  /** Resolves when the process runs. */
  readonly started: Promise<void>
  /** Resolves when the response is complete, with whether git succeeded and all bytes are stored. */
  readonly over: Promise<boolean>
  /** Resolves when its bytes are freed. */
  readonly closed: Promise<void>
  readonly #bytes: GrowingBytes
  readonly #start: StartResponse
  readonly #mayGrow: (bytes: number) => Promise<boolean>
  readonly #stalledMs: number
  readonly #stop = new AbortController()
  readonly #places = new Set<Place>()
  #changed = Promise.withResolvers<void>()
  /** Packets that no longer fit on disk: in memory until every reader has them, so that the slowest sets the pace. */
  #tail: Buffer | undefined
  #startOfTail = 0
  /** Nothing was stored for some time, although the response is not complete. */
  #isPausing = false
  #pause: NodeJS.Timeout | undefined
  #end: { exit: Exit } | { error: unknown } | undefined
  #isRetired = false
  readonly #close: () => void

  constructor({ bytes, start, mayGrow, stalledMs }: ResponseParts) {
    this.#bytes = bytes
    this.#start = start
    this.#mayGrow = mayGrow
    this.#stalledMs = stalledMs
    const started = Promise.withResolvers<void>()
    this.started = started.promise
    this.started.catch(() => {})
    const closed = Promise.withResolvers<void>()
    this.closed = closed.promise
    this.#close = closed.resolve
    this.over = this.#run(started).then(
      (exit) => exit.code === 0 && this.isJoinable,
      () => false,
    )
  }

  get size(): number {
    return this.#bytes.size
  }

  /** False once a new reader could not have all bytes: some are no longer stored, or git is ending because all readers have left. */
  get isJoinable(): boolean {
    return this.#tail === undefined && !this.#stop.signal.aborted
  }

  get hasReaders(): boolean {
    return this.#places.size > 0
  }

  /** A reader from the start of the response. The process ends when the last reader leaves before the end. */
  join(): ResponseReader {
    const place: Place = { position: 0, isCutOff: false }
    this.#places.add(place)
    return {
      next: async () => {
        if (place.isCutOff)
          throw new Failure('unavailable', 'The client took nothing for too long while others waited.')
        const part = await this.#next(place.position)
        if (!Buffer.isBuffer(part)) return part
        place.position += part.length
        if (this.#tail) this.#wake()
        return part
      },
      leave: () => {
        this.#places.delete(place)
        this.#wake()
        if (this.#served.length === 0 && !this.#end) this.#stop.abort()
        this.#closeIfUnused()
      },
    }
  }

  /** The readers that have not been cut off. */
  get #served(): Place[] {
    return [...this.#places].filter(({ isCutOff }) => !isCutOff)
  }

  /** Frees the bytes after the last reader has left. */
  retire(): void {
    this.#isRetired = true
    this.#closeIfUnused()
  }

  #closeIfUnused(): void {
    if (!this.#isRetired || this.hasReaders || !this.#end) return
    this.#bytes[Symbol.asyncDispose]().then(this.#close, this.#close)
  }

  #wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  async #next(position: number): Promise<Buffer | Exit> {
    for (;;) {
      const stored = this.#bytes.size - position
      if (stored > 0 && !(stored < gatheredBytes && this.#isGrowing)) return this.#bytes.read(position)
      if (this.#tail && position < this.#endOfTail) return this.#tail.subarray(position - this.#startOfTail)
      if (this.#end) {
        if ('error' in this.#end) throw this.#end.error
        return this.#end.exit
      }
      await this.#changed.promise
    }
  }

  /** More bytes will soon be stored. A single reader does not wait for them: it gets each part as it comes. */
  get #isGrowing(): boolean {
    return this.#places.size > 1 && !this.#end && !this.#tail && !this.#isPausing
  }

  #noticePause(): void {
    this.#isPausing = false
    this.#pause ??= setTimeout(() => {
      this.#isPausing = true
      this.#wake()
    }, pauseMs).unref()
    this.#pause.refresh()
  }

  get #endOfTail(): number {
    return this.#startOfTail + (this.#tail?.length ?? 0)
  }

  async #run(started: PromiseWithResolvers<void>): Promise<Exit> {
    try {
      let written = await this.#write(started, undefined)
      // A killed process is replaced once: its readers do not notice.
      if (written.isCutOff && !this.#tail && !this.#stop.signal.aborted)
        written = await this.#write(started, await this.#contentSoFar())
      if (written.lost) throw written.lost
      if (written.errors.length > 0) await this.#append(written.errors)
      await this.#bytes.finish()
      this.#end = { exit: written.exit }
      return written.exit
    } catch (error) {
      started.reject(error)
      this.#end = { error }
      throw error
    } finally {
      clearTimeout(this.#pause)
      this.#wake()
      this.#closeIfUnused()
    }
  }

  /** Runs git to its end. `known` is the content that readers have from an earlier run, and is not written again. */
  async #write(started: PromiseWithResolvers<void>, known: Content | undefined): Promise<Written> {
    const source = await this.#start(this.#stop.signal)
    started.resolve()
    const packets = new Packets()
    const response = new FetchResponse()
    const skip = known && new Skip(known)
    const errors: Buffer[] = []
    let batch: Buffer[] = []
    let size = 0
    for await (const chunk of source) {
      for (const packet of packets.push(chunk)) {
        const content = response.contentOf(packet)
        if (content === undefined || errors.length > 0) errors.push(packet)
        else batch.push(...(skip ? skip.pass(packet, content) : [packet]))
      }
      size += chunk.length
      if (source.readableLength > 0 && size < batchBytes) continue
      await this.#append(batch)
      batch = []
      size = 0
    }
    await this.#append(batch)
    let lost: RunnerLost | undefined
    const exit = await source.done.catch((error) => {
      if (!(error instanceof RunnerLost)) throw error
      lost = error
      return cutOff
    })
    skip?.end()
    return { exit, errors, isCutOff: !exit.timedOut && (exit.signal !== null || errors.length > 0), lost }
  }

  async #append(packets: readonly Buffer[]): Promise<void> {
    const length = packets.reduce((sum, each) => sum + each.length, 0)
    if (length === 0) return
    if (!this.#tail) {
      try {
        if (await this.#mayGrow(length)) {
          await this.#bytes.append(packets, length)
          this.#noticePause()
          return this.#wake()
        }
      } catch {
        // A full disk, for example. What is written remains readable.
      }
    }
    this.#startOfTail = this.#tail ? this.#endOfTail : this.#bytes.size
    this.#tail = Buffer.concat(packets)
    this.#wake()
    await this.#everyoneHasTail()
  }

  /** Waits until each reader has the tail. If none takes anything for a time while others have it, those that lack it are cut off. */
  async #everyoneHasTail(): Promise<void> {
    for (;;) {
      const served = this.#served
      const behind = served.filter(({ position }) => position < this.#endOfTail)
      if (behind.length === 0) return
      const changed = this.#changed.promise
      if (behind.length === served.length) await changed
      else if (await isLate(changed, this.#stalledMs)) for (const place of behind) place.isCutOff = true
    }
  }

  async #contentSoFar(): Promise<Content> {
    const digest = createHash('sha256')
    const packets = new Packets()
    const response = new FetchResponse()
    let length = 0
    for (let at = 0; at < this.#bytes.size; ) {
      const chunk = await this.#bytes.read(at)
      at += chunk.length
      for (const packet of packets.push(chunk)) {
        const content = response.contentOf(packet)!
        digest.update(content)
        length += content.length
      }
    }
    return { length, sha256: digest.digest('hex') }
  }
}

type Written = {
  readonly exit: Exit
  /** The packets from git's report of an error on. */
  readonly errors: readonly Buffer[]
  /** The process was killed, or one that it needs. */
  readonly isCutOff: boolean
  /** The runner was killed, and the process with it. */
  readonly lost: RunnerLost | undefined
}

type Content = { readonly length: number; readonly sha256: string }

/** Leaves out the content that readers have, after it has compared it. */
class Skip {
  readonly #known: Content
  readonly #digest = createHash('sha256')
  #length = 0
  #isOver = false

  constructor(known: Content) {
    this.#known = known
  }

  /** What of the packet the readers lack. Throws if the content differs from the known one. */
  pass(packet: Buffer, content: Buffer): Buffer[] {
    if (this.#isOver) return [packet]
    const rest = this.#known.length - this.#length
    this.#digest.update(content.subarray(0, rest))
    this.#length += Math.min(rest, content.length)
    if (content.length < rest) return []
    this.#compare()
    if (content.length === rest) return []
    return rest === 0 ? [packet] : [Buffer.concat([...bandPackets(bands.pack, content.subarray(rest))])]
  }

  end(): void {
    if (!this.#isOver) this.#compare()
  }

  #compare(): void {
    this.#isOver = true
    if (this.#length !== this.#known.length || this.#digest.digest('hex') !== this.#known.sha256)
      throw new Failure('unavailable', 'The git process was interrupted. Retry later.')
  }
}
