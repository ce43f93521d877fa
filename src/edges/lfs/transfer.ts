import { Readable } from 'node:stream'
import type { Digest } from '../../blobs/blob-store.ts'
import { type Storage, sizesOf, storeFile } from '../../modules/pushes/index.ts'
import { type Headers, sendEmpty } from '../http/answer.ts'
import { atPaceOfClient, usualPace } from '../http/body/pace.ts'
import { UploadSlots } from '../http/body/upload-slots.ts'
import { disconnectSignal } from '../http/disconnect.ts'
import { sendBlob } from '../http/stored-blob.ts'
import { type LfsExchange, refuse } from './answer.ts'
import { unprocessable } from './body.ts'

/** Sends a file, or the part that `Range` requests. Content with an oid never changes, so clients may cache it forever. */
export async function serveDownload({ exchange, ctx }: LfsExchange, storage: Storage, oid: Digest): Promise<void> {
  const sizeBytes = (await sizesOf(ctx, storage, [oid])).get(oid)
  if (sizeBytes === undefined) return refuse(exchange, ctx.site.url, 404, 'Not found.')
  const sent = await sendBlob(exchange, ctx.blobs, { digest: oid, sizeBytes }, headers, { clientVerifies: true })
  if (!sent)
    refuse(exchange, ctx.site.url, 416, 'The range is outside the object', {
      headers: { 'content-range': `bytes */${sizeBytes}` },
    })
}

const headers: Headers = {
  'content-type': 'application/octet-stream',
  'content-disposition': 'attachment',
  'cache-control': 'private, max-age=31536000, immutable',
}

const slots = new UploadSlots()

/** Stores a file. 200 means that it is stored and belongs to the project. */
export async function serveUpload(
  { exchange, ctx }: LfsExchange,
  { project }: Storage,
  file: { oid: Digest; size: number },
  requireStill: () => Promise<unknown>,
): Promise<void> {
  const { req } = exchange
  const announced = req.headers['content-length']
  if (announced !== undefined && Number(announced) !== file.size)
    throw unprocessable(`The content has ${announced} bytes, not ${file.size}`)
  if (req.headers['content-encoding'] !== undefined) throw unprocessable('The content must not be encoded')
  // Not the request itself: a consumer that stops reading would destroy the connection before the response.
  const content = Readable.from(atPaceOfClient(req.iterator({ destroyOnReturn: false }), usualPace), {
    objectMode: false,
  })
  const leave = await slots.enter(file.size, ctx.shareKey, disconnectSignal(exchange))
  try {
    await storeFile(ctx, project.id, file, content, requireStill)
  } finally {
    leave()
  }
  sendEmpty(exchange, 200, { 'content-length': 0 })
}
