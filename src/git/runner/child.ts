import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Exit } from './protocol.ts'

/** Throws or rejects if the process must not get the chunk. */
type Inspect = (chunk: Buffer) => void | Promise<void>

/** Changes the output: what is passed for a chunk, and at the end. */
type Filter = { push(chunk: Buffer): Buffer; end(): Buffer }

/**
 * A running git process: the writable side is its stdin, the readable side its stdout, with back-pressure. Only `done` reports
 * the exit; the stream ends when the child closes its output, whatever the reason.
 */
export class Child extends Duplex {
  /** Resolves when the process has ended. Rejects with `Failure('unavailable')` if the connection to the runner is lost. */
  readonly done: Promise<Exit>
  readonly pid: number
  /** The other end of the child's file descriptor 3, if requested. */
  readonly channel: Socket | undefined
  readonly #socket: Socket
  readonly #kill: (signal: NodeJS.Signals) => void
  #inspect: Inspect | undefined
  #filter: Filter | undefined
  #requireSuccess: ((exit: Exit) => Promise<void>) | undefined
  #lastOf: ((exit: Exit) => Buffer | undefined) | undefined

  constructor(options: {
    socket: Socket
    channel: Socket | undefined
    pid: number
    done: Promise<Exit>
    kill(signal: NodeJS.Signals): void
  }) {
    super({ readableHighWaterMark: 256 * 1024, writableHighWaterMark: 256 * 1024, autoDestroy: true })
    this.#socket = options.socket
    this.#kill = options.kill
    this.channel = options.channel
    this.pid = options.pid
    this.done = options.done
    let over = false
    const ended = () => {
      if (over) return
      over = true
      if (!this.destroyed) this.#finish()
      // The child has closed its input as well: both are one connection.
      this.#socket.end()
    }
    this.#socket.on('data', (chunk: Buffer) => this.#pass(this.#filter?.push(chunk) ?? chunk))
    this.#socket.on('end', ended)
    // If a child leaves input unread, the kernel reports a reset after the last output; that is an end, too.
    this.#socket.on('error', ended)
    this.#socket.on('close', ended)
    this.#socket.pause()
    // Without output, it may have ended before: the notice that the child runs comes by another connection.
    if (this.#socket.readableEnded || this.#socket.destroyed) process.nextTick(ended)
  }

  /** Bytes transferred in both directions so far. */
  get movedBytes(): number {
    return this.#socket.bytesRead + this.#socket.bytesWritten
  }

  /** Signals the child and its children; `done` reports the exit. */
  kill(signal: NodeJS.Signals = 'SIGTERM'): void {
    this.#kill(signal)
  }

  /** Ends the input of the child; what is written afterwards is discarded. */
  endInput(): void {
    this.#socket.end()
  }

  /** Makes the stream fail instead of end if this rejects, so that readers do not take partial output for the result. */
  failing(requireSuccess: (exit: Exit) => Promise<void>): this {
    this.#requireSuccess = requireSuccess
    // Its reader may begin after the process has failed, and learns of it then.
    this.on('error', () => {})
    return this
  }

  /** Adds to the output, by how the process ended. */
  endingWith(lastOf: (exit: Exit) => Buffer | undefined): this {
    this.#lastOf = lastOf
    return this
  }

  /** Passes all written chunks to `inspect` first; if it throws or rejects, the stream and the process end with that error. */
  inspecting(inspect: Inspect): this {
    this.#inspect = inspect
    // The reader gets the error. Without a reader, an error without a listener would end the process.
    return this.on('error', () => {})
  }

  /** Passes all output through a filter before it is read. */
  filtering(filter: Filter): this {
    this.#filter = filter
    return this
  }

  #pass(output: Buffer): void {
    if (output.length > 0 && !this.push(output)) this.#socket.pause()
  }

  #finish() {
    if (this.#filter) this.#pass(this.#filter.end())
    const requireSuccess = this.#requireSuccess
    const lastOf = this.#lastOf
    if (!requireSuccess && !lastOf) return this.push(null)
    const end = async () => {
      const exit = await this.done
      await requireSuccess?.(exit)
      const last = lastOf?.(exit)
      if (last) this.push(last)
      this.push(null)
    }
    end().catch((error) => (requireSuccess ? this.destroy(error) : this.push(null)))
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // That a child stops reading is not an error of the writer; the exit code reports the problem.
    if (!this.#socket.writable) return done()
    const write = () => void this.#socket.write(chunk, () => done())
    try {
      const inspected = this.#inspect?.(chunk)
      if (inspected) inspected.then(write, done)
      else write()
    } catch (error) {
      done(error as Error)
    }
  }

  /** Writes what was written while corked in one system call. */
  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    // One at a time is inspected.
    if (this.#inspect) return this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'binary', done)
    const last = chunks.length - 1
    let failed = false
    const fail = (error?: Error | null) => {
      if (!error || failed) return
      failed = true
      done(error)
    }
    this.#socket.cork()
    for (const [index, { chunk }] of chunks.entries()) {
      if (failed) break
      this._write(chunk, 'binary', index === last ? (error) => (error ? fail(error) : done()) : fail)
    }
    this.#socket.uncork()
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#socket.writable) this.#socket.end(() => done())
    else done()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    // The stream has no reader any more. No effect if the child has ended.
    this.#kill('SIGTERM')
    this.#socket.destroy()
    this.channel?.destroy()
    done(error)
  }
}
