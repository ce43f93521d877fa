import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export type Headers = Record<string, string | number>

/** On every answer of the service. */
export const commonHeaders = {
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff',
  vary: 'Origin',
} as const

/** What one request knows of itself while it is answered. */
export type Exchange = {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly requestId: string
  /** `performance.now()` at its beginning. */
  readonly began: number
  /** CORS and other headers that do not depend on the answer. */
  readonly headers: Headers
}

const runtime = (exchange: Exchange) => ((performance.now() - exchange.began) / 1000).toFixed(6)

const allHeaders = (exchange: Exchange, headers: Headers): Headers => ({
  ...commonHeaders,
  ...exchange.headers,
  'x-request-id': exchange.requestId,
  'x-runtime': runtime(exchange),
  ...headers,
})

/**
 * Sends JSON. A 200 to GET or HEAD gets a weak ETag of its bytes, unless `headers` has one (`W/"…"`), and is a 304 when
 * the caller has that.
 */
export function sendJson(exchange: Exchange, status: number, value: unknown, headers: Headers = {}): void {
  sendText(exchange, status, JSON.stringify(value), { 'content-type': 'application/json', ...headers })
}

export function sendText(exchange: Exchange, status: number, text: string, headers: Headers): void {
  const { req, res } = exchange
  const reads = req.method === 'GET' || req.method === 'HEAD'
  if (reads && status === 200) {
    const given = headers['etag']
    const etag = given === undefined ? `W/"${hash('md5', text, 'hex')}"` : String(given)
    const cached: Headers = { etag, 'cache-control': 'max-age=0, private, must-revalidate', ...headers }
    if (isNamed(req.headers['if-none-match'], etag)) {
      const { 'content-type': _, ...rest } = cached
      res.writeHead(304, allHeaders(exchange, rest))
      res.end()
      return
    }
    // With an ETag of its own, a HEAD may have made less than the whole body.
    const length = req.method === 'HEAD' && given !== undefined ? {} : { 'content-length': Buffer.byteLength(text) }
    res.writeHead(200, allHeaders(exchange, { ...cached, ...length }))
  } else {
    res.writeHead(status, allHeaders(exchange, { ...headers, 'content-length': Buffer.byteLength(text) }))
  }
  // As bytes: Node would write headers in the encoding of a string that follows them.
  res.end(req.method === 'HEAD' ? undefined : Buffer.from(text))
}

/** Weak comparison, as If-None-Match asks for. */
const isNamed = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag.slice(2))

export function sendEmpty(exchange: Exchange, status: number, headers: Headers = {}): void {
  exchange.res.writeHead(status, allHeaders(exchange, headers))
  exchange.res.end()
}

/** Sends bytes; a stream is read only as fast as the caller takes it. Rejects when either side breaks. */
export async function sendBody(
  exchange: Exchange,
  status: number,
  body: Buffer | Readable,
  headers: Headers,
): Promise<void> {
  const { req, res } = exchange
  res.writeHead(
    status,
    allHeaders(exchange, Buffer.isBuffer(body) ? { ...headers, 'content-length': body.length } : headers),
  )
  if (req.method === 'HEAD') {
    if (body instanceof Readable) body.destroy()
    res.end()
  } else if (Buffer.isBuffer(body)) {
    res.end(body)
  } else {
    await pipeline(body, res)
  }
}
