import { Readable } from 'node:stream'
import { sizesOf, storeFile } from '../../areas/large-files/service.ts'
import type { Storage } from '../../areas/large-files/storage.ts'
import type { Digest } from '../../blobs/blob-store.ts'
import { type Headers, sendBody, sendEmpty } from '../http/answer.ts'
import { atPace, usualPace } from '../http/body/pace.ts'
import { refuse, type Visit } from './answer.ts'
import { unprocessable } from './body.ts'
import { parseRange } from './range.ts'

/** Sends a file, or the part that `Range` asks for. What an oid names never changes, so clients may keep it for ever. */
export async function serveDownload({ exchange, ctx }: Visit, storage: Storage, oid: Digest): Promise<void> {
  const { headers } = exchange.req
  const size = (await sizesOf(ctx, storage, [oid])).get(oid)
  if (size === undefined) return refuse(exchange, ctx.site.url, 404, 'Not found.')
  const etag = `"${oid}"`
  const kept: Headers = { etag, 'cache-control': 'private, max-age=31536000, immutable', 'accept-ranges': 'bytes' }
  if (isNamed(headers['if-none-match'], etag)) return sendEmpty(exchange, 304, kept)
  const ifRange = headers['if-range']
  const range = ifRange === undefined || ifRange === etag ? parseRange(headers.range, size) : undefined
  if (range === 'unsatisfiable')
    return refuse(exchange, ctx.site.url, 416, 'The range is outside the object', {
      headers: { 'content-range': `bytes */${size}` },
    })
  const blob = await ctx.blobs.get(oid, range)
  if (!blob) throw new Error(`the blob of the large file ${oid} is missing`)
  await sendBody(exchange, range ? 206 : 200, blob.body, {
    ...kept,
    'content-type': 'application/octet-stream',
    'content-disposition': 'attachment',
    'content-security-policy': "sandbox; default-src 'none'",
    'content-length': range ? range.end - range.start + 1 : size,
    ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${size}` }),
  })
}

const isNamed = (header: string | undefined, etag: string): boolean =>
  (header ?? '').split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))

/** Takes a file. 200 says that it is stored and belongs to the project. */
export async function serveUpload(
  { exchange, ctx }: Visit,
  { project }: Storage,
  file: { oid: Digest; size: number },
): Promise<void> {
  const { req } = exchange
  const announced = req.headers['content-length']
  if (announced !== undefined && Number(announced) !== file.size)
    throw unprocessable(`The content has ${announced} bytes, not ${file.size}`)
  if (req.headers['content-encoding'] !== undefined) throw unprocessable('The content must not be encoded')
  // Not the request itself: who stops reading it would cut the connection before there is an answer.
  const content = Readable.from(req.iterator({ destroyOnReturn: false }), { objectMode: false })
  await atPace(req, usualPace, () => storeFile(ctx, project.id, file, content))
  sendEmpty(exchange, 200, { 'content-length': 0 })
}
