import type { ServerResponse } from 'node:http'
import type { BlobStore, Digest, StoredBlob } from '../../blobs/blob-store.ts'
import { allHeaders, type Exchange, type Headers, sendBody, sendEmpty } from './answer.ts'
import { disconnectSignal } from './disconnect.ts'
import { hasEtag } from './etag.ts'
import { parseRange, type Range } from './range.ts'

/** Up to this size, another request costs the client more time than it saves. */
const sentDirectlyBytes = 64 * 1024

/** The store has lost a blob that a row names, or a part of it. */
export class MissingBlob extends Error {
  override name = 'MissingBlob'

  constructor(digest: Digest, found?: number) {
    super(`the blob ${digest} ${found === undefined ? 'is missing' : `has ${found} bytes only`}`)
  }
}

/**
 * Sends a blob, or the part that `Range` requests, with its digest as ETag; 304 if the client has it. Content with a digest
 * never changes. If the store has links, a GET of a larger blob is redirected to one. False if the range is unsatisfiable; nothing
 * has been sent, and the caller sends its own 416. `headers` has the media type and the disposition.
 * Throws a `MissingBlob`, before anything is sent, if the store has lost the bytes. If their digest is another one, the response ends
 * before its last bytes, unless it is a part, or the client compares the digest itself (`clientVerifies`), which is several times faster.
 */
export async function sendBlob(
  exchange: Exchange,
  blobs: BlobStore,
  { digest, sizeBytes }: StoredBlob,
  headers: Headers,
  { clientVerifies = false } = {},
): Promise<boolean> {
  const asked = exchange.req.headers
  const etag = `"${digest}"`
  const validators: Headers = {
    etag,
    'accept-ranges': 'bytes',
    'content-security-policy': "sandbox; default-src 'none'",
  }
  if (hasEtag(asked['if-none-match'], etag)) {
    sendEmpty(exchange, 304, { ...validators, ...headers })
    return true
  }
  const ifRange = asked['if-range']
  // RFC 9110, 14.2: a range is for GET only.
  const mayBePart = exchange.req.method === 'GET' && (ifRange === undefined || ifRange === etag)
  const range = mayBePart ? parseRange(asked.range, sizeBytes) : undefined
  if (range === 'unsatisfiable') return false
  const length = range ? range.end - range.start + 1 : sizeBytes
  const sent: Headers = {
    ...validators,
    ...headers,
    'content-length': length,
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${sizeBytes}` }),
  }
  if (exchange.req.method === 'HEAD') {
    const stored = await blobs.size(digest)
    if (stored !== sizeBytes) throw new MissingBlob(digest, stored)
    sendEmpty(exchange, 200, sent)
    return true
  }
  const link = await linkFor(exchange, blobs, { digest, sizeBytes }, headers)
  if (link !== undefined) {
    sendEmpty(exchange, 302, { location: link, 'cache-control': 'no-store', 'content-length': 0 })
    return true
  }
  const status = range ? 206 : 200
  if (blobs.copyTo && length >= copiedBytes && (clientVerifies || range)) {
    await copyBlob(exchange, status, { digest, range: range ?? { start: 0, end: sizeBytes - 1 } }, blobs, sent)
    return true
  }
  const blob = await blobs.get(digest, range, { signal: disconnectSignal(exchange) })
  if (!blob) throw new MissingBlob(digest)
  if (blob.sizeBytes !== sizeBytes) {
    blob.body.destroy()
    // With fewer bytes than the headers say, the client would take the next response for the rest.
    throw new MissingBlob(digest, blob.sizeBytes)
  }
  await sendBody(exchange, status, blob.body, sent)
  return true
}

/**
 * Where a client may fetch the blob; undefined if it must get it here. Clients repeat `Private-Token` at the other host, and drop
 * `Authorization` only.
 */
async function linkFor(
  { req }: Exchange,
  blobs: BlobStore,
  { digest, sizeBytes }: StoredBlob,
  headers: Headers,
): Promise<string | undefined> {
  if (sizeBytes <= sentDirectlyBytes || req.headers['private-token']) return undefined
  return await blobs.link(digest, {
    contentType: String(headers['content-type']),
    disposition: String(headers['content-disposition']),
  })
}

/** Smaller bodies are sent as streams, which need less memory at once. */
const copiedBytes = 512 * 1024

/** As `sendBody`, without a stream. */
async function copyBlob(
  exchange: Exchange,
  status: number,
  { digest, range }: { readonly digest: Digest; readonly range: Range },
  blobs: BlobStore,
  headers: Headers,
): Promise<void> {
  const { res } = exchange
  const signal = disconnectSignal(exchange)
  signal.throwIfAborted()
  const write = (chunk: Buffer) => {
    if (!res.headersSent) res.writeHead(status, allHeaders(exchange, headers))
    return written(res, chunk, signal)
  }
  try {
    if (!(await blobs.copyTo!(digest, range, write, { signal }))) throw new MissingBlob(digest)
    res.end()
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/** Resolves when the system has taken the bytes. A response that waits behind another one never reports that, if the client disconnects. */
const written = (res: ServerResponse, chunk: Buffer, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const gone = () => reject(signal.reason)
    if (signal.aborted) return gone()
    signal.addEventListener('abort', gone, { once: true })
    res.write(chunk, (error) => {
      signal.removeEventListener('abort', gone)
      if (error) reject(error)
      else resolve()
    })
  })
