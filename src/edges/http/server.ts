import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance } from 'fastify'
import type { Endpoint } from '../../api/endpoint.ts'
import { allHeaders } from './answer.ts'
import { continueWhenRead } from './body/expected-body.ts'
import { discardLateBody, endMalformed, type LateBodyLimits } from './body/late-body.ts'
import { UnsupportedContent } from './body/unsupported-content.ts'
import type { HttpContext } from './context.ts'
import { onEnd } from './disconnect.ts'
import { beginExchange, noRoute } from './exchange.ts'
import { fail } from './fail.ts'
import { malformedPath } from './failures.ts'
import { type HttpLimits, httpLimits } from './limits.ts'
import { mount } from './mount.ts'
import { refuseEarly } from './refuse-early.ts'
import { logAnswer } from './request-log.ts'
import { sitePathOf } from './target.ts'
import { answerUnmatched } from './unmatched.ts'

/** Compat: gitlab4j sends PATCH as POST with this header. */
function overrideMethod(req: IncomingMessage): void {
  const wanted = req.headers['x-http-method-override']
  if (req.method === 'POST' && typeof wanted === 'string' && /^(PATCH|PUT|DELETE)$/i.test(wanted))
    req.method = wanted.toUpperCase()
}

/**
 * Removes scheme and host from a request target in absolute form (`GET http://host/path`), and a fragment, both of which the router also
 * accepts: limits compare the path, and the log must not show credentials of the URL. Source: RFC 9112, section 3.2.
 */
function reduceTarget(req: IncomingMessage): void {
  const fragment = req.url!.indexOf('#')
  if (fragment >= 0) req.url = req.url!.slice(0, fragment)
  if (req.url!.startsWith('/')) return
  const rest = req.url!.replace(/^https?:\/\/[^/?#]*/i, '')
  req.url = rest.startsWith('/') || rest === req.url ? rest : `/${rest}`
}

/** Removes the path of the external URL from a request target: a proxy that removed it would decode names of projects, too. */
function belowSite(target: string, sitePath: string): string {
  const rest = target.slice(sitePath.length)
  return target.startsWith(sitePath) && /^([/?]|$)/.test(rest) ? (rest.startsWith('/') ? rest : `/${rest}`) : target
}

/** Whether the request carries a git pack, a large file or a layer, which may take minutes. */
const isTransfer = (url: string): boolean =>
  /^\/v2\/[^?]+\/blobs\//.test(url) ||
  /\.git\/(git-(upload|receive)-pack|(gitlab-lfs|info\/lfs)\/objects\/[0-9a-f]{64}[^?]*)(\?|$)/.test(url)

/** Malformed or incomplete HTTP request; not logged. */
function handleClientError(error: Error & { code?: string }, socket: Socket, limits: LateBodyLimits): void {
  if (error.code === 'ECONNRESET') return void socket.destroy()
  const status = statusByCode[error.code ?? ''] ?? '400 Bad Request'
  const body = JSON.stringify({ error: status })
  endMalformed(
    socket,
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    limits,
  )
}

const statusByCode: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
}

/**
 * Closes the connection, and so cancels the request, if the client makes no progress on the response for `stalledMs`. A
 * response without unsent data is waiting for the server and is not affected. Node also counts partial writes as progress.
 */
function endIfStalled(res: ServerResponse, stalledMs: number): void {
  res.setTimeout(stalledMs)
  res.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy()
  })
}

const noSchemas = (): never => {
  throw new Error('no route has a schema of Fastify')
}

/** Registers routes outside the API: git, health, documentation. */
export type Routes = (app: FastifyInstance) => void

/**
 * Creates the HTTP server, not listening yet. Fastify routes on the raw path and manages connections; this transport handles
 * bodies, responses and failures itself.
 */
export function createHttpServer(
  endpoints: readonly Endpoint[],
  context: HttpContext,
  others: readonly Routes[],
  limits: HttpLimits = httpLimits,
  proxies: readonly string[] = [],
): FastifyInstance {
  const sitePath = sitePathOf(context.siteUrl)
  const app = Fastify({
    serverFactory(handler): Server {
      const serve = (req: IncomingMessage, res: ServerResponse) => {
        overrideMethod(req)
        reduceTarget(req)
        if (sitePath !== '') req.url = belowSite(req.url!, sitePath)
        endIfStalled(res, limits.stalledMs)
        discardLateBody(req, res, limits.lateBody)
        onEnd({ req, res }, context.activity.begin(isTransfer(req.url!) ? 'transfers' : 'requests'))
        handler(req, res)
      }
      return createServer({ keepAliveTimeout: 72_000, requestTimeout: 0, headersTimeout: 30_000 }, serve).on(
        'checkContinue',
        (req, res) => {
          continueWhenRead(req, res)
          serve(req, res)
        },
      )
    },
    // The API validates and writes JSON itself. Those of Fastify are a hundred modules.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    trustProxy: ['loopback', ...proxies],
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    bodyLimit: Number.MAX_SAFE_INTEGER,
    return503OnClosing: false,
    clientErrorHandler: (error, socket) => handleClientError(error, socket, limits.lateBody),
    // Errors before routing: only the path can be malformed.
    frameworkErrors(_error, request, reply) {
      reply.hijack()
      const exchange = beginExchange(request, reply, context.siteUrl, noRoute)
      fail(exchange, malformedPath(), context)
      logAnswer(context.log, exchange, null)
    },
  })
  // For responses that Fastify sends; the API writes its own.
  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.headers(allHeaders(beginExchange(request, reply, context.siteUrl)))
    done()
  })
  // Handlers read bodies as streams.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, payload, done) => done(null, payload))

  refuseEarly(app, context)
  const table = mount(app, endpoints, context)
  for (const register of others) register(app)

  const refuseRoute = answerUnmatched(app, context, (path) => table.methods(path))
  app.setNotFoundHandler(refuseRoute)
  app.setErrorHandler((error: Error & { code?: string }, request, reply) => {
    // An unsupported method, for which Fastify requires a content type.
    if (error.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE') return refuseRoute(request, reply)
    reply.hijack()
    // Fastify's other errors about bodies: a malformed content type.
    const isType = error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
    const failure = isType ? new UnsupportedContent('type', request.headers['content-type'] ?? '') : error
    fail(beginExchange(request, reply, context.siteUrl), failure, context)
  })
  return app
}
