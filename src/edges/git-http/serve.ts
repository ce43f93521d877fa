import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Ctx } from '../../api/ctx.ts'
import { linesWithFlush } from '../../git/format/packets.ts'
import type { Repository } from '../../git/repository/repository.ts'
import type { Exit } from '../../git/runner/protocol.ts'
import { advertise } from '../../git/transfer/advertise.ts'
import { uploadPack } from '../../git/transfer/transfer.ts'
import { Failure, forbidden } from '../../kernel/failure.ts'
import { createFromPush, type Plan } from '../../modules/lifecycle/index.ts'
import {
  damageLog,
  type GitTarget,
  gitAccess,
  openToFetch,
  openToPush,
  receivePush,
  type Service,
} from '../../modules/transport/index.ts'
import { type Exchange, type Headers, sendEmpty, sendText } from '../http/answer.ts'
import { authenticateGit, type Denial, denialAnswer } from '../http/authenticate-git.ts'
import type { BodyPace } from '../http/body/pace.ts'
import { callerNow } from '../http/caller-now.ts'
import type { HttpContext } from '../http/context.ts'
import { disconnectSignal } from '../http/disconnect.ts'
import { endFailed } from '../http/end-failed.ts'
import { failureOf } from '../http/failures.ts'
import type { HttpLimits } from '../http/limits.ts'
import { observeGit } from '../http/metrics.ts'
import { refusedByLimits } from '../http/rate-limit.ts'
import { logAnswer } from '../http/request-log.ts'
import type { RouteMatcher } from '../http/wildcard-routes.ts'
import { hasOtherEncoding, relay } from './relay.ts'
import { type GitRequest, parseGitUrl } from './request.ts'

const uncached: Headers = {
  'cache-control': 'no-cache, max-age=0, must-revalidate',
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
}
const plain: Headers = { 'content-type': 'text/plain; charset=utf-8' }

/** Git over smart HTTP: parses the URL, authenticates, checks permissions, streams. */
export const gitMatcher =
  (context: HttpContext, limits: HttpLimits): RouteMatcher =>
  (method, url) => {
    const asked = method === 'PUT' ? undefined : parseGitUrl(url)
    if (!asked) return undefined
    return {
      route: asked.kind === 'service' ? `/*.git/${asked.service}` : '/*.git/info/refs',
      serve: (exchange, remoteAddress) => serve(exchange, asked, remoteAddress, context, limits),
    }
  }

async function serve(
  exchange: Exchange,
  asked: GitRequest,
  remoteAddress: string,
  context: HttpContext,
  { fetchPace, pushPace }: HttpLimits,
): Promise<void> {
  const { req } = exchange
  let ctx: Ctx | undefined
  try {
    if (asked.kind === 'elsewhere') return sendEmpty(exchange, 301, { location: context.siteUrl + asked.location })
    if (asked.kind === 'refs' && (req.method !== 'GET' || asked.service === undefined))
      return sendText(exchange, 403, 'Forbidden\n', plain)
    if (asked.kind === 'service' && req.method !== 'POST')
      return sendText(exchange, 405, 'Method Not Allowed\n', { ...plain, allow: 'POST' })
    if (asked.kind === 'service' && hasOtherEncoding(req))
      return sendText(exchange, 415, 'Unsupported Content-Encoding\n', { ...plain, 'accept-encoding': 'gzip' })
    const service = asked.service as Service
    const shown = await authenticateGit(req.headers.authorization, context, remoteAddress)
    // A read ends when the client disconnects; a push that has begun completes.
    const signal = service === 'git-upload-pack' || asked.kind === 'refs' ? disconnectSignal(exchange) : undefined
    ctx = await context.open('denied' in shown ? null : shown.caller, remoteAddress, { signal })
    if (await refusedByLimits(exchange, ctx, ctx.actor, remoteAddress, 'web')) return
    if ('denied' in shown) return refuseCredentials(exchange, shown, context.siteUrl)
    const access = await gitAccess(ctx, asked.path, service, 'http')
    if ('challenge' in access) return challenge(exchange)
    if ('refused' in access)
      return sendText(exchange, access.refused === 'missing' ? 404 : 403, `${access.message}\n`, plain)
    // Git sends the credentials that it has only after a 401.
    if (!ctx.actor && context.abandoned.retryAfter(remoteAddress) !== undefined)
      return challenge(exchange, 'Your network abandons too many requests. Sign in, or retry later.\n')
    const pushing = { answers: context.answersToPush, pace: pushPace }
    if (asked.kind === 'refs') await sendRefs(exchange, await advertised(ctx, access, service), service)
    else if ('plan' in access && isEmptyPush(req))
      sendEmpty(exchange, 200, { ...uncached, 'content-type': resultOf(service), 'content-length': 0 })
    else if ('plan' in access)
      await push(exchange, ctx, { project: await createFromPush(ctx, access.plan) }, { ...pushing, created: true })
    else if (service === 'git-upload-pack')
      await fetch(exchange, ctx, { path: asked.path, target: access.target }, context, fetchPace)
    else await push(exchange, ctx, access.target, pushing)
  } catch (error) {
    failed(exchange, error, context)
  } finally {
    logAnswer(context.log, exchange, ctx?.actor ?? null)
    if (asked.kind === 'service' && req.method === 'POST')
      observeGit(asked.service, 'http', exchange.res.statusCode < 400, (performance.now() - exchange.began) / 1000)
  }
}

const challenge = (exchange: Exchange, text = 'HTTP Basic: Access denied\n'): void =>
  sendText(exchange, 401, text, { ...plain, 'www-authenticate': 'Basic realm="Stithy"' })

function refuseCredentials(exchange: Exchange, denial: Denial, siteUrl: string): void {
  const { status, message, headers } = denialAnswer(denial, siteUrl)
  if (status === 401) challenge(exchange, `${message}\n`)
  else sendText(exchange, status, `${message}\n`, { ...plain, ...headers })
}

const resultOf = (service: Service): string => `application/x-${service}-result`

/**
 * Whether a push has room for a flush packet only, so that it changes nothing and has no answer. Git sends such a one before a pack that
 * it cannot send again, to learn whether it needs credentials: the push that follows creates the project, and says so.
 */
const isEmptyPush = ({ headers }: IncomingMessage): boolean => headers['content-length'] === '4'

/** The repository to advertise: an empty one if the push will create the project. */
async function advertised(
  ctx: Ctx,
  access: { target: GitTarget } | { plan: Plan },
  service: Service,
): Promise<Repository> {
  if ('plan' in access)
    return ctx.git
      .open(await ctx.git.emptyDir())
      .withSignal(ctx.signal)
      .for(ctx.shareKey)
  if (service === 'git-upload-pack') return openToFetch(ctx, access.target)
  return (await openToPush(ctx, access.target)).repo.withSignal(ctx.signal)
}

/** Sends the list of refs (with protocol v2, of capabilities), after the line that names the service. */
async function sendRefs(exchange: Exchange, repo: Repository, service: Service): Promise<void> {
  const side = service === 'git-upload-pack' ? 'upload-pack' : 'receive-pack'
  const { stream, done } = await advertise(repo, side, { protocol: header(exchange, 'git-protocol') })
  const { res } = exchange
  const signal = disconnectSignal(exchange)
  signal.throwIfAborted()
  res.writeHead(200, head(exchange, `application/x-${service}-advertisement`))
  res.write(linesWithFlush([`# service=${service}\n`]))
  await pipeline(stream, res, { signal })
  await done
}

async function fetch(
  exchange: Exchange,
  ctx: Ctx,
  { path, target }: { path: string; target: GitTarget },
  context: HttpContext,
  pace: BodyPace,
): Promise<void> {
  const requireStill = async () => {
    const actor = await callerNow(ctx.actor, context)
    const access = actor === undefined ? undefined : await gitAccess({ ...ctx, actor }, path, 'git-upload-pack', 'http')
    if (!access || !('target' in access)) throw forbidden('You are not allowed to download code any more.')
  }
  const { stream, done } = await uploadPack(await openToFetch(ctx, target), {
    statelessRpc: true,
    protocol: header(exchange, 'git-protocol'),
    requireStill,
    onDamage: damageLog(ctx, target),
  })
  await relay(exchange, stream, head(exchange, resultOf('git-upload-pack')), pace)
  requireEnd(exchange, await done)
  exchange.res.end()
}

/**
 * Ends the response only after the effects of the push are committed. If the client disconnects, git sees the end of its input
 * and ends by itself: a killed git would leave its quarantine behind.
 */
async function push(
  exchange: Exchange,
  ctx: Ctx,
  target: GitTarget,
  {
    pace,
    ...options
  }: { readonly pace: BodyPace; readonly answers: HttpContext['answersToPush']; readonly created?: boolean },
): Promise<void> {
  const { stream, done, settled } = await receivePush(ctx, target, {
    transport: 'http',
    statelessRpc: true,
    protocol: header(exchange, 'git-protocol'),
    ...options,
  })
  try {
    await relay(exchange, stream, head(exchange, resultOf('git-receive-pack')), pace)
    requireEnd(exchange, await done)
  } finally {
    await done.catch(() => {})
    await settled()
  }
  disconnectSignal(exchange).throwIfAborted()
  exchange.res.end()
}

/**
 * Throws if git was killed, be it because the client disconnected. The response must not look complete then: a client waits for ever for the rest of a report whose
 * response has ended, and fails at once when the connection breaks.
 */
function requireEnd(exchange: Exchange, { signal }: Exit): void {
  if (signal === null) return
  disconnectSignal(exchange).throwIfAborted()
  throw new Failure('unavailable', 'The git process was interrupted. Retry later.')
}

const header = ({ req }: Exchange, name: string): string | undefined => {
  const value = req.headers[name]
  return typeof value === 'string' ? value : undefined
}

const head = (exchange: Exchange, contentType: string): Headers => ({
  ...exchange.headers,
  ...uncached,
  'content-type': contentType,
  'x-content-type-options': 'nosniff',
  'x-request-id': exchange.requestId,
})

const failed = (exchange: Exchange, error: unknown, { log }: HttpContext): void =>
  endFailed(exchange, error, {
    log,
    what: 'git request failed',
    send: ({ status, headers }) =>
      sendText(exchange, status, `${failureOf(error)?.message ?? 'Internal Server Error'}\n`, {
        ...plain,
        ...headers,
      }),
  })
