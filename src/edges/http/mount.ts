import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TObject } from 'typebox'
import type { Caller } from '../../access/actor.ts'
import { allows, needsAccount } from '../../access/policy.ts'
import { shareKeyOf } from '../../access/share-key.ts'
import type { Ctx } from '../../api/ctx.ts'
import type { Endpoint } from '../../api/endpoint.ts'
import type { Page } from '../../api/page.ts'
import { compileParams, type ParamsReader } from '../../api/params/compile.ts'
import { ParameterError } from '../../api/params/parameter-error.ts'
import type { RawParams } from '../../api/params/raw.ts'
import { RequestSnapshot } from '../../db/request-snapshot.ts'
import { Failure, notFound, unauthenticated } from '../../kernel/failure.ts'
import { isOffered } from '../../kernel/plan.ts'
import { requireTerms } from '../../modules/instance/index.ts'
import type { Settings } from '../../settings/settings.ts'
import { admit, authenticated, type Visitor } from './admit.ts'
import type { Headers } from './answer.ts'
import { type AnswerInWork, AnswersInWork, answerKind, leaveOnceSent } from './answers-in-work.ts'
import { requireScope, shownToken, sudoTarget } from './authenticate.ts'
import { LargeBodies } from './body/large-bodies.ts'
import { anonymousLimits, type BodyLimits, usualLimits } from './body/limits.ts'
import { mergeRaw } from './body/merge.ts'
import { readBody } from './body/read-body.ts'
import type { ParsedBody } from './body/source.ts'
import { announcesBody } from './body/source.ts'
import { parseUrlencoded } from './body/urlencoded.ts'
import type { HttpContext } from './context.ts'
import { allParams, apiPrefix, scopesFor } from './declared.ts'
import { disconnectSignal } from './disconnect.ts'
import { beginExchange } from './exchange.ts'
import { fail } from './fail.ts'
import { answerFor } from './failures.ts'
import { fingerprintOf } from './idempotency/fingerprint.ts'
import { keyOf, once } from './idempotency/once.ts'
import { captured, type Output, sendRendered, toClient } from './output.ts'
import { logAnswer } from './request-log.ts'
import { RouteTable } from './route-table.ts'
import { sendResult } from './send-result.ts'

const maximumPerPage = 100
const usualPerPage = 20

function pageOf(params: {
  page?: number
  per_page?: number
  pagination?: string
  id_after?: number
  id_before?: number
}): Page {
  const { page = 1, per_page = usualPerPage } = params
  return {
    page: Math.max(1, page),
    perPage: per_page < 1 ? usualPerPage : Math.min(per_page, maximumPerPage),
    keyset: params.pagination === 'keyset',
    ...(params.id_after !== undefined && { idAfter: params.id_after }),
    ...(params.id_before !== undefined && { idBefore: params.id_before }),
  }
}

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
    const serve = server(e, context, shared)
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

/** Limits of the request body for an authenticated caller. */
const limitsFor = ({ bodyLimit, fileLimit }: Endpoint, settings: Settings): BodyLimits => ({
  ...usualLimits,
  ...(bodyLimit !== undefined && { bytes: bodyLimit }),
  ...(fileLimit && { fileBytes: () => fileLimit(settings) }),
})

const isTooMuch = (error: unknown): boolean => error instanceof Failure && error.kind === 'too_large'

/** The parameters that the endpoint itself declares; the handler gets no others. */
function ownParams(params: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  const own: Record<string, unknown> = {}
  for (const name of names) if (name in params) own[name] = params[name]
  return own
}

/** Parameters of the path. Removes `.json` after a final numeric id; after a name it is part of the name. */
function pathParamsOf(e: Endpoint): (given: RawParams) => RawParams {
  const last = /:(\w*id)$/.exec(e.path)?.[1]
  if (last === undefined) return (given) => given
  return (given) => {
    const number = /^(\d+)\.json$/.exec(String(given[last]))?.[1]
    return number === undefined ? given : { ...given, [last]: number }
  }
}

/** What the endpoints of a process share. */
type SharedByEndpoints = { readonly bodies: LargeBodies; readonly answers: AnswersInWork }

function server(e: Endpoint, context: HttpContext, { bodies, answers }: SharedByEndpoints): Serve {
  const kind = answerKind(e)
  const scopes = scopesFor(e)
  const rule = e.subject.policy[e.allow]!
  const visible = e.subject.policy[e.subject.visible]!
  const pathParams = pathParamsOf(e)
  const ownNames = Object.keys(e.params?.properties ?? {})
  let read: ParamsReader<TObject> | undefined
  const { onRevokedToken } = e
  const onRevokedFrom = (remoteAddress: string) =>
    onRevokedToken && (async (token: string) => onRevokedToken(await context.open(null, remoteAddress), token))

  const route = apiPrefix + e.path

  return async function serve(request, reply, given) {
    const exchange = beginExchange(request, reply, context.siteUrl, route)
    const { remoteAddress } = exchange
    let caller: Caller = null
    let body: ParsedBody | undefined
    let leaveBodies = () => {}
    let work: AnswerInWork | undefined
    let tokenInBody: string | undefined
    // A request that changes nothing is answered from one state of the database.
    const snapshot = e.method === 'GET' ? new RequestSnapshot() : undefined
    try {
      const query = queryOf(request.raw.url!)
      const queryParams = parseUrlencoded(query)
      const settings = await context.settings.get()
      const onRevoked = onRevokedFrom(remoteAddress)
      const visitor: Visitor = { exchange, remoteAddress, settings, kind: 'api' }
      const token = shownToken(request.raw.headers, queryParams)
      const admitted = await admit(token, visitor, context, onRevoked)
      if (admitted === undefined) return
      caller = admitted
      if (announcesBody(request.raw.headers)) {
        if (caller)
          leaveBodies = await bodies.enter(
            request.raw.headers,
            shareKeyOf(caller, remoteAddress),
            disconnectSignal(exchange),
          )
        body = await readBody({
          method: e.method,
          headers: request.raw.headers,
          body: request.raw,
          limits: caller ? limitsFor(e, settings) : anonymousLimits,
          tmpDir: context.uploadsDir,
        }).catch((error: unknown) => {
          // Anonymous callers lack the ability in any case, so the rest of the body is not read.
          if (caller === null && needsAccount(rule) && isTooMuch(error)) throw unauthenticated()
          throw error
        })
        tokenInBody = token === undefined ? shownToken({}, body.params) : undefined
        if (tokenInBody !== undefined) {
          const readmitted = await admit(tokenInBody, visitor, context, onRevoked)
          if (readmitted === undefined) return
          caller = readmitted
        } else caller = await authenticated(token, visitor, context)
      }
      if (kind) {
        work = await answers.enter(shareKeyOf(caller, remoteAddress), kind, disconnectSignal(exchange))
        if (work.waited) caller = await authenticated(token ?? tokenInBody, visitor, context)
      }
      const raw = mergeRaw(pathParams(given), body?.params ?? {}, queryParams)
      const target = await sudoTarget(caller, request.raw.headers, raw, context.db)
      if (target) caller = target
      else requireScope(caller, scopes)
      read ??= compileParams(allParams(e), { plan: context.plan })
      const params = read(raw, e.method)
      if (caller === null && needsAccount(rule)) throw unauthenticated()
      const signal = e.method === 'GET' ? disconnectSignal(exchange) : undefined
      signal?.throwIfAborted()
      const ctx = await context.open(caller, remoteAddress, {
        signal,
        snapshot,
        userAgent: request.raw.headers['user-agent'],
        eventSource: eventSourceOf(request.raw.headers),
      })
      const page = pageOf(params)
      const own = ownParams(params, ownNames)
      const since = Date.parse(request.raw.headers['if-unmodified-since'] ?? '')
      const respond = async (ctx: Ctx, output: Output) => {
        if (settings.enforce_terms && !e.beforeTerms) await requireTerms(ctx)
        const subject = await e.subject.load(params, ctx)
        if (!subject || !allows(visible, ctx.actor, subject.facts)) throw notFound(e.subject.what)
        if (!allows(rule, ctx.actor, subject.facts))
          throw ctx.actor ? new Failure('forbidden', 'Forbidden') : unauthenticated()
        const requireUnmodified = async () => {
          if (e.changedAt && !Number.isNaN(since)) requireUnmodifiedSince(since, await e.changedAt(subject, own, ctx))
        }
        await requireUnmodified()
        const headers: Headers = {}
        const result = await e.handle({
          subject,
          params: own,
          page,
          ctx,
          head: request.method === 'HEAD',
          requireUnmodified,
          reply: {
            header: (name, value) => {
              headers[name.toLowerCase()] = value
            },
          },
        })
        // A stream may read for long.
        if (e.returns !== null && 'raw' in e.returns) snapshot?.end()
        await sendResult(e, { output, exchange, ctx, result, page, headers, query, context })
      }
      const key = e.method === 'GET' ? undefined : idempotencyKeyOf(request.raw.headers)
      if (key === undefined || !ctx.actor) return await respond(ctx, toClient(exchange))
      const keyed = {
        key: keyOf(ctx.actor, key),
        fingerprint: await fingerprintOf(e.method, pathOf(request.raw.url!), raw),
        hasFiles: isForm(request.raw.headers),
        endpoint: e,
        answerFor,
      }
      await sendRendered(exchange, await once(ctx, keyed, (ctx) => captured((output) => respond(ctx, output))))
    } catch (error) {
      fail(exchange, error, context)
    } finally {
      snapshot?.end()
      leaveBodies()
      if (work) leaveOnceSent(work, exchange)
      await body?.cleanup()
      logAnswer(context.log, exchange, caller)
    }
  }
}

/** The key of a request that should take effect once, as the client chose it. */
function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key))
    throw new ParameterError('Idempotency-Key is invalid')
  return key
}

const eventSourceOf = ({ accept = '', 'last-event-id': last }: IncomingHttpHeaders) =>
  accept.includes('text/event-stream') ? { lastEventId: typeof last === 'string' ? last : undefined } : undefined

const isForm = (headers: IncomingHttpHeaders): boolean =>
  (headers['content-type'] ?? '').toLowerCase().startsWith('multipart/form-data')

function requireUnmodifiedSince(since: number, changedAt: string | undefined): void {
  // The header has a resolution of seconds.
  if (changedAt !== undefined && Math.floor(Date.parse(changedAt) / 1000) > Math.floor(since / 1000))
    throw new Failure('precondition_failed', 'Precondition Failed')
}

const queryOf = (url: string): string => {
  const at = url.indexOf('?')
  return at < 0 ? '' : url.slice(at + 1)
}

const pathOf = (url: string): string => url.split('?', 1)[0]!
