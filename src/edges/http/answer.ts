import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { listBytes, type RecordText } from '../../api/record-texts.ts'
import { goneSignal } from './gone.ts'

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

/** The headers of an answer, with those that every answer has. */
export const allHeaders = (exchange: Exchange, headers: Headers = {}): Headers =>
  Object.assign(
    { ...commonHeaders, 'x-request-id': exchange.requestId, 'x-runtime': runtime(exchange) },
    exchange.headers,
    headers,
  )

/**
 * Sends JSON. A 200 to GET or HEAD gets a weak ETag of its bytes, unless `headers` has one (`W/"…"`), and is a 304 when
 * the caller has that.
 */
export function sendJson(exchange: Exchange, status: number, value: unknown, headers: Headers = {}): void {
  sendText(exchange, status, JSON.stringify(value), { ...json, ...headers })
}

export function sendText(exchange: Exchange, status: number, text: string, headers: Headers): void {
  // Node writes headers in the encoding of a string that follows them: only ASCII is the same in both of ours.
  const isAscii = Buffer.byteLength(text) === text.length
  sendTagged(exchange, status, isAscii ? text : Buffer.from(text), () => text, headers)
}

const json: Headers = { 'content-type': 'application/json' }

/** One record as JSON, or those of a list. */
export const bytesOf = (texts: readonly RecordText[], list: boolean): Buffer =>
  list ? listBytes(texts) : texts[0]!.bytes

/** Sends records that are text already. The ETag is made of their digests, which costs less than hashing the bytes. */
export function sendRecords(
  exchange: Exchange,
  status: number,
  texts: readonly RecordText[],
  list: boolean,
  headers: Headers,
): void {
  const tagged = () => texts.map(({ digest }) => digest).join()
  sendTagged(exchange, status, bytesOf(texts, list), tagged, { ...json, ...headers })
}

/** `tagged` is what the ETag is a digest of, when `headers` has none. */
function sendTagged(
  exchange: Exchange,
  status: number,
  body: Buffer | AsciiText,
  tagged: () => string,
  headers: Headers,
): void {
  const { req, res } = exchange
  const all = allHeaders(exchange, headers)
  const reads = req.method === 'GET' || req.method === 'HEAD'
  if (reads && status === 200) {
    const given = headers['etag']
    const etag = given === undefined ? `W/"${hash('md5', tagged(), 'hex')}"` : String(given)
    all['etag'] = etag
    all['cache-control'] ??= 'max-age=0, private, must-revalidate'
    if (isNamed(req.headers['if-none-match'], etag)) {
      delete all['content-type']
      res.writeHead(304, all)
      res.end()
      return
    }
    // With an ETag of its own, a HEAD may have made less than the whole body.
    if (req.method !== 'HEAD' || given === undefined) all['content-length'] = body.length
  } else {
    all['content-length'] = body.length
  }
  res.writeHead(status, all)
  if (req.method === 'HEAD') res.end()
  else finish(res, body)
}

/** Each character is one byte, in every encoding of ours. */
type AsciiText = string

/** Up to here copying a body costs less than writing it apart from its headers. */
const joinedBytes = 16 * 1024

/**
 * Writes the body. A small one goes out in one write with the headers, which Node does for strings only: as latin1, in which
 * every byte is one character, and in which our headers are meant, too.
 */
function finish(res: ServerResponse, body: Buffer | AsciiText): void {
  if (typeof body === 'string') res.end(body, 'latin1')
  else if (body.length <= joinedBytes) res.end(body.toString('latin1'), 'latin1')
  else res.end(body)
}

/** Weak comparison, as If-None-Match asks for. */
const isNamed = (header: string | undefined, etag: string): boolean =>
  header !== undefined &&
  header.split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag.slice(2))

export function sendEmpty(exchange: Exchange, status: number, headers: Headers = {}): void {
  exchange.res.writeHead(status, allHeaders(exchange, headers))
  exchange.res.end()
}

/**
 * Sends bytes; a stream is read only as fast as the client takes it. Rejects when either side breaks, with `ClientGone`
 * when the client closed the connection, be it before the call. However it ends, the stream is destroyed, and with it the
 * process or file behind it.
 */
export async function sendBody(
  exchange: Exchange,
  status: number,
  body: Buffer | Readable,
  headers: Headers,
): Promise<void> {
  const { req, res } = exchange
  if (Buffer.isBuffer(body)) {
    res.writeHead(status, allHeaders(exchange, { ...headers, 'content-length': body.length }))
    if (req.method === 'HEAD') res.end()
    else finish(res, body)
    return
  }
  const gone = goneSignal(exchange)
  // A stream may fail between its making and the first read. Its reader gets the error; without one it ends the process.
  body.on('error', () => {})
  try {
    gone.throwIfAborted()
    res.writeHead(status, allHeaders(exchange, headers))
    if (req.method === 'HEAD') res.end()
    else await pipeline(body, res, { signal: gone })
  } catch (error) {
    gone.throwIfAborted()
    throw error
  } finally {
    body.destroy()
  }
}
