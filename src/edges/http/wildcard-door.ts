import type { Exchange } from './answer.ts'
import { beginExchange } from './exchange.ts'
import type { Door } from './server.ts'

/** Serves one request, failures included. */
type Serve = (exchange: Exchange, remoteAddress: string) => Promise<void>

/** Says whether an address is its own: `undefined` when it is not. */
export type Claim = (method: string, url: string) => Serve | undefined

/** Addresses that begin with the path of a project, of whatever depth: the router cannot tell them apart, the claims can. */
export const wildcardDoor =
  (siteUrl: string, claims: readonly Claim[]): Door =>
  (app) => {
    app.route({
      method: ['GET', 'HEAD', 'POST', 'PUT'],
      url: '/*',
      handler(request, reply) {
        for (const claim of claims) {
          const serve = claim(request.raw.method!, request.raw.url!)
          if (!serve) continue
          reply.hijack()
          return serve(beginExchange(request.raw, reply.raw, siteUrl), request.ip)
        }
        return reply.callNotFound()
      },
    })
  }
