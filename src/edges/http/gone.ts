import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The client closed the connection before it had its answer. */
export class ClientGone extends Error {
  override name = 'ClientGone'
}

/** The status that the log shows of a request whose client has gone, as nginx has it. No client gets it. */
export const clientGone = 499

/** What to do when a connection closes. One listener for each connection, however many requests are pipelined on it. */
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

const signals = new WeakMap<ServerResponse, AbortSignal>()

/**
 * Aborted, with a `ClientGone`, as soon as the connection ends before the answer is out: also when it ended before the
 * first call. It follows the connection, because a response that waits behind another on the same connection never emits
 * 'close' itself.
 */
export function goneSignal({ req, res }: { readonly req: IncomingMessage; readonly res: ServerResponse }): AbortSignal {
  const known = signals.get(res)
  if (known) return known
  const gone = new AbortController()
  signals.set(res, gone.signal)
  const leave = () => {
    closing.get(req.socket)?.delete(leave)
    if (!res.writableFinished) gone.abort(new ClientGone('the client closed the connection'))
  }
  if (res.destroyed || req.socket.destroyed) leave()
  else {
    onClose(req.socket, leave)
    res.once('close', leave)
  }
  return gone.signal
}
