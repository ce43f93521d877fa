import type { HttpContext } from '../http/context.ts'
import { beginExchange } from '../http/exchange.ts'
import type { Routes } from '../http/server.ts'
import { serveRegistry } from './serve.ts'
import { serveToken } from './token-route.ts'

/** The container registry at `/v2/`, and the tokens for it. */
export const registryRoutes =
  (context: HttpContext): Routes =>
  (app) => {
    const route = (url: string, method: string[], serve: typeof serveRegistry) =>
      app.route({
        method,
        url,
        handler(request, reply) {
          reply.hijack()
          return serve(beginExchange(request, reply, context.siteUrl), context)
        },
      })
    for (const url of ['/v2', '/v2/*']) route(url, ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'], serveRegistry)
    route('/jwt/auth', ['GET'], serveToken)
  }
