import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { Exit } from './protocol.ts'

/**
 * A running git process: writable is its stdin, readable its stdout, with back-pressure from end to end. How it went
 * is told by `done`, never by the stream: reading ends when the child has closed its output, however it died.
 */
export class Child extends Duplex {
  /** Resolves when the process has ended. Rejects with a `Failure('unavailable')` when the runner was lost. */
  readonly done: Promise<Exit>
  readonly pid: number
  /** The other end of the child's file descriptor 3, when it was asked for. */
  readonly channel: Socket | undefined
  readonly #socket: Socket
  readonly #kill: (signal: NodeJS.Signals) => void
  #inspect: ((chunk: Buffer) => void) | undefined
  #toError: ((exit: Exit) => Error | undefined) | undefined

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
      // The child has closed its input, too: both are one connection.
      this.#socket.end()
    }
    this.#socket.on('data', (chunk: Buffer) => this.push(chunk) || this.#socket.pause())
    this.#socket.on('end', ended)
    // A child that leaves input unread makes the kernel report a reset after the last byte of output: that is an end, too.
    this.#socket.on('error', ended)
    this.#socket.on('close', ended)
    this.#socket.pause()
  }

  /** Bytes that went either way so far. */
  get movedBytes(): number {
    return this.#socket.bytesRead + this.#socket.bytesWritten
  }

  /** Signals the child and its children; `done` still tells the end. */
  kill(signal: NodeJS.Signals = 'SIGTERM'): void {
    this.#kill(signal)
  }

  /** From now on the stream ends with an error, not with an end, when the process fails: half an answer is none. */
  failing(toError: (exit: Exit) => Error | undefined): this {
    this.#toError = toError
    return this
  }

  /** From now on `inspect` gets what is written first; when it throws, the stream and the process end with that error. */
  inspecting(inspect: (chunk: Buffer) => void): this {
    this.#inspect = inspect
    // The reader gets the error. When there is none any more, an error that is not listened for would end the process.
    return this.on('error', () => {})
  }

  #finish() {
    const toError = this.#toError
    if (!toError) return this.push(null)
    this.done.then(
      (exit) => {
        const error = toError(exit)
        if (error) this.destroy(error)
        else this.push(null)
      },
      (error) => this.destroy(error),
    )
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    // A child that stopped reading is no error of the writer: its exit code says what was wrong.
    if (!this.#socket.writable) return done()
    try {
      this.#inspect?.(chunk)
    } catch (error) {
      return done(error as Error)
    }
    this.#socket.write(chunk, () => done())
  }

  /** What was written while corked, in one call of the system. */
  override _writev(chunks: readonly { chunk: Buffer }[], done: (error?: Error | null) => void): void {
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
    // Nobody reads it any more. Nothing happens when it has ended.
    this.#kill('SIGTERM')
    this.#socket.destroy()
    this.channel?.destroy()
    done(error)
  }
}
