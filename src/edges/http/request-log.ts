import type { Logger } from 'pino'
import type { Caller } from '../../access/actor.ts'
import type { Exchange } from './answer.ts'
import { loggedPath } from './logged-path.ts'
import { observeAnswer } from './metrics.ts'

/** Writes one log line per request. */
export function logAnswer(log: Logger, exchange: Exchange, caller: Caller): void {
  const { req, res, requestId, remoteAddress, route, began } = exchange
  const seconds = (performance.now() - began) / 1000
  observeAnswer(req.method!, route, res.statusCode, seconds)
  log.info(
    {
      method: req.method,
      path: loggedPath(req.url!),
      route,
      status: res.statusCode,
      duration_ms: Math.round(seconds * 1e6) / 1e3,
      remote_address: remoteAddress,
      request_id: requestId,
      ...(caller && { 'user.id': caller.id, user: caller.username }),
    },
    'request',
  )
}
