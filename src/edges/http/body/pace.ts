import type { Readable } from 'node:stream'
import { Failure } from '../../../kernel/failure.ts'

/** How slowly a body may come: within `graceMs`, and a second more for each `bytesPerSecond` that have come. */
export type BodyPace = { graceMs: number; bytesPerSecond: number }

/** A poor mobile connection is faster; who trickles bytes to hold connections is not. */
export const usualPace: BodyPace = { graceMs: 30_000, bytesPerSecond: 2048 }

/** The answer to a slow body gets this long to go out before body and connection are destroyed. */
const farewellMs = 1000

/**
 * What `read`, which must listen to the body before it waits for anything, makes of it; or a `timed_out` failure as soon
 * as the body falls behind `pace`. The body is destroyed then, with which `read` ends and cleans up.
 */
export async function atPace<T>(body: Readable, pace: BodyPace, read: () => Promise<T>): Promise<T> {
  let sizeBytes = 0
  const count = (chunk: Buffer): void => {
    sizeBytes += chunk.length
  }
  const began = Date.now()
  const reading = read()
  body.on('data', count)
  let watch: NodeJS.Timeout | undefined
  const tooSlow = new Promise<never>((_, reject) => {
    watch = setInterval(() => {
      const allowedMs = pace.graceMs + (sizeBytes / pace.bytesPerSecond) * 1000
      if (Date.now() - began <= allowedMs) return
      clearInterval(watch)
      setTimeout(() => body.destroy(), farewellMs).unref()
      reject(new Failure('timed_out', 'Request Timeout'))
    }, pace.graceMs / 4)
    watch.unref()
  })
  reading.catch(() => {})
  try {
    return await Promise.race([reading, tooSlow])
  } finally {
    clearInterval(watch)
    body.off('data', count)
  }
}
