import type { FastifyReply, FastifyRequest } from 'fastify'
import type { RawParams } from '../../api/params/raw.ts'
import {
  findOauthToken,
  grantByPassword,
  grantByRefresh,
  type Refused,
  revoke,
  type TokenAnswer,
} from '../../modules/accounts/index.ts'
import { admit } from './admit.ts'
import { type Exchange, sendJson } from './answer.ts'
import { shownToken } from './authenticate.ts'
import { anonymousLimits } from './body/limits.ts'
import { readBody } from './body/read-body.ts'
import { parseUrlencoded } from './body/urlencoded.ts'
import type { HttpContext } from './context.ts'
import { beginExchange } from './exchange.ts'
import { fail } from './fail.ts'
import { WireFailure } from './failures.ts'
import { refusedByLimits } from './rate-limit.ts'
import { logAnswer } from './request-log.ts'
import type { Routes } from './server.ts'
import { splitTarget } from './target.ts'

/** RFC 6749 (5.1): responses with tokens must not be cached. */
const unstored = { 'cache-control': 'no-store', pragma: 'no-cache' }

const descriptions = {
  invalid_request:
    'The request is missing a required parameter, includes an unsupported parameter value, or is otherwise malformed.',
  invalid_client:
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.',
  invalid_grant:
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.',
  invalid_scope: 'The requested scope is invalid, unknown, or malformed.',
  unsupported_grant_type: 'The authorization grant type is not supported by the authorization server.',
} as const

const refuse = (
  error: keyof typeof descriptions,
  {
    status = 400,
    description = descriptions[error],
    headers = {},
  }: { status?: number; description?: string; headers?: Record<string, string> } = {},
): WireFailure =>
  new WireFailure({ status, body: { error, error_description: description }, headers: { ...unstored, ...headers } })

const text = (params: RawParams, name: string): string | undefined => {
  const value = params[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

function required(params: RawParams, name: string): string {
  const value = text(params, name)
  if (value === undefined) throw refuse('invalid_request', { description: `Missing required parameter: ${name}.` })
  return value
}

/** The code of the second factor, in the established header or our own. */
const codeOf = ({ headers }: Exchange['req']): string | undefined =>
  [headers['x-gitlab-otp'], headers['x-service-otp']].find(
    (each): each is string => typeof each === 'string' && each !== '',
  )

function refusalOf(refused: Refused): WireFailure {
  switch (refused.error) {
    case 'throttled':
      return refuse('invalid_grant', {
        status: 429,
        description: 'Too many failed attempts. Try again later.',
        headers: { 'retry-after': String(refused.retryAfterSeconds) },
      })
    case 'code_missing':
      return refuse('invalid_grant', {
        description: 'A code of the second factor is needed.',
        headers: { 'x-gitlab-otp': 'required; app', 'x-service-otp': 'required; app' },
      })
    default:
      return refuse(refused.error)
  }
}

/** `/oauth`: issues tokens (RFC 6749: password and refresh_token), describes them, and revokes them (RFC 7009). */
export const oauthRoutes =
  (context: HttpContext): Routes =>
  (app) => {
    const serve =
      (answer: (exchange: Exchange, params: RawParams, remoteAddress: string) => Promise<unknown>) =>
      async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
        reply.hijack()
        const exchange = beginExchange(request, reply, context.siteUrl)
        try {
          const limits = { db: context.db, settings: await context.settings.get() }
          // A token request is anonymous; a request for token information counts for the user of the token.
          if (request.raw.method === 'POST' && (await refusedByLimits(exchange, limits, null, request.ip, 'web')))
            return
          const params = await paramsOf(request, context)
          const result = await answer(exchange, params, request.ip)
          // Without a result it is answered already.
          if (result !== undefined) sendJson(exchange, 200, result, unstored)
        } catch (error) {
          fail(exchange, error, context)
        } finally {
          logAnswer(context.log, exchange, null)
        }
      }

    app.route({
      method: 'POST',
      url: '/oauth/token',
      handler: serve(async (exchange, params, remoteAddress) => {
        // Applications cannot be registered, so every client id is unknown.
        if (exchange.req.headers.authorization !== undefined || text(params, 'client_id') !== undefined)
          throw refuse('invalid_client', { status: 401, headers: { 'www-authenticate': 'Basic realm="Stithy"' } })
        const answer = await grant(exchange, params, remoteAddress, context)
        if ('error' in answer) throw refusalOf(answer)
        return answer
      }),
    })

    app.route({
      method: ['GET', 'HEAD'],
      url: '/oauth/token/info',
      handler: serve(async (exchange, params, remoteAddress) => {
        const settings = await context.settings.get()
        const visitor = { exchange, remoteAddress, settings, kind: 'web', transport: 'oauth' } as const
        const actor = await admit(shownToken(exchange.req.headers, params), visitor, context)
        if (actor === undefined) return undefined
        const row = actor?.tokenId === undefined ? undefined : await findOauthToken(context.db, actor.tokenId)
        if (!row)
          throw new WireFailure({
            status: 401,
            body: { error: 'invalid_token', error_description: 'The access token is invalid' },
            headers: { ...unstored, 'www-authenticate': 'Bearer realm="The API", error="invalid_token"' },
          })
        return {
          resource_owner_id: row.user_id,
          scope: row.scopes,
          expires_in: row.expires_in,
          application: { uid: null },
          created_at: row.created_at,
          scopes: row.scopes,
          expires_in_seconds: row.expires_in,
        }
      }),
    })

    app.route({
      method: 'POST',
      url: '/oauth/revoke',
      handler: serve(async (_exchange, params, remoteAddress) => {
        await revoke(await context.open(null, remoteAddress), required(params, 'token'))
        return {}
      }),
    })
  }

async function grant(
  { req }: Exchange,
  params: RawParams,
  remoteAddress: string,
  context: HttpContext,
): Promise<TokenAnswer | Refused> {
  const type = required(params, 'grant_type')
  const ctx = () => context.open(null, remoteAddress)
  const scope = text(params, 'scope')
  // Without a scope, the token would get more rights than the client wants.
  if (scope === undefined && params['scope'] !== undefined && params['scope'] !== null && params['scope'] !== '')
    throw refuse('invalid_scope')
  if (type === 'password')
    return grantByPassword(await ctx(), {
      username: required(params, 'username'),
      password: required(params, 'password'),
      code: codeOf(req),
      scope,
    })
  if (type === 'refresh_token')
    return grantByRefresh(await ctx(), { refreshToken: required(params, 'refresh_token'), scope })
  throw refuse('unsupported_grant_type')
}

const maxFilterBytes = 64 * 1024

async function paramsOf({ raw }: FastifyRequest, { uploadsDir }: HttpContext): Promise<RawParams> {
  const query = parseUrlencoded(splitTarget(raw.url!).query ?? '')
  if (raw.method !== 'POST') return query
  const limits = { ...anonymousLimits, bytes: maxFilterBytes }
  const body = await readBody({ method: 'POST', headers: raw.headers, body: raw, limits, tmpDir: uploadsDir })
  try {
    return { ...query, ...body.params }
  } finally {
    await body.cleanup()
  }
}
