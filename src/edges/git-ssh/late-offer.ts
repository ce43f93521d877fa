import type { Socket } from 'node:net'

/** Who says nothing after his name waits for our offer. */
const patienceMs = 10

/**
 * Keeps what we answer to a client's name, the offer of algorithms, until the client's own offer comes. OpenSSH sends that
 * without waiting for ours, and its key only when the offer is acknowledged (Nagle's algorithm). The library says nothing to
 * an offer, so the kernel would acknowledge it after 40 ms; ours, sent then, is the acknowledgement. To be called before the
 * library has the socket.
 */
export function offerLate(socket: Socket): void {
  socket.once('data', (said: Buffer) => {
    // His offer has come with his name: nothing more comes before ours.
    if (said.indexOf('\n') !== said.length - 1) return
    socket.cork()
    const offer = () => {
      clearTimeout(timer)
      socket.off('data', offer)
      socket.uncork()
    }
    const timer = setTimeout(offer, patienceMs)
    socket.once('data', offer)
  })
}
