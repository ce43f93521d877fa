import {
  beginUpload,
  type ContentDigest,
  completeUpload,
  endUpload,
  extendUpload,
  findUpload,
  mountBlob,
  parsePrefixedDigest,
  prefixed,
  type Upload,
  UploadConflict,
  UploadGone,
} from '../../modules/registry/index.ts'
import type { Headers } from '../http/answer.ts'
import { freedChunks } from '../http/body/freed-chunks.ts'
import { atPaceOfClient, usualPace } from '../http/body/pace.ts'
import { UploadSlots } from '../http/body/upload-slots.ts'
import { disconnectSignal } from '../http/disconnect.ts'
import { RegistryError } from './errors.ts'
import { type RegistryExchange, sendHeaders } from './registry-exchange.ts'
import { parseDigestOf } from './request.ts'

const slots = new UploadSlots()

/** Address and progress of an upload. An empty one has the range of one byte, as clients expect. */
const stateOf = (name: string, { id, received }: Upload): Headers => ({
  location: `/v2/${name}/blobs/uploads/${id}`,
  range: `0-${Math.max(0, received - 1)}`,
  'docker-upload-uuid': id,
})

const created = (name: string, digest: ContentDigest): Headers => ({
  location: `/v2/${name}/blobs/${prefixed(digest)}`,
  'docker-content-digest': prefixed(digest),
})

/** Begins an upload; with `digest`, the body is the whole blob; with `mount`, the blob may come from another repository. */
export async function serveBeginUpload(call: RegistryExchange): Promise<void> {
  const { exchange, ctx, place, name, query } = call
  const mount = parsePrefixedDigest(query.get('mount') ?? '')
  if (mount && (await mounts(call, mount))) return sendHeaders(exchange, 201, created(name, mount))
  const digest = query.get('digest')
  if (digest === null || query.get('mount') !== null) {
    const upload = await beginUpload(ctx, place)
    return sendHeaders(exchange, 202, stateOf(name, upload))
  }
  const expected = parseDigestOf(digest)
  const upload = await beginUpload(ctx, place)
  try {
    await finish(call, await receive(call, upload), expected)
  } catch (error) {
    // The client does not know its address.
    await endUpload(ctx, upload)
    throw error
  }
}

/** A repository that the caller may not pull from is like one without the blob. */
async function mounts({ ctx, place, query, placeToPull }: RegistryExchange, digest: ContentDigest): Promise<boolean> {
  const from = query.get('from')
  if (from === null) return mountBlob(ctx, place, { project: place.project, name: undefined }, digest)
  const source = await placeToPull(from)
  return source !== undefined && (await mountBlob(ctx, place, source, digest))
}

/** Adds the body to an upload. */
async function receive({ exchange, ctx, requireStill }: RegistryExchange, upload: Upload): Promise<Upload> {
  const { req } = exchange
  if (req.headers['content-encoding'] !== undefined)
    throw new RegistryError('BLOB_UPLOAD_INVALID', { message: 'the content must not be encoded' })
  const length = Number(req.headers['content-length'])
  if (length === 0) return upload
  const body = freedChunks(req.iterator({ destroyOnReturn: false }))
  const leave = await slots.enter(length, ctx.shareKey, disconnectSignal(exchange))
  try {
    return await extendUpload(ctx, upload, atPaceOfClient(body, usualPace), requireStill)
  } finally {
    leave()
  }
}

/** Completes an upload with the digest that the client names. */
async function finish(
  { exchange, ctx, place, name }: RegistryExchange,
  upload: Upload,
  digest: ContentDigest,
): Promise<void> {
  const isStored = await completeUpload(ctx, place, upload, digest).catch((error) => {
    throw error instanceof UploadGone ? unknownUpload(upload.id) : error
  })
  if (!isStored) throw new RegistryError('DIGEST_INVALID', { detail: { digest: prefixed(digest) } })
  sendHeaders(exchange, 201, created(name, digest))
}

const unknownUpload = (id: string): RegistryError =>
  new RegistryError('BLOB_UPLOAD_UNKNOWN', { detail: { upload: id } })

export async function serveUpload(call: RegistryExchange, id: string): Promise<void> {
  const { exchange, ctx, place, name, query } = call
  const { req } = exchange
  const upload = await findUpload(ctx, place, id)
  if (!upload) throw unknownUpload(id)
  switch (req.method) {
    case 'DELETE':
      await endUpload(ctx, upload)
      return sendHeaders(exchange, 204)
    case 'PATCH':
      requireNext(call, upload)
      return sendHeaders(exchange, 202, stateOf(name, await receiveInTurn(call, upload)))
    case 'PUT': {
      const digest = parseDigestOf(query.get('digest') ?? '')
      requireNext(call, upload)
      return finish(call, await receiveInTurn(call, upload), digest)
    }
    default:
      return sendHeaders(exchange, 204, stateOf(name, upload))
  }
}

const outOfOrder = (name: string, upload: Upload): RegistryError =>
  new RegistryError('RANGE_INVALID', { headers: stateOf(name, upload) })

const receiveInTurn = (call: RegistryExchange, upload: Upload): Promise<Upload> =>
  receive(call, upload).catch(async (error) => {
    if (!(error instanceof UploadConflict)) throw error
    const now = await findUpload(call.ctx, call.place, upload.id)
    throw now ? outOfOrder(call.name, now) : unknownUpload(upload.id)
  })

/** A chunk with a range must begin where the upload ends, and have the length of the range. */
function requireNext({ exchange, name }: RegistryExchange, upload: Upload): void {
  const { 'content-range': range, 'content-length': length } = exchange.req.headers
  if (range === undefined) return
  const [, first, last] = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/(?:\d+|\*))?$/.exec(range) ?? []
  if (first === undefined || Number(first) !== upload.received || Number(last) < Number(first)) {
    throw outOfOrder(name, upload)
  }
  if (length !== undefined && Number(length) !== Number(last) - Number(first) + 1)
    throw new RegistryError('SIZE_INVALID', { message: 'the Content-Length is not that of the Content-Range' })
}
