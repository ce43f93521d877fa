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

/** A request as Fastify passes it on, or a part of it in tests. */
type Incoming = {
  readonly raw: IncomingMessage
  readonly ip: string
  readonly routeOptions: { readonly url?: string | undefined }
}

/** The route of a request that matches none. */
export const noRoute = 'none'

/**
 * `siteUrl` is the site's own origin, for CORS. A request id from the client is used if it is harmless. `route` is for handlers
 * that match more precisely than the router.
 */
export function beginExchange(
  request: Incoming,
  { raw: res }: { readonly raw: ServerResponse },
  siteUrl: string,
  route: string = request.routeOptions.url ?? noRoute,
): Exchange {
  const { raw: req, ip: remoteAddress } = request
  const given = req.headers['x-request-id']
  return {
    req,
    res,
    requestId: typeof given === 'string' && echoed.test(given) ? given : randomUUID(),
    remoteAddress,
    route,
    began: performance.now(),
    headers: corsHeaders(req.headers.origin, siteUrl),
  }
}
