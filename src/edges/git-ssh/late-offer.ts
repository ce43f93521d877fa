import type { Socket } from 'node:net'

/** Maximum delay, for clients that wait for the server's offer. */
const maxDelayMs = 10

/**
 * Delays the server's offer of algorithms until the client's offer arrives. OpenSSH sends its offer without waiting, but its
 * key only after the offer is acknowledged (Nagle's algorithm). The library does not respond to an offer, so the kernel would
 * acknowledge it after 40 ms; the server's offer, sent then, acknowledges it at once. Must be called before the library gets
 * the socket.
 */
export function offerLate(socket: Socket): void {
  socket.once('data', (said: Buffer) => {
    // The offer came together with the client's name; the client sends nothing more before the server's offer.
    if (said.indexOf('\n') !== said.length - 1) return
    socket.cork()
    const offer = () => {
      clearTimeout(timer)
      socket.off('data', offer)
      socket.uncork()
    }
    const timer = setTimeout(offer, maxDelayMs)
    socket.once('data', offer)
  })
}
