import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isAnonymous } from './abandoned-requests.ts'
import type { HttpContext } from './context.ts'
import { apiPrefix } from './declared.ts'
import { beginExchange } from './exchange.ts'
import { exceedsPathLimit, type Limited, sendTooMany } from './rate-limit.ts'
import { logAnswer } from './request-log.ts'

/** Refuses requests beyond limits that depend on nothing but path and address, before anything else is done for them. */
export function refuseEarly(app: FastifyInstance, context: HttpContext): void {
  const refuse = (request: FastifyRequest, reply: FastifyReply, limited: Limited) => {
    const exchange = beginExchange(request, reply, context.siteUrl)
    sendTooMany(exchange, limited)
    logAnswer(context.log, exchange, null)
  }
  /** True if a limit was exceeded; the response has been sent then. */
  const refuseOverLimit = async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const path = request.raw.url!.split('?', 1)[0]!
    const limited = await exceedsPathLimit(context.db, await context.settings.get(), path, request.ip)
    if (!limited) return false
    reply.hijack()
    refuse(request, reply, limited)
    return true
  }
  /**
   * True when the request was refused, and answered. Only requests to the API: git clients send their first request without
   * the credentials that they have, so theirs are refused when it is known what they may do (edges/git-http). The
   * connection is closed, because a client that keeps it can abandon many requests at once.
   */
  const refuseAbandoning = (request: FastifyRequest, reply: FastifyReply): boolean => {
    const { raw, ip } = request
    if (!isAnonymous(raw, request.routeOptions.url)) return false
    context.abandoned.watch(reply.raw, ip)
    // The route of a URL with an encoded prefix, such as `/%61pi/v4`, is known only to the router.
    if (![raw.url, request.routeOptions.url].some((path) => path?.startsWith(apiPrefix))) return false
    const retryAfterSeconds = context.abandoned.retryAfter(ip)
    if (retryAfterSeconds === undefined) return false
    reply.hijack()
    reply.raw.setHeader('connection', 'close')
    refuse(request, reply, { retryAfterSeconds })
    return true
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (refuseAbandoning(request, reply)) return
    if (request.raw.method !== 'POST') return done()
    refuseOverLimit(request, reply).then((refused) => {
      if (!refused) done()
    }, done)
  })
}
