import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '../../api/endpoint.ts'
import type { RawParams } from '../../api/params/raw.ts'
import { isOffered } from '../../kernel/plan.ts'
import { AnswersInWork } from './answers-in-work.ts'
import { LargeBodies } from './body/large-bodies.ts'
import type { HttpContext } from './context.ts'
import { apiPrefix } from './declared.ts'
import { beginExchange } from './exchange.ts'
import { fail } from './fail.ts'
import { RouteTable } from './route-table.ts'
import { ServedEndpoint } from './served-endpoint.ts'
import { pathOf, ServedRequest, type SharedByEndpoints } from './served-request.ts'

/** Answers a request; `params` are those of its path. */
type Serve = (request: FastifyRequest, reply: FastifyReply, params: RawParams) => Promise<void>

/**
 * Serves the endpoints that the plan offers; those of GET answer HEAD, too. They are one route of Fastify, to which a route each would be a quarter of
 * the start of a process. Returns the table of their paths.
 */
export function mount(app: FastifyInstance, endpoints: readonly Endpoint[], context: HttpContext): RouteTable<Serve> {
  const shared = { bodies: new LargeBodies(), answers: new AnswersInWork() }
  const table = new RouteTable<Serve>()
  for (const e of endpoints) {
    if (!isOffered(e.tier, context.plan)) continue
    const serve = server(new ServedEndpoint(e, context), shared)
    for (const method of e.method === 'GET' ? ['GET', 'HEAD'] : [e.method]) table.add(method, apiPrefix + e.path, serve)
  }
  app.route({
    method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: `${apiPrefix}/*`,
    handler(request, reply) {
      const found = table.find(request.raw.method!, pathOf(request.raw.url!))
      if (!found) return reply.callNotFound()
      reply.hijack()
      return found.value(request, reply, found.params)
    },
  })
  return table
}

/** Takes each request of an endpoint through its steps, and ends what it holds whatever happens. */
function server(endpoint: ServedEndpoint, shared: SharedByEndpoints): Serve {
  const { context, route } = endpoint
  return async function serve(request, reply, given) {
    const exchange = beginExchange(request, reply, context.siteUrl, route)
    const served = new ServedRequest(endpoint, exchange, shared)
    try {
      if (!(await served.admit()) || !(await served.receive())) return
      await served.takeTurn()
      await served.answer(given)
    } catch (error) {
      fail(exchange, error, context)
    } finally {
      await served.end()
    }
  }
}
