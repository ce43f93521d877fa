import type { Scope } from '../../access/scopes.ts'
import type { Ctx } from '../../api/ctx.ts'
import { requireTerms } from '../../areas/terms/service.ts'
import type { Exchange } from './answer.ts'
import { callerOf, requireScope, shownToken } from './authenticate.ts'
import { parseQuery } from './body/urlencoded.ts'
import type { Doors } from './doors.ts'
import { refusedByLimits } from './rate-limit.ts'

/**
 * The context of a request for a file beside the API, whose caller passed what every request of the API passes: his token
 * and one of these scopes, limits, terms. `undefined` when he is over a limit, which he has been told.
 */
export async function openForFiles(
  exchange: Exchange,
  remoteAddress: string,
  doors: Doors,
  scopes: readonly Scope[],
): Promise<Ctx | undefined> {
  const { headers, url } = exchange.req
  const token = shownToken(headers, parseQuery(url!.split('?', 2)[1] ?? ''))
  const ctx = await doors.open(await callerOf(token, doors.authenticator), remoteAddress)
  if (await refusedByLimits(exchange, ctx, ctx.actor, remoteAddress, 'web')) return undefined
  requireScope(ctx.actor, scopes)
  await requireTerms(ctx)
  return ctx
}
