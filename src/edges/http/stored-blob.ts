import type { BlobStore, StoredBlob } from '../../blobs/blob-store.ts'
import { type Exchange, type Headers, sendBody, sendEmpty } from './answer.ts'
import { parseRange } from './range.ts'

/**
 * Sends a blob, or the part that `Range` asks for, with its digest as ETag; 304 when the caller has it. What a digest names
 * never changes. False, with nothing sent, when there is no such part: the door answers 416 in its own way.
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
