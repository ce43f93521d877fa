import type { IncomingHttpHeaders } from 'node:http'
import type { Caller } from '../../access/actor.ts'
import { allows, needsAccount } from '../../access/policy.ts'
import { shareKeyOf } from '../../access/share-key.ts'
import type { Ctx } from '../../api/ctx.ts'
import { ParameterError } from '../../api/params/parameter-error.ts'
import type { RawParams } from '../../api/params/raw.ts'
import type { Tx } from '../../db/db.ts'
import { RequestSnapshot } from '../../db/request-snapshot.ts'
import { Failure, isTooLarge, notFound, refused, unauthenticated } from '../../kernel/failure.ts'
import { requireTerms } from '../../modules/instance/index.ts'
import { admit, authenticated, type Visitor } from './admit.ts'
import type { Exchange, Headers } from './answer.ts'
import { type AnswerInWork, type AnswersInWork, leaveOnceSent } from './answers-in-work.ts'
import { requireRightsOf, requireScope, shownToken, sudoTarget } from './authenticate.ts'
import type { LargeBodies } from './body/large-bodies.ts'
import { anonymousLimits } from './body/limits.ts'
import { mergeRaw } from './body/merge.ts'
import { readBody } from './body/read-body.ts'
import { announcesBody, type ParsedBody } from './body/source.ts'
import { parseUrlencoded } from './body/urlencoded.ts'
import { pageOf } from './declared.ts'
import { disconnectSignal } from './disconnect.ts'
import { answerFor } from './failures.ts'
import { fingerprintOf } from './idempotency/fingerprint.ts'
import { keyOf, once } from './idempotency/once.ts'
import { captured, type Output, sendRendered, toClient } from './output.ts'
import { logAnswer } from './request-log.ts'
import { sendResult } from './send-result.ts'
import type { Params, ServedEndpoint } from './served-endpoint.ts'

/** What the endpoints of a process share. */
export type SharedByEndpoints = { readonly bodies: LargeBodies; readonly answers: AnswersInWork }

/** A subject as its `load` returns it. */
type Loaded = { readonly id?: unknown }

/** A request of an endpoint. Its steps are called in the order in which they are written here; a step that throws is followed by `end`. */
export class ServedRequest {
  readonly #endpoint: ServedEndpoint
  readonly #exchange: Exchange
  readonly #shared: SharedByEndpoints
  readonly #query: string
  #queryParams!: RawParams
  #visitor!: Visitor
  #caller: Caller = null
  #token: string | undefined
  #body: ParsedBody | undefined
  #leaveBodies = () => {}
  #work: AnswerInWork | undefined
  /** A request that changes nothing is answered from one state of the database. */
  readonly #snapshot: RequestSnapshot | undefined

  constructor(endpoint: ServedEndpoint, exchange: Exchange, shared: SharedByEndpoints) {
    this.#endpoint = endpoint
    this.#exchange = exchange
    this.#shared = shared
    this.#query = queryOf(exchange.req.url!)
    if (endpoint.declared.method === 'GET') this.#snapshot = new RequestSnapshot()
  }

  /** Authenticates the caller by headers and query, and applies the rate limits. False if a limit has refused it: that answer is sent. */
  async admit(): Promise<boolean> {
    const { req, remoteAddress } = this.#exchange
    this.#queryParams = parseUrlencoded(this.#query)
    const settings = await this.#endpoint.context.settings.get()
    this.#visitor = { exchange: this.#exchange, remoteAddress, settings, kind: 'api' }
    this.#token = shownToken(req.headers, this.#queryParams)
    return this.#admitToken()
  }

  async #admitToken(): Promise<boolean> {
    const { context, declared } = this.#endpoint
    const { onRevokedToken } = declared
    const onRevoked =
      onRevokedToken &&
      (async (token: string) => onRevokedToken(await context.open(null, this.#exchange.remoteAddress), token))
    const admitted = await admit(this.#token, this.#visitor, context, onRevoked)
    if (admitted === undefined) return false
    this.#caller = admitted
    return true
  }

  /** Reads the body, if there is one, and authenticates again: that may have taken long. False as for `admit`. */
  async receive(): Promise<boolean> {
    const { req, remoteAddress } = this.#exchange
    if (!announcesBody(req.headers)) return true
    const caller = this.#caller
    if (caller)
      this.#leaveBodies = await this.#shared.bodies.enter(
        req.headers,
        shareKeyOf(caller, remoteAddress),
        disconnectSignal(this.#exchange),
      )
    const { declared, context, rule } = this.#endpoint
    const { params } = (this.#body = await readBody({
      method: declared.method,
      headers: req.headers,
      body: req,
      limits: caller ? this.#endpoint.bodyLimits(this.#visitor.settings) : anonymousLimits,
      tmpDir: context.uploadsDir,
    }).catch((error: unknown) => {
      // Anonymous callers lack the ability in any case, so the rest of the body is not read.
      if (caller === null && needsAccount(rule) && isTooLarge(error)) throw unauthenticated()
      throw error
    }))
    if (this.#token === undefined) {
      this.#token = shownToken({}, params)
      if (this.#token !== undefined) return this.#admitToken()
    }
    await this.#authenticateAgain()
    return true
  }

  async #authenticateAgain(): Promise<void> {
    this.#caller = await authenticated(this.#token, this.#visitor, this.#endpoint.context)
  }

  /** Waits while the caller's share of possibly large answers is used up. */
  async takeTurn(): Promise<void> {
    const { kind } = this.#endpoint
    if (kind === undefined) return
    const share = shareKeyOf(this.#caller, this.#exchange.remoteAddress)
    this.#work = await this.#shared.answers.enter(share, kind, disconnectSignal(this.#exchange))
    if (this.#work.waited) await this.#authenticateAgain()
  }

  /** Does what the endpoint declares and sends the answer. `given` are the parameters of the path. */
  async answer(given: RawParams): Promise<void> {
    const { declared, pathParams, rule } = this.#endpoint
    const { req } = this.#exchange
    const raw = mergeRaw(pathParams(given), this.#body?.params ?? {}, this.#queryParams)
    await this.#actAsAsked(raw)
    const params = this.#endpoint.read(raw)
    if (this.#caller === null && needsAccount(rule)) throw unauthenticated()
    const ctx = await this.#open()
    const key = declared.method === 'GET' ? undefined : idempotencyKeyOf(req.headers)
    if (key === undefined || !ctx.actor) return this.#respond(params, ctx, toClient(this.#exchange))
    const keyed = {
      key: keyOf(ctx.actor, key),
      fingerprint: await fingerprintOf(declared.method, pathOf(req.url!), raw),
      hasFiles: isForm(req.headers),
      endpoint: declared,
      answerFor,
    }
    const rendered = await once(ctx, keyed, (within) =>
      captured((output) => this.#respond(params, within, output, ctx)),
    )
    await sendRendered(this.#exchange, rendered)
  }

  /** The user of `sudo` acts instead of the caller; without it, the scopes of the token decide. */
  async #actAsAsked(raw: RawParams): Promise<void> {
    const { context, scopes } = this.#endpoint
    const target = await sudoTarget(this.#caller, this.#exchange.req.headers, raw, context.db)
    if (target) this.#caller = target
    else requireScope(this.#caller, scopes)
  }

  #open(): Promise<Ctx> {
    const { context, declared } = this.#endpoint
    const { req, remoteAddress } = this.#exchange
    const signal = declared.method === 'GET' ? disconnectSignal(this.#exchange) : undefined
    signal?.throwIfAborted()
    return context.open(this.#caller, remoteAddress, {
      signal,
      snapshot: this.#snapshot,
      userAgent: req.headers['user-agent'],
      eventSource: eventSourceOf(req.headers),
    })
  }

  /**
   * Called again, with another context, if a request with an idempotency key turns out to change something outside the database. `opened` may be
   * within a transaction; `committed` reads what is committed.
   */
  async #respond(params: Params, opened: Ctx, output: Output, committed: Ctx = opened): Promise<void> {
    const { declared: e, context } = this.#endpoint
    const { req } = this.#exchange
    if (this.#visitor.settings.enforce_terms && !e.beforeTerms) await requireTerms(opened)
    const subject = await this.#permitted(params, opened)
    const own = this.#endpoint.ownParams(params)
    const since = Date.parse(req.headers['if-unmodified-since'] ?? '')
    const isConditional = e.changedAt !== undefined && !Number.isNaN(since)
    // What a transaction has changed itself does not count, and what it has deleted does: it reads what is committed.
    const requireUnmodifiedNow = async () => {
      if (!isConditional) return
      const now = await this.#permitted(params, committed)
      requireUnmodifiedSince(since, await e.changedAt!(now, own, committed))
    }
    const ctx = this.#permittedAgain(subject, params, opened, requireUnmodifiedNow)
    const requireUnmodified = async () => {
      if (isConditional) requireUnmodifiedSince(since, await e.changedAt!(subject, own, ctx))
    }
    await requireUnmodified()
    const headers: Headers = {}
    const header = (name: string, value: string) => {
      headers[name.toLowerCase()] = value
    }
    const page = pageOf(params)
    const head = req.method === 'HEAD'
    const result = await e.handle({ subject, params: own, page, ctx, head, requireUnmodified, reply: { header } })
    // A stream may read for long.
    if (e.returns !== null && 'raw' in e.returns) this.#snapshot?.end()
    await sendResult(e, { output, exchange: this.#exchange, ctx, result, page, headers, query: this.#query, context })
  }

  /** The subject, if the caller may know that it exists. */
  async #visible(params: Params, ctx: Ctx) {
    const { declared, visible } = this.#endpoint
    const subject = await declared.subject.load(params, ctx)
    return subject && allows(visible, ctx.actor, subject.facts) ? subject : undefined
  }

  /** The subject, if the caller may do this to it. */
  async #permitted(params: Params, ctx: Ctx) {
    const { declared, rule } = this.#endpoint
    const bare = this.#endpoint.withoutSuffix(params)
    const subject = (await this.#visible(params, ctx)) ?? (bare && (await this.#visible(bare, ctx)))
    if (!subject) throw notFound(declared.subject.what)
    if (!allows(rule, ctx.actor, subject.facts)) throw refused(ctx.actor)
    return subject
  }

  /**
   * The context whose transactions can ask again for the permission that the request was given for the subject, and for the condition of
   * its headers: what it waited for may have taken the one, or changed what the other is about.
   */
  #permittedAgain(subject: Loaded, params: Params, ctx: Ctx, requireUnmodifiedNow: () => Promise<void>): Ctx {
    if (this.#endpoint.declared.method === 'GET') return ctx
    const { what, identityOf = ({ id }: Loaded) => id } = this.#endpoint.declared.subject
    const requirePermission = async (tx: Tx) => {
      await requireRightsOf(this.#caller, tx, ctx)
      const now = await this.#permitted(params, { ...ctx, db: tx })
      // Its path was given to another one.
      if (identityOf(now) !== identityOf(subject)) throw notFound(what)
      await requireUnmodifiedNow()
    }
    return {
      ...ctx,
      transaction: (work) => ctx.transaction((tx) => work({ ...tx, requirePermission: () => requirePermission(tx) })),
    }
  }

  /** Gives back what the request holds, and logs it. */
  async end(): Promise<void> {
    this.#snapshot?.end()
    this.#leaveBodies()
    if (this.#work) leaveOnceSent(this.#work, this.#exchange)
    await this.#body?.cleanup()
    logAnswer(this.#endpoint.context.log, this.#exchange, this.#caller)
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

export const pathOf = (url: string): string => url.split('?', 1)[0]!
