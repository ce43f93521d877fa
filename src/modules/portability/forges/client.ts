import type { Readable } from 'node:stream'
import type { Ctx } from '../../../api/ctx.ts'
import { wallClockMs } from '../../../kernel/clock.ts'
import { type GuardRules, OutboundFailure, type OutboundResponse, sendOutbound } from '../../instance/index.ts'
import { RemoteBusy } from '../../lifecycle/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Adapter } from './adapter.ts'

/** Allowed addresses of forges. */
export const forgeRules: GuardRules = { purpose: 'import', schemes: ['http', 'https'], lowPorts: [80, 443] }

/** How an import reaches its forge. */
export type Access = { readonly adapter: Adapter; readonly forgeUrl: URL; readonly token: string }

/** The forge asks to wait, or does not answer as it should: another attempt may succeed. `afterMs` is what it asks for. */
export class ForgeBusy extends RemoteBusy {
  override name = 'ForgeBusy'
  readonly afterMs: number | undefined
  constructor(message: string, afterMs?: number) {
    super(message)
    this.afterMs = afterMs
  }
}

/** The forge refuses this list, and perhaps no other. */
export class ForgeDenial extends Error {
  override name = 'ForgeDenial'
  readonly status: number
  constructor(status: number) {
    super(`The forge answered with status ${status}`)
    this.status = status
  }
}

const timeoutMs = 60_000
/** A page has at most a hundred texts of 64 KiB, and whatever the forge says about them. */
const maxPageBytes = 16 * 1024 * 1024
/** Small values take much more memory than their bytes. */
const maxValues = 500_000
const [minWaitMs, maxWaitMs] = [1000, 65 * 60_000]
/** Some limits have no time. */
const usualWaitMs = 60_000

/** A page of the API, and the query of the next one. */
export type Answer = { readonly value: unknown; readonly next: string | undefined }

/**
 * Reads an address of the API. Throws `ForgeBusy`, `ForgeDenial`, or `ArchiveRefusal` if no attempt can succeed. The messages contain
 * neither the token nor the address.
 */
export async function getJson(
  ctx: Pick<Ctx, 'settings' | 'site'>,
  { adapter, token }: Access,
  url: string,
  signal?: AbortSignal,
): Promise<Answer> {
  const chunks: Buffer[] = []
  let tooLarge = false
  async function receive(body: Readable): Promise<void> {
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      tooLarge = bytes > maxPageBytes
      if (tooLarge) return
      chunks.push(chunk)
    }
  }
  let response: OutboundResponse
  try {
    response = await sendOutbound(ctx, {
      url,
      method: 'GET',
      rules: forgeRules,
      headers: { ...adapter.headers, 'user-agent': 'stithy' },
      secretHeaders: { authorization: adapter.authorization(token) },
      verifiesTls: true,
      timeoutMs,
      wholeHeaders: ['link', 'date', 'retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
      receive,
      ...(signal && { signal }),
    })
  } catch (error) {
    if (!(error instanceof OutboundFailure)) throw error
    if (error.message.startsWith('The address is blocked')) throw new ArchiveRefusal(error.message)
    throw new ForgeBusy(error.message)
  }
  if (tooLarge) throw new ArchiveRefusal(`A page of the API is larger than ${maxPageBytes} bytes`)
  requireSuccess(response)
  const bytes = Buffer.concat(chunks)
  if (countValues(bytes) > maxValues) throw new ArchiveRefusal(`A page of the API has more than ${maxValues} values`)
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new ForgeBusy('The forge did not answer with JSON')
  }
  return { value, next: nextQuery(response.headers['link']) }
}

/** About how many values JSON has, without building them. */
function countValues(json: Buffer): number {
  const [quote, backslash, comma, bracket, brace] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b]
  let count = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === comma || byte === bracket || byte === brace) count++
    else if (byte === quote) while (++at < json.length && json[at] !== quote) if (json[at] === backslash) at++
  }
  return count
}

function requireSuccess({ status, headers, body }: OutboundResponse): void {
  if (status >= 200 && status < 300) return
  if (status === 401) throw new ArchiveRefusal('The forge refused the token')
  const isLimit =
    status === 429 ||
    (status === 403 &&
      (headers['retry-after'] !== undefined ||
        headers['x-ratelimit-remaining'] === '0' ||
        /rate limit|abuse detection/i.test(body)))
  if (isLimit) throw new ForgeBusy('The rate limit of the forge is reached', waitOf(headers))
  if (status >= 500 || status === 408 || status === 0) throw new ForgeBusy(`The forge answered with status ${status}`)
  throw new ForgeDenial(status)
}

/** How long the forge asks to wait. Its own clock counts, if it tells the time. */
function waitOf(headers: OutboundResponse['headers']): number {
  const { 'retry-after': after, 'x-ratelimit-reset': reset, date } = headers
  const now = Date.parse(date ?? '') || wallClockMs()
  const wait =
    after !== undefined
      ? /^\d{1,9}$/.test(after)
        ? Number(after) * 1000
        : Date.parse(after) - now
      : reset !== undefined && /^\d{1,12}$/.test(reset)
        ? Number(reset) * 1000 - now
        : usualWaitMs
  return Math.min(Math.max(Number.isNaN(wait) ? usualWaitMs : wait, minWaitMs), maxWaitMs)
}

/**
 * The query of the next page. The rest of the address is not used: forges behind a proxy name hosts that are not reachable, and a
 * hostile one might name any.
 */
export function nextQuery(link: string | undefined): string | undefined {
  const next = /<([^<>]{1,4000})>\s*;\s*rel="?next"?/.exec(link ?? '')?.[1]
  const url = next === undefined ? null : URL.parse(next, 'http://forge.invalid')
  return url && url.search.length > 1 && url.search.length <= 2000 ? url.search.slice(1) : undefined
}
