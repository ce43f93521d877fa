import type { BlobStore, StoredBlob } from '../../blobs/blob-store.ts'
import { type Exchange, type Headers, sendBody, sendEmpty } from './answer.ts'
import { parseRange } from './range.ts'

/**
 * Sends a blob, or the part that `Range` requests, with its digest as ETag; 304 if the client has it. Content with a digest
 * never changes. False if the range is unsatisfiable; nothing has been sent, and the caller sends its own 416.
 */
export async function sendBlob(
  exchange: Exchange,
  blobs: BlobStore,
  { digest, sizeBytes }: StoredBlob,
  headers: Headers,
): Promise<boolean> {
  const asked = exchange.req.headers
  const etag = `"${digest}"`
  const kept: Headers = { etag, 'accept-ranges': 'bytes', 'content-security-policy': "sandbox; default-src 'none'" }
  if (isNamed(asked['if-none-match'], etag)) {
    sendEmpty(exchange, 304, { ...kept, ...headers })
    return true
  }
  const ifRange = asked['if-range']
  const range = ifRange === undefined || ifRange === etag ? parseRange(asked.range, sizeBytes) : undefined
  if (range === 'unsatisfiable') return false
  const blob = await blobs.get(digest, range)
  if (!blob) throw new Error(`the blob ${digest} is missing`)
  await sendBody(exchange, range ? 206 : 200, blob.body, {
    ...kept,
    ...headers,
    'content-length': range ? range.end - range.start + 1 : sizeBytes,
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${sizeBytes}` }),
  })
  return true
}

const isNamed = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))
