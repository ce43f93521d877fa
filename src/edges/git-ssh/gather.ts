import type { Writable } from 'node:stream'

/**
 * Makes one write of all that is written in one turn. The library writes each packet in three or four pieces, and hands on
 * each that it read; without a delay each would be a system call, and of a socket a segment, of its own.
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
