import type { Scope } from '../../access/scopes.ts'
import type { Ctx } from '../../api/ctx.ts'
import { requireTerms } from '../../modules/instance/index.ts'
import { admit } from './admit.ts'
import type { Exchange } from './answer.ts'
import { requireScope, shownToken } from './authenticate.ts'
import { parseUrlencoded } from './body/urlencoded.ts'
import type { Doors } from './doors.ts'

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
  const token = shownToken(headers, parseUrlencoded(url!.split('?', 2)[1] ?? ''))
  const settings = await doors.settings.get()
  const caller = await admit(token, { exchange, remoteAddress, settings, door: 'web' }, doors)
  if (caller === undefined) return undefined
  requireScope(caller, scopes)
  const ctx = await doors.open(caller, remoteAddress)
  await requireTerms(ctx)
  return ctx
}
