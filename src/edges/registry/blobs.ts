import { type ContentDigest, deleteBlob, prefixed, readBlob } from '../../modules/registry/index.ts'
import type { Headers } from '../http/answer.ts'
import { MissingBlob, sendBlob } from '../http/stored-blob.ts'
import { RegistryError, versionHeader } from './errors.ts'
import { type RegistryExchange, sendHeaders } from './registry-exchange.ts'

const unknown = (digest: ContentDigest) => new RegistryError('BLOB_UNKNOWN', { detail: { digest: prefixed(digest) } })

/** Sends a blob, or the part that `Range` requests. Content with a digest never changes, so clients may cache it forever. */
export async function serveBlob(
  { exchange, ctx, place, mayPush }: RegistryExchange,
  digest: ContentDigest,
): Promise<void> {
  const isHead = exchange.req.method === 'HEAD'
  const blob = await readBlob(ctx, place, digest, isHead && mayPush)
  if (!blob) throw unknown(digest)
  const headers: Headers = {
    ...versionHeader,
    'docker-content-digest': prefixed(digest),
    'content-type': 'application/octet-stream',
    'cache-control': 'private, max-age=31536000, immutable',
  }
  const bytes = { digest: blob.stored, sizeBytes: blob.size }
  const sent = await sendBlob(exchange, ctx.blobs, bytes, headers, { clientVerifies: true }).catch((error) => {
    if (!(error instanceof MissingBlob)) throw error
    // A client that pushes the layer then uploads it again.
    ctx.log.error({ err: error, project_id: place.project.id }, 'a container layer is missing')
    throw unknown(digest)
  })
  if (!sent) throw new RegistryError('RANGE_INVALID', { headers: { 'content-range': `bytes */${blob.size}` } })
}

export async function serveDeleteBlob(
  { exchange, ctx, place }: RegistryExchange,
  digest: ContentDigest,
): Promise<void> {
  const outcome = await deleteBlob(ctx, place, digest)
  if (outcome === 'missing') throw unknown(digest)
  if (outcome === 'used')
    throw new RegistryError('UNSUPPORTED', { message: 'a manifest needs the blob; delete it first' })
  sendHeaders(exchange, 202)
}
