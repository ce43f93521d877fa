import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Exchange, Headers } from './answer.ts'

const exposed = 'Link, X-Total, X-Total-Pages, X-Per-Page, X-Page, X-Next-Page, X-Prev-Page, ETag'

/** Allows any origin without credentials, and the site's own pages with credentials. */
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

/** The response headers of a CORS preflight. */
export const preflightHeaders = (req: IncomingMessage): Headers => ({
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': req.headers['access-control-request-headers'] ?? '*',
  'access-control-max-age': '7200',
})

const echoed = /^[\w.:-]{1,255}$/

/** `siteUrl` is the site's own origin, for CORS. A request id from the client is used if it is harmless. */
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
