import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Ctx } from '../../../api/ctx.ts'
import type { Settings } from '../../../settings/settings.ts'
import { complaintAbout, Trusted } from './addresses.ts'
import { type OutboundUrl, readUrl, type UrlRules } from './url.ts'

/** What a request is for: whether the local network is open to it is a setting of its own for those of administrators. */
export type Purpose = 'import' | 'hook' | 'system_hook'

/** A kind of request that we make for somebody. */
export type GuardRules = UrlRules & { readonly purpose: Purpose }

const allowsLocal = (settings: Settings, purpose: Purpose): boolean =>
  purpose === 'system_hook'
    ? settings.allow_local_requests_from_system_hooks
    : settings.allow_local_requests_from_web_hooks_and_services

/** An address that a request may go to. `addresses` are what its host stands for now; none when nobody knows it. */
export type Destination = OutboundUrl & { readonly addresses: readonly string[] }

/** Finds all that a host stands for; none when it does not exist. Tests replace it. */
export type Resolve = (host: string) => Promise<readonly string[]>

const resolveByDns: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true }).catch(() => [])).map(({ address }) => address)

/**
 * Whether a request that somebody wishes may go to this address: the one guard of imports, hooks and whatever else leaves
 * the house. What the host stands for is checked, every bit of it, so the request must go to one of `addresses` and nowhere
 * else (`pinOf`), and must not follow a redirect that was not guarded itself. Our own web address is always open.
 */
export async function guardUrl(
  ctx: Pick<Ctx, 'settings' | 'site'>,
  text: string,
  rules: GuardRules,
  resolve: Resolve = resolveByDns,
): Promise<Destination | { readonly blocked: string }> {
  const read = readUrl(text, rules)
  if ('blocked' in read) return read
  const { host } = read
  const addresses = isIP(host) === 0 ? await resolve(host) : [host]
  if (allowsLocal(ctx.settings, rules.purpose) || isOwn(ctx.site.url, read)) return { ...read, addresses }
  const trusted = new Trusted(ctx.settings.outbound_local_requests_whitelist)
  if (trusted.hasName(host)) return { ...read, addresses }
  for (const address of addresses) {
    const complaint = trusted.hasAddress(address) ? undefined : complaintAbout(address)
    if (complaint !== undefined) return { blocked: complaint }
  }
  return { ...read, addresses }
}

function isOwn(siteUrl: string, { url }: OutboundUrl): boolean {
  return new URL(siteUrl).origin === url.origin && url.origin !== 'null'
}

/**
 * The one address the request must go to, so that the name cannot stand for another by then; `undefined` when the host is
 * an address itself, or the setting leaves it open.
 */
export const pinOf = (
  { settings }: Pick<Ctx, 'settings'>,
  { host, port, addresses }: Destination,
): { host: string; port: number; address: string } | undefined =>
  settings.dns_rebinding_protection_enabled && isIP(host) === 0 && addresses[0] !== undefined
    ? { host, port, address: addresses[0] }
    : undefined
