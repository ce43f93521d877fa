import type { Logger } from 'pino'
import type { Exchange } from './answer.ts'
import { ClientDisconnected, clientDisconnectedStatus } from './disconnect.ts'
import { answerFor, logFault, type WireAnswer } from './failures.ts'
import { loggedPath } from './logged-path.ts'

/**
 * Ends a request that failed: logs what the caller did not cause, and sends the answer. A response that has begun is cut off, so that the client
 * does not take it for whole. A client that disconnected gets none, and is no fault of the server.
 */
export function endFailed(
  { req, res, requestId }: Exchange,
  error: unknown,
  { log, what, send }: { readonly log: Logger; readonly what: string; readonly send: (answer: WireAnswer) => void },
): void {
  // `req.destroyed` does not tell: it is true for a request that is read, or that a handler stopped reading.
  if (error instanceof ClientDisconnected || res.destroyed || req.socket.destroyed) {
    res.statusCode = clientDisconnectedStatus
    return
  }
  logFault(log, error, { request_id: requestId, method: req.method, path: loggedPath(req.url!) }, what)
  if (res.headersSent) res.destroy()
  else send(answerFor(error))
}
