import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Endpoint } from '../../api/endpoint.ts'
import { isOffered } from '../../kernel/plan.ts'
import { isAnonymous } from './abandoned-requests.ts'
import { allHeaders, sendEmpty } from './answer.ts'
import { UnsupportedContentType } from './body/unsupported-content-type.ts'
import type { Doors } from './doors.ts'
import { beginExchange, preflightHeaders } from './exchange.ts'
import { malformedPath, oldVersion, unknownRoute, verbNotOffered } from './failures.ts'
import { type HttpLimits, httpLimits } from './limits.ts'
import { apiPrefix, fail, mount } from './mount.ts'
import { exceedsPathLimit, sendTooMany } from './rate-limit.ts'
import { verbsByPath } from './verbs.ts'

/** Compat: gitlab4j sends PATCH as POST with this header. */
function overrideMethod(req: IncomingMessage): void {
  const wanted = req.headers['x-http-method-override']
  if (req.method === 'POST' && typeof wanted === 'string' && /^(PATCH|PUT|DELETE)$/i.test(wanted))
    req.method = wanted.toUpperCase()
}

/**
 * `/api/v4/projects.json` is `/api/v4/projects`, and so is `/api/v4//projects`, as clients build it that leave a part out. Only
 * paths that lead nowhere come here: one that ends in a name keeps its `.json`, one that ends in a number loses it in
 * `mount.ts`. No parameter is empty, so nothing else is meant by two slashes.
 */
function tidied(path: string): string | undefined {
  if (!path.startsWith(`${apiPrefix}/`)) return undefined
  const single = path.replace(/\/{2,}/g, '/')
  const bare = single.endsWith('.json') && !single.endsWith('.json.json') ? single.slice(0, -5) : single
  return bare === path ? undefined : bare
}

/** What is no request of HTTP, or none that comes to an end. Nothing of it is known, so nothing is logged. */
function refuseNonsense(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const status = nonsense[error.code ?? ''] ?? '400 Bad Request'
  const body = JSON.stringify({ error: status })
  socket.write(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
  socket.destroySoon()
}

const nonsense: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/**
 * Ends the connection, and with it what is done for the answer, when the client takes none of it for so long. One that
 * waits for us holds nothing. Node counts what the system could pass on, be it a part of what was written.
 */
function endIfStalled(res: ServerResponse, stalledMs: number): void {
  res.setTimeout(stalledMs)
  res.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy()
  })
}

/** A door beside the API that has routes of its own: git, health, documentation. */
export type Door = (app: FastifyInstance) => void

/**
 * The HTTP edge. Fastify routes on the raw path and keeps connections; bodies, answers and failures are ours.
 * Not listening yet.
 */
export function createHttpServer(
  endpoints: readonly Endpoint[],
  doors: Doors,
  others: readonly Door[],
  limits: HttpLimits = httpLimits,
): FastifyInstance {
  const app = Fastify({
    serverFactory: (handler): Server =>
      createServer({ keepAliveTimeout: 72_000, requestTimeout: 0, headersTimeout: 30_000 }, (req, res) => {
        overrideMethod(req)
        endIfStalled(res, limits.stalledMs)
        handler(req, res)
      }),
    trustProxy: 'loopback',
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    bodyLimit: Number.MAX_SAFE_INTEGER,
    return503OnClosing: false,
    clientErrorHandler: refuseNonsense,
    // Before there is a route: all that can be wrong is the spelling of the path.
    frameworkErrors(_error, request, reply) {
      reply.hijack()
      fail(beginExchange(request.raw, reply.raw, doors.siteUrl), malformedPath(), doors)
    },
  })
  // Of answers that Fastify sends; those of the API are written by ourselves.
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.headers(allHeaders(beginExchange(request.raw, reply.raw, doors.siteUrl)))
    done()
  })
  // Bodies are read by whoever needs them, as streams.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  /** True when it was refused, and answered. */
  const refuseOverLimit = async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const path = request.raw.url!.split('?', 1)[0]!
    const limited = await exceedsPathLimit(doors.db, await doors.settings.get(), path, request.ip)
    if (!limited) return false
    reply.hijack()
    sendTooMany(beginExchange(request.raw, reply.raw, doors.siteUrl), limited)
    return true
  }
  /**
   * True when the request was refused, and answered. Only requests to the API: git clients send their first request without
   * the credentials that they have, so theirs are refused when it is known what they may do (edges/git-http). The
   * connection is closed, because a client that keeps it can abandon many requests at once.
   */
  const refuseAbandoning = ({ raw, ip }: FastifyRequest, reply: FastifyReply): boolean => {
    if (!isAnonymous(raw)) return false
    doors.abandoned.watch(reply.raw, ip)
    if (!raw.url!.startsWith(apiPrefix)) return false
    const retryAfterSeconds = doors.abandoned.retryAfter(ip)
    if (retryAfterSeconds === undefined) return false
    reply.hijack()
    reply.raw.setHeader('connection', 'close')
    sendTooMany(beginExchange(raw, reply.raw, doors.siteUrl), { retryAfterSeconds })
    return true
  }
  app.addHook('onRequest', (request, reply, done) => {
    if (refuseAbandoning(request, reply)) return
    if (request.raw.method !== 'POST') return done()
    refuseOverLimit(request, reply).then((refused) => {
      if (!refused) done()
    }, done)
  })

  mount(app, endpoints, doors)
  for (const door of others) door(app)

  const offered = verbsByPath(endpoints.filter(({ tier }) => isOffered(tier, doors.plan)))
  const refuseRoute = (request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack()
    const exchange = beginExchange(request.raw, reply.raw, doors.siteUrl)
    if (request.method === 'OPTIONS') return sendEmpty(exchange, 204, preflightHeaders(request.raw))
    const [path = '', query] = request.raw.url!.split('?', 2)
    const bare = tidied(path)
    if (bare !== undefined && offered(bare).length > 0) {
      request.raw.url = query === undefined ? bare : `${bare}?${query}`
      return app.routing(request.raw, reply.raw)
    }
    const verbs = offered(path)
    fail(
      exchange,
      /^\/api\/v3(\/|$)/.test(path) ? oldVersion() : verbs.length > 0 ? verbNotOffered(verbs) : unknownRoute(),
      doors,
    )
  }
  app.setNotFoundHandler(refuseRoute)
  app.setErrorHandler((error: Error & { code?: string }, request, reply) => {
    // No verb of ours, of which Fastify asks more than others.
    if (error.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE') return refuseRoute(request, reply)
    reply.hijack()
    // All else that Fastify itself says of bodies: theirs is no type.
    const isType = error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
    const failure = isType ? new UnsupportedContentType(request.headers['content-type'] ?? '') : error
    fail(beginExchange(request.raw, reply.raw, doors.siteUrl), failure, doors)
  })
  return app
}
