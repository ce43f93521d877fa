import { Duplex } from 'node:stream'
import { cutOff, type Exit, endedWell } from '../runner/protocol.ts'
import { isNothing, PackEnd, parseSmallRequest, type SmallRequest } from './push-request.ts'
import type { Received } from './receive-small.ts'
import type { Transfer } from './transfer-stream.ts'

/** What is larger or takes longer, in bytes and milliseconds, goes to git as it arrives. */
const maxHeldBytes = 256 * 1024
const maxHeldMs = 1000

export type ReceiveSessionOptions = {
  /** The refs, if the client has not asked for them in another request. */
  readonly greeting?: Buffer | undefined
  /** The client waits for the response without ending what it sends. */
  readonly staysOpen: boolean
  /** Receives a push without git's `receive-pack`; `undefined` if git has to. */
  receive(request: SmallRequest): Promise<Received | undefined>
  /** Starts git for one request and one response. */
  start(): Promise<Transfer>
}

/** One request of a push and its response: a small push is received in this process, any other by `receive-pack`. */
export class ReceiveSession extends Duplex {
  readonly done: Promise<Exit>
  readonly #options: ReceiveSessionOptions
  readonly #ended = Promise.withResolvers<Exit>()
  readonly #packEnd = new PackEnd()
  /** The request is the first `#heldBytes` of it. */
  #held: Buffer = Buffer.alloc(0)
  #heldBytes = 0
  /** Set while the request is held. */
  #timer: NodeJS.Timeout | undefined
  #git: Promise<Transfer> | undefined
  #isReceiving = false
  #isOver = false

  constructor(options: ReceiveSessionOptions) {
    super({ readableHighWaterMark: 256 * 1024, writableHighWaterMark: 256 * 1024, autoDestroy: true })
    this.#options = options
    this.done = this.#ended.promise
    this.done.catch(() => {})
    // The reader gets the error. Without a reader, an error without a listener would end the process.
    this.on('error', () => {})
    if (options.greeting) this.push(options.greeting)
    this.#timer = setTimeout(() => this.#passHeld().catch((error) => this.destroy(error)), maxHeldMs)
  }

  override _read(): void {
    void this.#git?.then(({ stream }) => stream.resume()).catch(() => {})
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#take([chunk]).then(() => done(), done)
  }

  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.#take(chunks.map(({ chunk }) => chunk)).then(() => done(), done)
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#finish().then(() => done(), done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#timer)
    this.#forget()
    if (this.#git) this.#git.then(({ stream }) => void stream.destroy(), this.#ended.reject)
    // What was decided on is completed.
    else if (!this.#isReceiving) this.#ended.resolve(cutOff)
    done(error)
  }

  async #take(chunks: readonly Buffer[]): Promise<void> {
    if (this.#isOver) return
    if (this.#git) return this.#pass(chunks)
    for (const chunk of chunks) this.#hold(chunk)
    if (this.#heldBytes > maxHeldBytes) return this.#passHeld()
    const bytes = this.#request()
    const request = parseSmallRequest(bytes, this.#packEnd)
    if (request === 'git' && !isNothing(bytes)) await this.#passHeld()
    else if (request !== 'more' && this.#options.staysOpen) await this.#answer(bytes, request)
  }

  async #finish(): Promise<void> {
    if (!this.#isOver && !this.#git) {
      const bytes = this.#request()
      await this.#answer(bytes, parseSmallRequest(bytes, this.#packEnd))
    }
    await this.#git?.then(({ stream }) => stream.end())
  }

  /** Makes room for twice as much when it is full: a request may arrive byte by byte. */
  #hold(chunk: Buffer): void {
    const size = this.#heldBytes + chunk.length
    if (size > this.#held.length) {
      const larger = Buffer.allocUnsafe(Math.max(size, 2 * this.#held.length))
      this.#held.copy(larger, 0, 0, this.#heldBytes)
      this.#held = larger
    }
    chunk.copy(this.#held, this.#heldBytes)
    this.#heldBytes = size
  }

  #request(): Buffer {
    return this.#held.subarray(0, this.#heldBytes)
  }

  #forget(): void {
    this.#held = Buffer.alloc(0)
    this.#heldBytes = 0
  }

  /** Answers the whole request, here or by git. */
  async #answer(bytes: Buffer, request: SmallRequest | 'more' | 'git'): Promise<void> {
    clearTimeout(this.#timer)
    if (isNothing(bytes)) return this.#end(Buffer.alloc(0))
    this.#isReceiving = true
    try {
      const received = typeof request === 'string' ? undefined : await this.#options.receive(request)
      if (!received) {
        this.#isReceiving = false
        return await this.#passHeld()
      }
      this.#end(received.report, received)
    } catch (error) {
      this.#ended.reject(error)
      throw error
    }
  }

  #end(report: Buffer, { error }: { readonly error?: unknown } = {}): void {
    this.#isOver = true
    this.#forget()
    if (!this.destroyed) {
      if (report.length > 0) this.push(report)
      this.push(null)
    }
    if (error === undefined) this.#ended.resolve(endedWell)
    else this.#ended.reject(error)
  }

  async #passHeld(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#git || this.#isReceiving || this.#isOver) return
    const held = this.#request()
    this.#forget()
    this.#git = this.#options.start().then((transfer) => this.#joined(transfer))
    await this.#pass(held.length === 0 ? [] : [held])
  }

  #joined(transfer: Transfer): Transfer {
    const { stream, done } = transfer
    done.then(this.#ended.resolve, this.#ended.reject)
    if (this.destroyed) stream.destroy()
    stream.on('data', (chunk: Buffer) => this.push(chunk) || stream.pause())
    stream.on('end', () => this.push(null))
    stream.on('error', (error) => this.destroy(error))
    return transfer
  }

  /** Passes bytes to git at its pace, with one system call. */
  async #pass(chunks: readonly Buffer[]): Promise<void> {
    const { stream } = await this.#git!
    const last = chunks.at(-1)
    if (!last) return
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    stream.cork()
    for (const chunk of chunks.slice(0, -1)) stream.write(chunk)
    stream.write(last, (error) => (error ? reject(error) : resolve()))
    stream.uncork()
    await promise
  }
}
