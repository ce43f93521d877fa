import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { withoutJsonSuffix } from '../../kernel/json-suffix.ts'
import { sendEmpty } from './answer.ts'
import type { HttpContext } from './context.ts'
import { apiPrefix } from './declared.ts'
import { beginExchange, noRoute, preflightHeaders } from './exchange.ts'
import { fail } from './fail.ts'
import { oldVersion, unknownRoute, verbNotOffered } from './failures.ts'
import { logAnswer } from './request-log.ts'
import { splitTarget } from './target.ts'

/**
 * Normalizes a path that matched no route: removes `.json` and repeated slashes, which clients produce when they omit a part.
 * Routes match first, so a path that ends in a name keeps its `.json`; `served-endpoint.ts` removes it after an id. Parameters are
 * never empty, so repeated slashes are unambiguous.
 */
function tidied(path: string): string | undefined {
  if (!path.startsWith(`${apiPrefix}/`)) return undefined
  const single = path.replace(/\/{2,}/g, '/')
  const bare = withoutJsonSuffix(single) ?? single
  return bare === path ? undefined : bare
}

/** Answers requests that match no route. `methodsOf` returns the methods of the endpoints with this path. */
export function answerUnmatched(
  app: FastifyInstance,
  context: HttpContext,
  methodsOf: (path: string) => string[],
): (request: FastifyRequest, reply: FastifyReply) => void {
  const offered = (path: string) => {
    const methods = methodsOf(path)
    return methods.length > 0 ? ['OPTIONS', ...methods] : methods
  }
  return (request, reply) => {
    reply.hijack()
    const exchange = beginExchange(request, reply, context.siteUrl, noRoute)
    if (request.method === 'OPTIONS') return sendEmpty(exchange, 204, preflightHeaders(request.raw))
    const { path, query } = splitTarget(request.raw.url!)
    const bare = tidied(path)
    if (bare !== undefined && offered(bare).length > 0) {
      request.raw.url = query === undefined ? bare : `${bare}?${query}`
      return app.routing(request.raw, reply.raw)
    }
    const verbs = offered(path)
    fail(
      exchange,
      /^\/api\/v3(\/|$)/.test(path) ? oldVersion() : verbs.length > 0 ? verbNotOffered(verbs) : unknownRoute(),
      context,
    )
    logAnswer(context.log, exchange, null)
  }
}
