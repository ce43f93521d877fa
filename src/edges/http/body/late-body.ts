import type { IncomingMessage, ServerResponse } from 'node:http'

/** How much of a body is read and discarded after the response was sent. */
export type LateBodyLimits = { readonly bytes: number; readonly ms: number }

/**
 * Discards what a client still sends when it has the response, as of a refused upload. Closing the connection at once would reset
 * it, and a client that reads only after writing would lose the response. A client that sends more than the limits is disconnected.
 * Source: RFC 9112, section 9.6.
 */
export function discardLateBody(req: IncomingMessage, res: ServerResponse, { bytes, ms }: LateBodyLimits): void {
  if (req.headers['content-length'] === undefined && req.headers['transfer-encoding'] === undefined) return
  res.once('finish', () => {
    if (req.complete) return
    const { socket } = req
    const most = socket.bytesRead + bytes
    const watch = setTimeout(() => socket.destroy(), ms).unref()
    const count = () => {
      if (socket.bytesRead > most) socket.destroy()
    }
    req.on('data', count).on('error', () => {})
    for (const end of ['end', 'close']) req.once(end, () => clearTimeout(watch))
    req.resume()
  })
}
