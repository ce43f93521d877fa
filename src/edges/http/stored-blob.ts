import type { BlobStore, Digest, StoredBlob } from '../../blobs/blob-store.ts'
import { type Exchange, type Headers, sendBody, sendEmpty } from './answer.ts'
import { disconnectSignal } from './disconnect.ts'
import { parseRange } from './range.ts'

/** Up to this size, another request costs the client more time than it saves. */
const sentDirectlyBytes = 64 * 1024

/**
 * Sends a blob, or the part that `Range` requests, with its digest as ETag; 304 if the client has it. Content with a digest
 * never changes. If the store has links, a GET of a larger blob is redirected to one. False if the range is unsatisfiable; nothing
 * has been sent, and the caller sends its own 416. `headers` has the media type and the disposition.
 */
export async function sendBlob(
  exchange: Exchange,
  blobs: BlobStore,
  { digest, sizeBytes }: StoredBlob,
  headers: Headers,
): Promise<boolean> {
  const asked = exchange.req.headers
  const etag = `"${digest}"`
  const validators: Headers = {
    etag,
    'accept-ranges': 'bytes',
    'content-security-policy': "sandbox; default-src 'none'",
  }
  if (isNamed(asked['if-none-match'], etag)) {
    sendEmpty(exchange, 304, { ...validators, ...headers })
    return true
  }
  const ifRange = asked['if-range']
  const range = ifRange === undefined || ifRange === etag ? parseRange(asked.range, sizeBytes) : undefined
  if (range === 'unsatisfiable') return false
  const sent: Headers = {
    ...validators,
    ...headers,
    'content-length': range ? range.end - range.start + 1 : sizeBytes,
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${sizeBytes}` }),
  }
  if (exchange.req.method === 'HEAD') {
    if (!(await blobs.has(digest))) throw missing(digest)
    sendEmpty(exchange, range ? 206 : 200, sent)
    return true
  }
  const link = await linkFor(exchange, blobs, { digest, sizeBytes }, headers)
  if (link !== undefined) {
    sendEmpty(exchange, 302, { location: link, 'cache-control': 'no-store', 'content-length': 0 })
    return true
  }
  const blob = await blobs.get(digest, range, { signal: disconnectSignal(exchange) })
  if (!blob) throw missing(digest)
  await sendBody(exchange, range ? 206 : 200, blob.body, sent)
  return true
}

const missing = (digest: Digest): Error => new Error(`the blob ${digest} is missing`)

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

const isNamed = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))
