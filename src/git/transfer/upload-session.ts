import { Duplex } from 'node:stream'
import { endsWithFlush, isFlush, Packets } from '../format/packets.ts'
import type { Child } from '../runner/child.ts'
import { cutOff, type Exit, endedWell } from '../runner/protocol.ts'
import type { FetchSharing, Shareable } from '../sharing/fetch-sharing.ts'
import type { ResponseReader, StartResponse } from '../sharing/shared-response.ts'
import { askingAgain } from './still-allowed.ts'

/** Larger requests are not shared: one of a clone has 50 bytes for each distinct commit of a ref. */
const maxSharedRequestBytes = 1024 * 1024

export type SessionOptions = {
  readonly sharing: FetchSharing
  readonly caller: string
  /** One request and one response; otherwise any number of requests, after what git says first. */
  readonly isStateless: boolean
  /** Throws if the client sends too much. */
  inspect(chunk: Buffer): void
  /** See `FetchOptions`. */
  readonly requireStill: (() => Promise<void>) | undefined
  /** The answer to a request that needs no git. */
  answer(packets: readonly Buffer[]): Promise<Buffer | undefined>
  /** Whether the response to a request may be shared, as in `shareable`. */
  shareable(packets: readonly Buffer[]): Promise<Shareable | undefined>
  /** What git says first in a session. */
  greeting(): Promise<Buffer>
  /** Starts git for this client. `movedBytes`: what the client got from shared responses. */
  start(movedBytes: () => number): Promise<Child>
  /** Starts git for one request. */
  startShared(request: Buffer): StartResponse
  readonly signal: AbortSignal | undefined
}

/** After this time without a request git starts for a session: it has the limits of an idle one. */
const maxQuietMs = 1000

/**
 * A fetch by protocol 2: answers requests with responses that equal fetches share, where it can, and passes all others to a git
 * process of its own. Errors and the end are those of a `Child`.
 */
export class UploadSession extends Duplex {
  readonly done: Promise<Exit>
  readonly #options: SessionOptions
  readonly #ended = Promise.withResolvers<Exit>()
  #own: Promise<Child> | undefined
  /** What git says first in a session, which the client has got before git was started. */
  #greeting: Packets | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #requireStill: () => Promise<void>
  readonly #packets = new Packets()
  #request: Buffer[] = []
  #requestBytes = 0
  /** All further bytes go to git: the request is too large, or not one of protocol 2. */
  #isPassing = false
  /** Git has answered what it was sent: its output ended with a flush. */
  #isIdle = true
  #isOver = false
  #wanted = Promise.withResolvers<void>()
  #reader: ResponseReader | undefined
  #sharedBytes = 0

  constructor(options: SessionOptions) {
    super({ readableHighWaterMark: 256 * 1024, writableHighWaterMark: 256 * 1024, autoDestroy: true })
    this.#options = options
    this.#requireStill = askingAgain(options.requireStill)
    this.done = this.#ended.promise
    this.done.catch(() => {})
    // The reader gets the error. Without a reader, an error without a listener would end the process.
    this.on('error', () => {})
    const { signal } = options
    const leave = () => this.destroy(signal!.reason as Error)
    signal?.addEventListener('abort', leave, { once: true })
    this.once('close', () => signal?.removeEventListener('abort', leave))
  }

  /** Sends what git says first in a session: its capabilities. Git starts for a request that needs it. */
  async begin(): Promise<void> {
    this.push(await this.#options.greeting())
    this.#greeting = new Packets()
    this.#timer = setTimeout(() => this.#child().catch((error) => this.destroy(error)), maxQuietMs)
  }

  #child(): Promise<Child> {
    clearTimeout(this.#timer)
    this.#own ??= this.#options
      .start(() => this.#sharedBytes)
      .then((child) => {
        if (this.destroyed) {
          child.destroy()
          return child
        }
        child.on('data', (bytes: Buffer) => {
          const chunk = this.#afterGreeting(bytes)
          if (chunk.length === 0) return
          this.#isIdle = endsWithFlush(chunk)
          if (!this.push(chunk)) child.pause()
        })
        child.on('end', () => this.#isOver || this.push(null))
        child.on('error', (error) => this.destroy(error))
        child.done.then(this.#ended.resolve, this.#ended.reject)
        return child
      })
    return this.#own
  }

  /** What of git's output is not in what it says first. */
  #afterGreeting(chunk: Buffer): Buffer {
    if (!this.#greeting) return chunk
    const packets = this.#greeting.push(chunk)
    const end = packets.findIndex(isFlush)
    if (end < 0) return Buffer.alloc(0)
    const after = Buffer.concat([...packets.slice(end + 1), this.#greeting.rest])
    this.#greeting = undefined
    return after
  }

  override _read(): void {
    this.#wanted.resolve()
    this.#wanted = Promise.withResolvers()
    void this.#own?.then((child) => child.resume()).catch(() => {})
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#receive(chunk).then(() => done(), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#receiveEnd().then(() => done(), done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer)
    this.#wanted.resolve()
    this.#reader?.leave()
    const cut = () => this.#ended.resolve(cutOff)
    if (this.#own) this.#own.then((child) => child.destroy(), cut)
    else cut()
    done(error)
  }

  async #receive(chunk: Buffer): Promise<void> {
    this.#options.inspect(chunk)
    if (this.#isOver) return
    await this.#requireStill()
    if (this.#isPassing) return this.#pass(chunk)
    let packets: Buffer[]
    try {
      packets = this.#packets.push(chunk)
    } catch {
      // Git reports the error.
      this.#isPassing = true
      return this.#pass(...this.#request, this.#packets.rest, chunk)
    }
    for (const packet of packets) {
      this.#request.push(packet)
      this.#requestBytes += packet.length
      if (isFlush(packet)) await this.#answer()
    }
    if (this.#requestBytes + this.#packets.rest.length <= maxSharedRequestBytes) return
    this.#isPassing = true
    await this.#pass(...this.#request, this.#packets.rest)
  }

  async #receiveEnd(): Promise<void> {
    if (this.#isOver) return
    if (!this.#own && !this.#options.isStateless && this.#requestBytes + this.#packets.rest.length === 0)
      return this.#leave(endedWell)
    if (!this.#isPassing) await this.#pass(...this.#request, this.#packets.rest)
    const child = await this.#child()
    await new Promise<void>((resolve) => child.end(() => resolve()))
  }

  /** Passes bytes to git at its pace. */
  async #pass(...bytes: readonly Buffer[]): Promise<void> {
    const child = await this.#child()
    const all = Buffer.concat(bytes)
    if (all.length === 0) return
    this.#isIdle = false
    await new Promise<void>((resolve, reject) => child.write(all, (error) => (error ? reject(error) : resolve())))
  }

  async #answer(): Promise<void> {
    const packets = this.#request
    this.#request = []
    this.#requestBytes = 0
    // The client ends the session.
    if (!this.#own && !this.#options.isStateless && packets.length === 1) return this.#leave(endedWell)
    // Git must have answered earlier requests before another response may follow.
    const answer = this.#isIdle ? await this.#options.answer(packets) : undefined
    if (answer) return this.#sendAnswer(answer)
    this.#reader = this.#isIdle ? await this.#joined(packets) : undefined
    if (!this.#reader || !(await this.#sendShared(this.#reader))) return this.#pass(...packets)
  }

  async #joined(packets: readonly Buffer[]): Promise<ResponseReader | undefined> {
    const { sharing, caller, shareable, startShared } = this.#options
    const wanted = await shareable(packets)
    return wanted && sharing.join(wanted, caller, startShared(Buffer.concat(packets)))
  }

  async #sendAnswer(answer: Buffer): Promise<void> {
    this.#sharedBytes += answer.length
    // A client that asks again and again without reading must wait.
    if (!this.push(answer)) await this.#wanted.promise
    this.#endAs(endedWell)
  }

  /** Sends a shared response at the client's pace. False if there is none, and nothing was sent. */
  async #sendShared(reader: ResponseReader): Promise<boolean> {
    const before = this.#sharedBytes
    try {
      while (!this.destroyed) {
        const part = await reader.next()
        if (!Buffer.isBuffer(part)) {
          if (this.#sharedBytes === before) return false
          this.#endAs(part)
          return true
        }
        this.#sharedBytes += part.length
        if (!this.push(part)) await this.#wanted.promise
      }
      return true
    } catch (error) {
      if (this.#sharedBytes > before) throw error
      return false
    } finally {
      reader.leave()
    }
  }

  /** Ends the session after its one request, or because git has ended with an error. */
  #endAs(exit: Exit): void {
    if (this.#options.isStateless || exit.code !== 0) this.#leave(exit)
  }

  #leave(exit: Exit): void {
    clearTimeout(this.#timer)
    this.#isOver = true
    this.#ended.resolve(exit)
    this.push(null)
    void this.#own?.then((child) => child.end()).catch(() => {})
  }
}
