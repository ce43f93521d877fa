import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { announcesBody } from './source.ts'

/** How much of a body is read and discarded after the response was sent. */
export type LateBodyLimits = { readonly bytes: number; readonly ms: number }

/**
 * Discards what a client still sends when it has the response, as of a refused upload. Closing the connection at once would reset
 * it, and a client that reads only after writing would lose the response. A client that sends more than the limits is disconnected.
 * Source: RFC 9112, section 9.6.
 */
export function discardLateBody(req: IncomingMessage, res: ServerResponse, limits: LateBodyLimits): void {
  if (!announcesBody(req.headers)) return
  const { socket } = req
  // Node calls this after a response that ends the connection.
  socket.destroySoon = () => {
    if (req.complete) Socket.prototype.destroySoon.call(socket)
    else socket.end()
  }
  // Before 'finish', at which Node would take over a body that nothing has read, and not say how much of it arrives.
  res.once('prefinish', () => {
    if (req.complete) return
    const most = socket.bytesRead + limits.bytes
    const count = () => {
      if (socket.bytesRead > most) socket.destroy()
    }
    req.on('data', count).on('error', () => {})
    req.resume()
  })
  res.once('finish', () => {
    if (req.complete) return
    const watch = setTimeout(() => socket.destroy(), limits.ms).unref()
    for (const end of ['end', 'close'])
      req.once(end, () => {
        clearTimeout(watch)
        if (socket.writableEnded) socket.destroy()
      })
  })
}

/** How much may have been read of the connections that are ending, in bytes. */
const ending = new WeakMap<Socket, number>()

/**
 * Sends the last response of a connection whose client sends a malformed request, and discards what it still sends: Node finds
 * each further part malformed, too.
 */
export function endMalformed(socket: Socket, response: string, { bytes, ms }: LateBodyLimits): void {
  const most = ending.get(socket)
  if (most === undefined ? !socket.writable : socket.bytesRead > most) socket.destroy()
  if (most !== undefined || socket.destroyed) return
  ending.set(socket, socket.bytesRead + bytes)
  const watch = setTimeout(() => socket.destroy(), ms).unref()
  socket.once('close', () => clearTimeout(watch)).end(response)
}
