import type { Socket } from 'node:net'

/**
 * Makes one write of all that is written in one turn. The library writes each packet in three or four pieces, and without
 * a delay each would be a system call and a segment of its own.
 */
export function gatherWrites(socket: Socket): void {
  const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
  let gathering = false
  socket.write = (...args: unknown[]): boolean => {
    if (!gathering) {
      gathering = true
      socket.cork()
      process.nextTick(() => {
        gathering = false
        socket.uncork()
      })
    }
    return write(...args)
  }
}
