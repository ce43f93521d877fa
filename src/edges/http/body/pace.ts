import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Failure } from '../../../kernel/failure.ts'

/** Minimum speed of a body: it may take `graceMs`, plus one second per `bytesPerSecond` received. */
export type BodyPace = { graceMs: number; bytesPerSecond: number }

/** A poor mobile connection is faster; a client that trickles bytes to hold connections is not. */
export const usualPace: BodyPace = { graceMs: 30_000, bytesPerSecond: 2048 }

/** Time for the error response to go out before body and connection are destroyed. */
const farewellMs = 1000

/** Counts the bytes of a body as they arrive, without interfering with the reader of a request. */
function counter(body: Readable): { bytes: () => number; stop: () => void } {
  if (body instanceof IncomingMessage) {
    const { socket } = body
    const before = socket.bytesRead
    return { bytes: () => socket.bytesRead - before, stop: () => {} }
  }
  let bytes = 0
  const count = (chunk: Buffer): void => {
    bytes += chunk.length
  }
  body.on('data', count)
  return { bytes: () => bytes, stop: () => body.off('data', count) }
}

/**
 * Runs `read`, which must attach its listeners to the body synchronously. Fails with `timed_out` as soon as the body falls
 * behind `pace`, and destroys the body, so that `read` ends and cleans up.
 */
export async function atPace<T>(body: Readable, pace: BodyPace, read: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const reading = read()
  reading.catch(() => {})
  const received = counter(body)
  let watch: NodeJS.Timeout | undefined
  const tooSlow = new Promise<never>((_, reject) => {
    watch = setInterval(() => {
      const allowedMs = pace.graceMs + (received.bytes() / pace.bytesPerSecond) * 1000
      if (performance.now() - began <= allowedMs) return
      clearInterval(watch)
      setTimeout(() => body.destroy(), farewellMs).unref()
      reject(new Failure('timed_out', 'Request Timeout'))
    }, pace.graceMs / 4)
    watch.unref()
  })
  try {
    return await Promise.race([reading, tooSlow])
  } finally {
    clearInterval(watch)
    received.stop()
  }
}

/** How long the server may still wait for a client. */
export class PaceBudget {
  readonly #pace: BodyPace
  #leftMs: number

  constructor(pace: BodyPace) {
    this.#pace = pace
    this.#leftMs = pace.graceMs
  }

  get leftMs(): number {
    return Math.max(0, this.#leftMs)
  }

  /** Counts bytes for which the server has waited so long. False if the client is too slow. */
  add(bytes: number, waitedMs: number): boolean {
    this.#leftMs -= waitedMs
    if (this.#leftMs < 0) return false
    this.#leftMs += (bytes / this.#pace.bytesPerSecond) * 1000
    return true
  }
}

/**
 * The chunks of a body whose reader applies back-pressure: only time spent waiting for the client counts. Fails with
 * `timed_out` if the body falls behind `pace`; the caller must discard the rest.
 */
export async function* atPaceOfClient(body: AsyncIterable<Buffer>, pace: BodyPace): AsyncGenerator<Buffer> {
  const pieces = body[Symbol.asyncIterator]()
  const budget = new PaceBudget(pace)
  let isLate = false
  try {
    for (;;) {
      const began = performance.now()
      let watch: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        watch = setTimeout(() => {
          isLate = true
          reject(new Failure('timed_out', 'Request Timeout'))
        }, budget.leftMs)
      })
      const piece = await Promise.race([pieces.next(), late]).finally(() => clearTimeout(watch))
      if (piece.done) return
      budget.add(piece.value.length, performance.now() - began)
      yield piece.value
    }
  } finally {
    // Returns the iterator, so that others can read the rest. A late body returns it only with the next chunk.
    const returned = pieces.return?.()
    if (isLate) returned?.catch(() => {})
    else await returned
  }
}
