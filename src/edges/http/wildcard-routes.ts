import type { Exchange } from './answer.ts'
import { beginExchange } from './exchange.ts'
import type { Routes } from './server.ts'

/** Serves one request, including failures. */
type Serve = (exchange: Exchange, remoteAddress: string) => Promise<void>

/** A matched URL. `route` names its pattern in log and metrics. */
type Matched = { readonly route: string; readonly serve: Serve }

/** Matches a URL; `undefined` if another handler must serve it. */
export type RouteMatcher = (method: string, url: string) => Matched | undefined

/** URLs that begin with a project path of any depth: the router cannot distinguish them, so the matchers do. */
export const wildcardRoutes =
  (siteUrl: string, matchers: readonly RouteMatcher[]): Routes =>
  (app) => {
    app.route({
      method: ['GET', 'HEAD', 'POST', 'PUT'],
      url: '/*',
      handler(request, reply) {
        for (const match of matchers) {
          const matched = match(request.raw.method!, request.raw.url!)
          if (!matched) continue
          reply.hijack()
          const exchange = beginExchange(request, reply, siteUrl, matched.route)
          return matched.serve(exchange, exchange.remoteAddress)
        }
        return reply.callNotFound()
      },
    })
  }
