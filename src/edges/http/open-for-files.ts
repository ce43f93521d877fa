import type { Scope } from '../../access/scopes.ts'
import type { Ctx } from '../../api/ctx.ts'
import { requireTerms } from '../../modules/instance/index.ts'
import { admit } from './admit.ts'
import type { Exchange } from './answer.ts'
import { requireScope, shownToken } from './authenticate.ts'
import { parseQuery } from './body/urlencoded.ts'
import type { Doors } from './doors.ts'

/**
 * Opens the context of a file request outside the API, after the checks of API requests: token with one of the scopes, rate
 * limits, terms. `undefined` if a limit is exceeded; the response has been sent then.
 */
export async function openForFiles(
  exchange: Exchange,
  remoteAddress: string,
  doors: Doors,
  scopes: readonly Scope[],
): Promise<Ctx | undefined> {
  const { headers, url } = exchange.req
  const token = shownToken(headers, parseQuery(url!.split('?', 2)[1] ?? ''))
  const settings = await doors.settings.get()
  const caller = await admit(token, { exchange, remoteAddress, settings, door: 'web' }, doors)
  if (caller === undefined) return undefined
  requireScope(caller, scopes)
  const ctx = await doors.open(caller, remoteAddress)
  await requireTerms(ctx)
  return ctx
}
