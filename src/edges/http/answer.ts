import { hash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { listBytes, type RecordText } from '../../api/record-texts.ts'
import { acceptedEncoding, compressed, type Encoding, isCompressible } from './compress.ts'
import { disconnectSignal } from './disconnect.ts'
import { hasEtag } from './etag.ts'
import { encodeLongJson } from './long-json.ts'

export type Headers = Record<string, string | number>

/** Sent with every response. */
export const commonHeaders = {
  'x-frame-options': 'SAMEORIGIN',
  'x-content-type-options': 'nosniff',
  vary: 'Origin',
} as const

/** `cache-control` of what an endpoint returns, unless it says otherwise: no cache that others share stores it. */
export const privateCacheControl = 'max-age=0, private, must-revalidate'

/** State of one request. */
export type Exchange = {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly requestId: string
  /** Address of the client, as a proxy on this machine reports it. */
  readonly remoteAddress: string
  /** Pattern of the URL, such as `/api/v4/projects/:id`; of a bounded set. */
  readonly route: string
  /** `performance.now()` at its start. */
  readonly began: number
  /** CORS and other headers that do not depend on the response. */
  readonly headers: Headers
  /** Bytes of the JSON with which it was answered, before compression. */
  answeredBytes?: number
}

const runtime = (exchange: Exchange) => ((performance.now() - exchange.began) / 1000).toFixed(6)

/** What says on whose behalf a request is. */
const credentialHeaders = 'Authorization, Private-Token, Sudo'

/**
 * The headers of a response, including the common ones. One that a client may use again without asking is for the same credentials only: an
 * application may act for several users, and have one cache.
 */
export function allHeaders(exchange: Exchange, headers: Headers = {}): Headers {
  const all: Headers = Object.assign(
    { ...commonHeaders, 'x-request-id': exchange.requestId, 'x-runtime': runtime(exchange) },
    exchange.headers,
    headers,
  )
  if (/\bmax-age=[1-9]/.test(String(all['cache-control'] ?? ''))) all['vary'] = `${all['vary']}, ${credentialHeaders}`
  return all
}

/**
 * Sends JSON. A 200 to GET or HEAD gets a weak ETag of its bytes, unless `headers` has one (`W/"…"`), and becomes a 304 if the
 * client's `If-None-Match` contains it.
 */
export function sendJson(exchange: Exchange, status: number, value: unknown, headers: Headers = {}): void {
  sendText(exchange, status, JSON.stringify(value), { ...json, ...headers })
}

/** The same for a value with long lists, in turns with other requests. */
export async function sendLongJson(
  exchange: Exchange,
  status: number,
  value: unknown,
  headers: Headers = {},
): Promise<void> {
  const { bytes, md5 } = await encodeLongJson(value)
  if (!exchange.res.destroyed) sendTagged(exchange, status, bytes, () => weakEtag(md5), { ...json, ...headers })
}

export function sendText(exchange: Exchange, status: number, text: string, headers: Headers): void {
  // Node encodes headers like the string body that follows them; only ASCII is the same in UTF-8 and latin1.
  const isAscii = Buffer.byteLength(text) === text.length
  sendTagged(exchange, status, isAscii ? text : Buffer.from(text), () => etagOf(text), headers)
}

/** A text that is sent again and again, with its ETag. */
export class FixedText {
  readonly bytes: Buffer
  readonly etag: string

  constructor(text: string) {
    this.bytes = Buffer.from(text)
    this.etag = etagOf(this.bytes)
  }
}

/** Sends a text as `sendText` does, without hashing and encoding it each time. */
export function sendFixed(exchange: Exchange, { bytes, etag }: FixedText, headers: Headers): void {
  sendTagged(exchange, 200, bytes, () => etag, { ...headers, etag })
}

const json: Headers = { 'content-type': 'application/json' }

/** One record as JSON, or a list of records. */
export const bytesOf = (texts: readonly RecordText[], list: boolean): Buffer =>
  list ? listBytes(texts) : texts[0]!.bytes

/** Sends serialized records. The ETag is computed from their digests, which is cheaper than hashing the bytes. */
export function sendRecords(
  exchange: Exchange,
  status: number,
  texts: readonly RecordText[],
  list: boolean,
  headers: Headers,
): void {
  const etag = () => etagOf(texts.map(({ digest }) => digest).join())
  sendTagged(exchange, status, bytesOf(texts, list), etag, { ...json, ...headers })
}

const weakEtag = (digest: string): string => `W/"${digest}"`

const etagOf = (text: string | Buffer): string => weakEtag(hash('md5', text, 'hex'))

/** `ownEtag` returns the ETag if `headers` has none. */
function sendTagged(
  exchange: Exchange,
  status: number,
  body: Buffer | AsciiText,
  ownEtag: () => string,
  headers: Headers,
): void {
  const { req, res } = exchange
  exchange.answeredBytes = body.length
  const all = allHeaders(exchange, headers)
  const reads = req.method === 'GET' || req.method === 'HEAD'
  if (reads && status === 200) {
    const given = headers['etag']
    const etag = given === undefined ? ownEtag() : String(given)
    all['etag'] = etag
    all['cache-control'] ??= privateCacheControl
    const varies = isCompressible(all, body.length)
    if (varies) all.vary = `${all.vary}, Accept-Encoding`
    if (hasEtag(req.headers['if-none-match'], etag)) {
      delete all['content-type']
      res.writeHead(304, all)
      res.end()
      return
    }
    const encoding = varies ? acceptedEncoding(req.headers['accept-encoding']) : undefined
    if (encoding) return sendCompressed(exchange, body, encoding, all)
    // With a given ETag, a handler may skip the body of a HEAD.
    if (req.method !== 'HEAD' || given === undefined) all['content-length'] = body.length
  } else {
    all['content-length'] = body.length
  }
  res.writeHead(status, all)
  if (req.method === 'HEAD') res.end()
  else finish(res, body)
}

/** Sends a 200 with a compressed body; uncompressed if that cannot be made now. The weak ETag is that of the uncompressed one. */
function sendCompressed(exchange: Exchange, body: Buffer | AsciiText, encoding: Encoding, headers: Headers): void {
  const { req, res } = exchange
  const encoded = { ...headers, 'content-encoding': encoding }
  if (req.method === 'HEAD') {
    // The length is unknown without compressing.
    res.writeHead(200, encoded)
    res.end()
    return
  }
  const send = (smaller: Buffer | undefined) => {
    if (res.destroyed) return
    if (smaller) res.writeHead(200, { ...encoded, 'content-length': smaller.length })
    else res.writeHead(200, { ...headers, 'content-length': body.length })
    finish(res, smaller ?? body)
  }
  const result = compressed(typeof body === 'string' ? Buffer.from(body, 'latin1') : body, encoding)
  if (!(result instanceof Promise)) return send(result)
  // The log reads the status before the body is ready.
  res.statusCode = 200
  void result.then(send)
}

/** One byte per character, in UTF-8 and in latin1. */
type AsciiText = string

/** Up to this size, copying a body is cheaper than a separate write. */
const joinedBytes = 16 * 1024

/**
 * Writes the body. A small one goes out in one write with the headers, which Node does only for strings; latin1 maps every byte
 * to one character, and headers are latin1 as well.
 */
function finish(res: ServerResponse, body: Buffer | AsciiText): void {
  if (typeof body === 'string') res.end(body, 'latin1')
  else if (body.length <= joinedBytes) res.end(body.toString('latin1'), 'latin1')
  else res.end(body)
}

export function sendEmpty(exchange: Exchange, status: number, headers: Headers = {}): void {
  exchange.res.writeHead(status, allHeaders(exchange, headers))
  exchange.res.end()
}

/**
 * Sends a body; streams with back-pressure. Rejects if either side breaks; with `ClientDisconnected` if the client disconnected, even
 * before the call. Always destroys the stream, and so the process or file behind it.
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
  const signal = disconnectSignal(exchange)
  // A stream may fail before the first read. The reader gets the error; without a listener it would end the process.
  body.on('error', () => {})
  try {
    signal.throwIfAborted()
    res.writeHead(status, allHeaders(exchange, headers))
    if (req.method === 'HEAD') res.end()
    else await pipeline(body, res, { signal })
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    body.destroy()
  }
}
