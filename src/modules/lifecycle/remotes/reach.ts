import type { Ctx } from '../../../api/ctx.ts'
import type { Remote } from '../../../git/transfer/remote.ts'
import { credentialsOf, type Destination, type GuardRules, guardUrl, pinOf } from '../../instance/index.ts'
import { RemoteRefusal } from './refusal.ts'

/**
 * The remote at a stored URL. Checks the URL again, because DNS and settings may have changed since it was accepted; throws
 * `RemoteRefusal` if it is blocked or its host does not resolve.
 */
export async function reachRemote(ctx: Ctx, url: string, rules: GuardRules): Promise<Remote> {
  const destination = await guardUrl(ctx, url, rules)
  if ('blocked' in destination) throw new RemoteRefusal(`The address is blocked: ${destination.blocked}`)
  if (destination.addresses.length === 0) throw new RemoteRefusal(`Could not resolve host: ${destination.host}`)
  return { url: plainUrl(destination), credentials: credentialsOf(destination.url), pinned: pinOf(ctx, destination) }
}

/** URL with the host as the guard parsed it, without credentials. */
function plainUrl({ scheme, host, port, url }: Destination): string {
  const name = host.includes(':') ? `[${host}]` : host
  return `${scheme}://${name}:${port}${url.pathname}${url.search}`
}
