import type { Writable } from 'node:stream'

/**
 * Combines all writes of one turn of the event loop. The library writes each packet in three or four pieces; otherwise each
 * would be a system call, and on a socket a segment of its own.
 */
export function gatherWrites(stream: Writable): void {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean
  let gathering = false
  stream.write = (...args: unknown[]): boolean => {
    if (!gathering) {
      gathering = true
      stream.cork()
      process.nextTick(() => {
        gathering = false
        stream.uncork()
      })
    }
    return write(...args)
  }
}
