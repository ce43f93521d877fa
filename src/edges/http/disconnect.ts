import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The client closed the connection before it received the whole response. */
export class ClientDisconnected extends Error {
  override name = 'ClientDisconnected'
}

/** The status in the log for a request whose client disconnected, as in nginx. Never sent. */
export const clientDisconnectedStatus = 499

/** Callbacks by connection: one listener per connection, however many requests are pipelined on it. */
const closing = new WeakMap<Socket, Set<() => void>>()

function onClose(socket: Socket, work: () => void): void {
  const known = closing.get(socket)
  if (known) {
    known.add(work)
    return
  }
  const all = new Set([work])
  closing.set(socket, all)
  socket.once('close', () => {
    for (const each of all) each()
  })
}

/** Calls `work` once: when the response is sent, or when the connection closes before. */
export function onEnd(
  { req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse },
  work: () => void,
): void {
  const end = () => {
    closing.get(req.socket)?.delete(end)
    res.off('close', end)
    work()
  }
  if (res.destroyed || req.socket.destroyed) return end()
  onClose(req.socket, end)
  res.once('close', end)
}

const signals = new WeakMap<ServerResponse, AbortSignal>()

/**
 * Aborts with `ClientDisconnected` when the connection closes before the response is sent, or has closed already. Listens to the
 * connection, because a response that waits behind another one on the same connection never emits 'close'.
 */
export function disconnectSignal({
  req,
  res,
}: {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}): AbortSignal {
  const known = signals.get(res)
  if (known) return known
  const disconnected = new AbortController()
  signals.set(res, disconnected.signal)
  onEnd({ req, res }, () => {
    if (!res.writableFinished) disconnected.abort(new ClientDisconnected('the client closed the connection'))
  })
  return disconnected.signal
}
