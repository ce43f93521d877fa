import type { Ctx } from '../../api/ctx.ts'
import { grantToken, registryService } from '../../modules/registry/index.ts'
import { type Exchange, sendJson } from '../http/answer.ts'
import { authenticateGit, type Denial, denialAnswer } from '../http/authenticate-git.ts'
import type { HttpContext } from '../http/context.ts'
import { refusedByLimits } from '../http/rate-limit.ts'
import { logAnswer } from '../http/request-log.ts'
import { splitTarget } from '../http/target.ts'
import { RegistryError } from './errors.ts'
import { failed } from './failed.ts'

/** Issues tokens to clients of the registry: `GET /jwt/auth?service=container_registry&scope=…`, with Basic credentials or none. */
export async function serveToken(exchange: Exchange, context: HttpContext): Promise<void> {
  const { req, remoteAddress } = exchange
  let ctx: Ctx | undefined
  try {
    const query = new URLSearchParams(splitTarget(req.url!).query)
    if (query.get('service') !== registryService)
      throw new RegistryError('UNSUPPORTED', { status: 404, message: 'unknown service' })
    const { registry } = context
    if (registry.host === undefined)
      throw new RegistryError('UNAVAILABLE', { status: 404, message: 'registry not enabled' })
    const shown = await authenticateGit(req.headers.authorization, context, remoteAddress, 'registry')
    ctx = await context.open('denied' in shown ? null : shown.caller, remoteAddress)
    if (await refusedByLimits(exchange, ctx, ctx.actor, remoteAddress, 'web')) return
    if ('denied' in shown) throw denied(shown, context.siteUrl)
    const token = await grantToken(ctx, query.getAll('scope'))
    if (token === undefined) throw new RegistryError('DENIED', { message: 'access forbidden' })
    sendJson(exchange, 200, { token }, { 'cache-control': 'no-store' })
  } catch (error) {
    failed(exchange, error, context.log, 'registry token request failed')
  } finally {
    logAnswer(context.log, exchange, ctx?.actor ?? null)
  }
}

/** Refusals of passwords that a token replaces. */
const needToken: ReadonlySet<string> = new Set(['passwords_off', 'code_missing', 'code_demanded'])

function denied(denial: Denial, siteUrl: string): RegistryError {
  const { status, message, headers } = denialAnswer(denial, siteUrl)
  if (needToken.has(denial.denied))
    return new RegistryError('UNAUTHORIZED', {
      message: `HTTP Basic: Access denied\nYou must use a personal access token with 'read_registry' or 'write_registry' scope for the container registry.\nYou can generate one at ${siteUrl}/-/docs#tag--tokens`,
    })
  if (status === 401) return new RegistryError('UNAUTHORIZED', { message, headers })
  return new RegistryError(status === 429 ? 'TOOMANYREQUESTS' : 'DENIED', { status, message, headers })
}
