import { connect, type Socket } from 'node:net'

export type Target = Readonly<{ host: string; port: number }>
export type Answer = { status: number; bytes: number }

const endOfHead = Buffer.from('\r\n\r\n')

/** The bytes of a request. */
export function requestBytes(
  { host, port }: Target,
  path: string,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
  body?: Buffer,
): Buffer {
  const all = { host: `${host}:${port}`, ...headers, ...(body && { 'content-length': String(body.length) }) }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1')
  return body ? Buffer.concat([head, body]) : head
}

/**
 * A keep-alive connection with one request at a time, which parses only as much of the response as necessary, because the
 * client shares the processors with the service.
 */
export class Wire {
  readonly #target: Target
  #socket: Socket | undefined
  #waiting: PromiseWithResolvers<Answer> | undefined
  #status = 0
  /** Bytes of the body still expected; negative before the head is complete. */
  #left = -1
  #chunks: ChunkedEnd | undefined
  #bytes = 0
  #head: Buffer | undefined

  constructor(target: Target) {
    this.#target = target
  }

  /** Resolves when the response is complete. Rejects if the connection breaks; the next request opens another one. */
  send(request: Buffer): Promise<Answer> {
    this.#socket ??= this.#open()
    this.#waiting = Promise.withResolvers()
    this.#left = -1
    this.#bytes = 0
    this.#chunks = undefined
    this.#head = undefined
    this.#socket.write(request)
    return this.#waiting.promise
  }

  close(): void {
    this.#socket?.destroy()
  }

  #open(): Socket {
    const socket = connect(this.#target.port, this.#target.host).setNoDelay(true)
    const broke = () => {
      if (this.#socket !== socket) return
      this.#socket = undefined
      const waiting = this.#waiting
      this.#waiting = undefined
      waiting?.reject(new Error('the connection broke'))
    }
    return socket
      .on('data', (data) => this.#read(data))
      .on('error', broke)
      .on('close', broke)
  }

  #read(arrived: Buffer): void {
    let data = arrived
    if (this.#left < 0 && !this.#chunks) {
      if (this.#head) data = Buffer.concat([this.#head, data])
      const end = data.indexOf(endOfHead)
      if (end < 0) {
        this.#head = data
        return
      }
      this.#begin(data.toString('latin1', 0, end))
      data = data.subarray(end + 4)
    }
    this.#bytes += data.length
    if (this.#chunks) {
      if (this.#chunks.ends(data)) this.#finish()
    } else {
      this.#left -= data.length
      if (this.#left <= 0) this.#finish()
    }
  }

  #begin(head: string): void {
    this.#status = Number(head.slice(9, 12))
    const length = /\r\ncontent-length: (\d+)/i.exec(head)
    if (length) this.#left = Number(length[1])
    else if (/\r\ntransfer-encoding: chunked/i.test(head)) this.#chunks = new ChunkedEnd()
    else this.#left = 0
  }

  #finish(): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve({ status: this.#status, bytes: this.#bytes })
  }
}

/** Finds the end of a chunked body; does not support trailers. */
class ChunkedEnd {
  #skip = 0
  #line = ''
  #last = false

  ends(data: Buffer): boolean {
    let at = 0
    while (at < data.length) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, data.length - at)
        this.#skip -= step
        at += step
        if (this.#last && this.#skip === 0) return true
        continue
      }
      const end = data.indexOf(10, at)
      if (end < 0) {
        this.#line += data.toString('latin1', at)
        return false
      }
      const size = Number.parseInt(this.#line + data.toString('latin1', at, end), 16)
      this.#line = ''
      at = end + 1
      this.#last = size === 0
      // The line break after the chunk.
      this.#skip = size + 2
    }
    return false
  }
}
