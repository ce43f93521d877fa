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
  readBlob,
  type Upload,
  UploadConflict,
  UploadGone,
  WrongSize,
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
    await finish(call, upload.id, await receive(call, upload), expected)
  } catch (error) {
    // The client does not know its address.
    await endUpload(ctx, upload)
    throw error
  }
}

/** A repository that the caller may not pull from is like one without the blob. */
async function mounts(call: RegistryExchange, digest: ContentDigest): Promise<boolean> {
  const { ctx, place, query } = call
  const from = query.get('from')
  if (from === null) {
    const source = { project: place.project, name: undefined }
    return mountBlob(ctx, place, source, digest, async () => true)
  }
  const source = await call.placeToPull(from)
  return source !== undefined && mountBlob(ctx, place, source, digest, () => call.mayStillPull(from, source))
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
    return await extendUpload(ctx, upload, atPaceOfClient(body, usualPace), {
      requireStill,
      sizeBytes: sizeOfRange(req.headers['content-range']),
    })
  } catch (error) {
    throw error instanceof WrongSize ? wrongSize() : error
  } finally {
    leave()
  }
}

/** Completes an upload, which may be gone, with the digest that the client names. */
async function finish(
  call: RegistryExchange,
  id: string,
  upload: Upload | undefined,
  digest: ContentDigest,
): Promise<void> {
  const { exchange, ctx, place, name } = call
  const isStored = upload
    ? await completeUpload(ctx, place, upload, digest).catch((error) => {
        if (!(error instanceof UploadGone)) throw error
        return isCompleted(call, id, digest)
      })
    : await isCompleted(call, id, digest)
  if (!isStored) throw new RegistryError('DIGEST_INVALID', { detail: { digest: prefixed(digest) } })
  sendHeaders(exchange, 201, created(name, digest))
}

/**
 * Whether an upload that is gone has become this blob: another request has completed it, perhaps this client's own, of which it did not
 * get the response. Refuses the request otherwise.
 */
async function isCompleted({ ctx, place }: RegistryExchange, id: string, digest: ContentDigest): Promise<true> {
  const blob = await readBlob(ctx, place, digest, true)
  if (!blob || (await ctx.blobs.size(blob.stored)) !== blob.size) throw unknownUpload(id)
  return true
}

const unknownUpload = (id: string): RegistryError =>
  new RegistryError('BLOB_UPLOAD_UNKNOWN', { detail: { upload: id } })

export async function serveUpload(call: RegistryExchange, id: string): Promise<void> {
  const { exchange, ctx, place, name, query } = call
  const { req } = exchange
  const upload = await findUpload(ctx, place, id)
  if (req.method === 'PUT') {
    const digest = parseDigestOf(query.get('digest') ?? '')
    return finish(call, id, upload && (await receiveInTurn(call, upload)), digest)
  }
  if (!upload) throw unknownUpload(id)
  switch (req.method) {
    case 'DELETE':
      await endUpload(ctx, upload)
      return sendHeaders(exchange, 204)
    case 'PATCH': {
      const extended = await receiveInTurn(call, upload)
      if (!extended) throw unknownUpload(id)
      return sendHeaders(exchange, 202, stateOf(name, extended))
    }
    default:
      return sendHeaders(exchange, 204, stateOf(name, upload))
  }
}

const outOfOrder = (name: string, upload: Upload): RegistryError =>
  new RegistryError('RANGE_INVALID', { headers: stateOf(name, upload) })

/** Adds the body to an upload, if it begins where the upload ends. Undefined if another request has ended the upload meanwhile. */
async function receiveInTurn(call: RegistryExchange, upload: Upload): Promise<Upload | undefined> {
  requireNext(call, upload)
  try {
    return await receive(call, upload)
  } catch (error) {
    if (!(error instanceof UploadConflict)) throw error
    const now = await findUpload(call.ctx, call.place, upload.id)
    if (now) throw outOfOrder(call.name, now)
    return undefined
  }
}

const rangeForm = /^(?:bytes[ =])?(\d{1,15})-(\d{1,15})(?:\/(?:\d+|\*))?$/

/** Bytes of a `Content-Range`; undefined without one. */
function sizeOfRange(range: string | undefined): number | undefined {
  const [, first, last] = rangeForm.exec(range ?? '') ?? []
  return first === undefined ? undefined : Number(last) - Number(first) + 1
}

const wrongSize = () =>
  new RegistryError('SIZE_INVALID', { message: 'the content is not as long as its Content-Range' })

/** A chunk with a range must begin where the upload ends, and have the length of the range. */
function requireNext({ exchange, name }: RegistryExchange, upload: Upload): void {
  const { 'content-range': range, 'content-length': length } = exchange.req.headers
  if (range === undefined) return
  const [, first, last] = rangeForm.exec(range) ?? []
  if (first === undefined || Number(first) !== upload.received || Number(last) < Number(first)) {
    throw outOfOrder(name, upload)
  }
  // Without a length it is compared once the body has arrived.
  if (length !== undefined && Number(length) !== sizeOfRange(range)) throw wrongSize()
}
