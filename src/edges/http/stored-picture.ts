import type { BlobStore, Digest } from '../../blobs/blob-store.ts'
import { contentTypeOf } from '../../modules/namespaces/index.ts'
import { type Exchange, sendBody, sendEmpty } from './answer.ts'
import { hasEtag } from './etag.ts'

/**
 * Sends an uploaded picture with its digest as ETag; 304 if the client has it. A new picture of the same file name has the same address, so
 * clients must ask each time. False if the store lacks it; nothing has been sent.
 */
export async function sendPicture(
  exchange: Exchange,
  blobs: BlobStore,
  { digest, filename }: { readonly digest: Digest; readonly filename: string },
  cachedBy: 'public' | 'private',
): Promise<boolean> {
  const validators = { etag: `"${digest}"`, 'cache-control': `max-age=0, ${cachedBy}, must-revalidate` }
  if (hasEtag(exchange.req.headers['if-none-match'], validators.etag)) {
    sendEmpty(exchange, 304, validators)
    return true
  }
  const blob = await blobs.get(digest)
  if (!blob) return false
  await sendBody(exchange, 200, blob.body, {
    ...validators,
    'content-type': contentTypeOf(filename),
    'content-length': blob.sizeBytes,
    'content-disposition': `inline; filename="${filename}"`,
    'content-security-policy': "sandbox; default-src 'none'",
  })
  return true
}
