import { createHmac } from 'node:crypto'
import { withoutTrailing } from '../kernel/without-ends.ts'
import type { AssetProxy } from './types.ts'

/** Whether a host matches an entry such as `*.example.com`. Takes time proportional to the product of both lengths. */
function matches(host: string, entry: string): boolean {
  const [first, ...rest] = entry.toLowerCase().split('*')
  if (rest.length === 0) return host === first
  if (!host.startsWith(first!)) return false
  let at = first!.length
  const last = rest.pop()!
  for (const part of rest) {
    const found = host.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return host.length - at >= last.length && host.endsWith(last)
}

/**
 * The URL by which the proxy serves an image, in the format of Camo: HMAC-SHA1 of the URL, and the URL, both in hexadecimal. `undefined` for
 * hosts of the allowlist.
 */
export function proxiedUrl({ url, secret, allowlist }: AssetProxy, image: URL): string | undefined {
  if (allowlist.some((entry) => matches(image.hostname, entry))) return undefined
  const signature = createHmac('sha1', secret).update(image.href).digest('hex')
  return `${withoutTrailing(url, '/')}/${signature}/${Buffer.from(image.href).toString('hex')}`
}
