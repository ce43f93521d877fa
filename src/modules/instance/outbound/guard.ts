import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import type { Ctx } from '../../../api/ctx.ts'
import type { Settings } from '../../../settings/settings.ts'
import { Trusted, violationAbout } from './addresses.ts'
import { type OutboundUrl, readUrl, type UrlRules } from './url.ts'

/** Purpose of a request. A separate setting opens the local network to system hooks. */
export type Purpose = 'import' | 'hook' | 'system_hook'

/** Rules for one kind of outbound request. */
export type GuardRules = UrlRules & { readonly purpose: Purpose }

const allowsLocal = (settings: Settings, purpose: Purpose): boolean =>
  purpose === 'system_hook'
    ? settings.allow_local_requests_from_system_hooks
    : settings.allow_local_requests_from_web_hooks_and_services

/**
 * An allowed target of a request. `addresses` are the current addresses of its host, empty if the host does not
 * resolve.
 */
export type Destination = OutboundUrl & { readonly addresses: readonly string[] }

/** Resolves all addresses of a host; none if it does not exist. Tests replace it. */
export type Resolve = (host: string) => Promise<readonly string[]>

const resolveByDns: Resolve = async (host) =>
  (await lookup(host, { all: true, verbatim: true }).catch(() => [])).map(({ address }) => address)

/**
 * Decides whether a request on a user's behalf may go to this address: the SSRF guard of imports, hooks and all other
 * outbound requests. It checks every address that the host resolves to, so the request must connect to one of
 * `addresses` only (`pinOf`) and must not follow a redirect that was not checked itself. The installation's own web
 * address is always allowed.
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
  const resolved = isIP(host) === 0 ? await resolve(host) : [host]
  // RFC 6761 reserves these names for this machine; resolvers that do not know one may learn it later.
  const addresses = resolved.length === 0 && localName.test(host) ? ['127.0.0.1'] : resolved
  if (allowsLocal(ctx.settings, rules.purpose) || isOwn(ctx.site.url, read)) return { ...read, addresses }
  const trusted = new Trusted(ctx.settings.outbound_local_requests_whitelist)
  if (trusted.hasName(host)) return { ...read, addresses }
  for (const address of addresses) {
    const violation = trusted.hasAddress(address) ? undefined : violationAbout(address)
    if (violation !== undefined) return { blocked: violation }
  }
  return { ...read, addresses }
}

const localName = /(^|\.)localhost\.?$/i

function isOwn(siteUrl: string, { url }: OutboundUrl): boolean {
  return new URL(siteUrl).origin === url.origin && url.origin !== 'null'
}

/** Whether a request connects to the checked addresses only, so that the host name cannot resolve to others after the check (DNS rebinding). */
export const isPinned = ({ settings }: Pick<Ctx, 'settings'>, { host, addresses }: Destination): boolean =>
  settings.dns_rebinding_protection_enabled && isIP(host) === 0 && addresses.length > 0

/**
 * The one address to which git connects, which takes no more. `undefined` if the host is an IP address or the setting disables the protection.
 */
export const pinOf = (
  ctx: Pick<Ctx, 'settings'>,
  destination: Destination,
): { host: string; port: number; address: string } | undefined =>
  isPinned(ctx, destination)
    ? { host: destination.host, port: destination.port, address: destination.addresses[0]! }
    : undefined
