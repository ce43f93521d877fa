import type { Exchange } from './answer.ts'
import { beginExchange } from './exchange.ts'
import type { Routes } from './server.ts'

/** Serves one request, including failures. */
type Serve = (exchange: Exchange, remoteAddress: string) => Promise<void>

/** Matches a URL; `undefined` if another handler must serve it. */
export type RouteMatcher = (method: string, url: string) => Serve | undefined

/** URLs that begin with a project path of any depth: the router cannot distinguish them, so the matchers do. */
export const wildcardRoutes =
  (siteUrl: string, matchers: readonly RouteMatcher[]): Routes =>
  (app) => {
    app.route({
      method: ['GET', 'HEAD', 'POST', 'PUT'],
      url: '/*',
      handler(request, reply) {
        for (const match of matchers) {
          const serve = match(request.raw.method!, request.raw.url!)
          if (!serve) continue
          reply.hijack()
          return serve(beginExchange(request.raw, reply.raw, siteUrl), request.ip)
        }
        return reply.callNotFound()
      },
    })
  }
