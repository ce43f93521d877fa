import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exchange, Headers } from './answer.ts'

const exposed = 'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, ETag'

/** Any origin without credentials; that of our own pages with them. */
function corsHeaders(origin: string | undefined, siteUrl: string): Headers {
  if (origin === undefined) return {}
  return origin === URL.parse(siteUrl)?.origin
    ? {
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-expose-headers': exposed,
      }
    : { 'access-control-allow-origin': '*', 'access-control-expose-headers': exposed }
}

/** The answer to a browser that asks before it sends. */
export const preflightHeaders = (req: IncomingMessage): Headers => ({
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': req.headers['access-control-request-headers'] ?? '*',
  'access-control-max-age': '7200',
})

const echoed = /^[\w.:-]{1,255}$/

/** `siteUrl` is ours, for CORS. A request id that the caller chose is kept when it is harmless. */
export function beginExchange(req: IncomingMessage, res: ServerResponse, siteUrl: string): Exchange {
  const given = req.headers['x-request-id']
  return {
    req,
    res,
    requestId: typeof given === 'string' && echoed.test(given) ? given : randomUUID(),
    began: performance.now(),
    headers: corsHeaders(req.headers.origin, siteUrl),
  }
}
