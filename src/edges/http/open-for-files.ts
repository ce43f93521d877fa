import type { Scope } from '../../access/scopes.ts'
import type { Ctx } from '../../api/ctx.ts'
import { requireTerms } from '../../modules/instance/index.ts'
import { admit } from './admit.ts'
import type { Exchange } from './answer.ts'
import { requireScope, shownToken } from './authenticate.ts'
import { parseUrlencoded } from './body/urlencoded.ts'
import type { HttpContext } from './context.ts'
import { splitTarget } from './target.ts'

/**
 * Opens the context of a file request outside the API, after the checks of API requests: token with one of the scopes, rate
 * limits, terms. `undefined` if a limit is exceeded; the response has been sent then.
 */
export async function openForFiles(
  exchange: Exchange,
  remoteAddress: string,
  context: HttpContext,
  scopes: readonly Scope[],
): Promise<Ctx | undefined> {
  const { headers, url } = exchange.req
  const token = shownToken(headers, parseUrlencoded(splitTarget(url!).query ?? ''))
  const settings = await context.settings.get()
  const caller = await admit(token, { exchange, remoteAddress, settings, kind: 'web' }, context)
  if (caller === undefined) return undefined
  requireScope(caller, scopes)
  const ctx = await context.open(caller, remoteAddress)
  await requireTerms(ctx)
  return ctx
}
