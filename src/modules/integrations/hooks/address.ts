import type { Ctx } from '../../../api/ctx.ts'
import { Failure } from '../../../kernel/failure.ts'
import { type GuardRules, guardUrl, type Resolve } from '../../instance/index.ts'
import type { HookKind } from './triggers.ts'

/** Maximum characters of the URL of a hook. */
const maxUrlLength = 2048

/** What the URL of a hook may be; checked again before each request. */
export const addressRules = (kind: HookKind): GuardRules => ({
  schemes: ['http', 'https'],
  purpose: kind === 'system' ? 'system_hook' : 'hook',
})

/** An accepted URL: whole, for display, its scheme and host, and its host. */
export type Address = {
  readonly whole: string
  readonly shown: string
  readonly origin: string
  readonly host: string
}

const mask = '*****'

/** Undefined for a URL to which no hook may send. */
export async function findAddress(
  ctx: Ctx,
  kind: HookKind,
  text: string,
  resolve?: Resolve,
): Promise<Address | undefined> {
  const trimmed = text.trim()
  const target = trimmed.length > maxUrlLength ? undefined : await guardUrl(ctx, trimmed, addressRules(kind), resolve)
  if (!target || 'blocked' in target) return undefined
  const { url } = target
  const shown = plainUrl.test(trimmed) ? trimmed : shownUrl(url)
  return { whole: url.href, shown, origin: originOf(shown), host: target.host.toLowerCase() }
}

/** Throws `unprocessable` for a URL to which no hook may send. */
export async function acceptAddress(ctx: Ctx, kind: HookKind, text: string, resolve?: Resolve): Promise<Address> {
  const address = await findAddress(ctx, kind, text, resolve)
  if (!address) throw new Failure('unprocessable', 'Invalid url given')
  return address
}

/** A URL that is shown as it was written, because clients compare it with what they sent. It has no credentials in any reading. */
const plainUrl = /^https?:\/\/[\w.:[\]-]+(?:\/[^\s\p{Cc}]*)?$/iu

/** As it is read, with asterisks for user name and password. */
function shownUrl(url: URL): string {
  const user = url.username === '' && url.password === '' ? '' : `${mask}:${mask}@`
  return `${url.protocol}//${user}${url.host}${url.pathname}${url.search}${url.hash}`
}

/** Whether a URL leads to another host than the one before, or to the same without its encryption. */
export function isElsewhere(before: string, now: string): boolean {
  const [from, to] = [new URL(before), new URL(now)]
  return from.hostname !== to.hostname || (from.protocol === 'https:' && to.protocol === 'http:')
}

/** Scheme and host of a URL, for the audit log. */
export const originOf = (shown: string): string => {
  const { protocol, host } = new URL(shown)
  return `${protocol}//${host}`
}
