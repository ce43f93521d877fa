import { createHash } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest, StoredBlob } from '../../../blobs/blob-store.ts'
import { putFile } from '../../../blobs/put-file.ts'
import type { Tx } from '../../../db/db.ts'
import { Failure } from '../../../kernel/failure.ts'
import { isMissing } from '../../../kernel/missing.ts'
import type { Place } from '../access/access.ts'
import { addBlob } from '../blobs/service.ts'
import { inRepository } from '../images/push.ts'
import { algorithmOf, type ContentDigest, isSha256 } from '../names/digests.ts'
import { fileOf, hasFiles, isUuid, readParts, removeFiles, writeUpload } from './files.ts'
import {
  addPart,
  deleteUpload,
  endCrowdedOut,
  findUploadOf,
  insertUpload,
  type Part,
  partsOf,
  type Upload,
} from './queries.ts'

export const beginUpload = (ctx: Ctx, place: Place): Promise<Upload> =>
  inRepository(ctx, place, async (tx, repositoryId) => {
    const upload = await insertUpload(tx, repositoryId, ctx.shareKey)
    await makeRoom(ctx, tx, upload)
    return upload
  })

/** Most unfinished uploads of one caller. A push has a few at a time; those that clients leave behind stay for a day. */
const maxUploads = 1000
/** Their bytes together, in layers of the largest size. */
const maxLayers = 10
/** How many callers it takes to exceed what a project may have. */
const callersOfProject = 4

/** Ends the oldest unfinished uploads of the caller, and of the project, if they are too many or too large together. */
async function makeRoom(ctx: Ctx, tx: Tx, upload: Upload): Promise<void> {
  const layers = ctx.settings.container_registry_max_layer_size * mebibyte * maxLayers
  const ofCaller = { uploads: maxUploads, bytes: layers === 0 ? Number.MAX_SAFE_INTEGER : layers }
  const ofProject = {
    uploads: ofCaller.uploads * callersOfProject,
    bytes: Math.min(ofCaller.bytes * callersOfProject, Number.MAX_SAFE_INTEGER),
  }
  const files = await endCrowdedOut(tx, upload, ctx.shareKey, { ofCaller, ofProject })
  tx.afterCommit(() =>
    removeFiles(
      ctx.registry.folder,
      files.map((file) => ({ file })),
    ).catch((error) => ctx.log.warn({ err: error }, 'failed to remove files of uploads, which a job does later')),
  )
}

/** An upload to this repository; undefined if it has ended, or never existed. */
export const findUpload = async (ctx: Ctx, { project, name }: Place, id: string): Promise<Upload | undefined> =>
  isUuid(id) ? findUploadOf(ctx.db, project.id, name, id) : undefined

const mebibyte = 1024 * 1024

/** Largest number of parts of an upload; the next one is refused. Each is a file. Clients send a few, of megabytes. */
const maxParts = 10_000

/** What an upload lacks to be extended as requested. */
export class UploadConflict extends Error {
  override name = 'UploadConflict'
}

/** A request brought another number of bytes than it announced. */
export class WrongSize extends Error {
  override name = 'WrongSize'
}

/** The bytes of an upload are not there: it began before the backup that was restored, or another request has ended it. */
export class UploadGone extends Error {
  override name = 'UploadGone'
}

/**
 * Adds the bytes of a request to an upload; returns the upload afterwards. If the client disconnects, what has arrived is added, and
 * the error is thrown: the client may continue after it, in any process and after a restart. Throws `UploadConflict` if another
 * request added bytes meanwhile, and `WrongSize` if all have arrived and are not `sizeBytes`. `requireStill` may refuse the bytes once
 * they have arrived, which may have taken long.
 */
export async function extendUpload(
  ctx: Ctx,
  upload: Upload,
  source: AsyncIterable<Buffer>,
  { requireStill, sizeBytes }: { requireStill: () => Promise<void>; sizeBytes: number | undefined },
): Promise<Upload> {
  if (upload.parts >= maxParts) throw new Failure('too_large', `The upload has ${maxParts} parts`)
  const { folder } = ctx.registry
  const limit = ctx.settings.container_registry_max_layer_size * mebibyte
  const written = await writeUpload(folder, source, (bytes) => {
    if (limit > 0 && upload.received + bytes > limit) throw tooLarge(ctx)
  })
  const part: Part = { start: upload.received, size: written.sizeBytes, file: written.file, digest: written.digest }
  if (sizeBytes !== undefined && part.size !== sizeBytes && written.broken === undefined) {
    await removeFiles(folder, [part])
    throw new WrongSize()
  }
  const added =
    part.size > 0 &&
    (await requireStill()
      .then(() =>
        ctx.transaction(async (tx) => {
          if (!(await addPart(tx, upload.id, part))) return false
          await makeRoom(ctx, tx, upload)
          return true
        }),
      )
      .catch(async (error) => {
        await removeFiles(folder, [part])
        throw error
      }))
  if (!added) await removeFiles(folder, [part])
  if (written.broken !== undefined) throw written.broken
  if (!added && part.size > 0) throw new UploadConflict()
  return { ...upload, received: upload.received + part.size, parts: upload.parts + (added ? 1 : 0) }
}

const tooLarge = ({ settings }: Ctx) =>
  new Failure('too_large', `The layer is larger than ${settings.container_registry_max_layer_size} MB`)

/**
 * Makes a blob of a complete upload and ends the upload. False if the bytes do not have this digest: the upload has ended, too,
 * because no further byte can correct it. Throws `UploadGone` if the upload has ended, by another request or for want of its bytes. Fails
 * if the caller may not push any more.
 */
export async function completeUpload(ctx: Ctx, place: Place, upload: Upload, digest: ContentDigest): Promise<boolean> {
  const parts = await partsOf(ctx.db, upload.id)
  if (sizeOf(parts) < upload.received) throw new UploadGone('the upload has ended')
  const stored = await storeParts(ctx, parts, digest).catch(async (error) => {
    if (await hasFiles(ctx.registry.folder, parts)) throw error
    await endUpload(ctx, upload)
    throw new UploadGone('bytes of the upload are missing', { cause: error })
  })
  if (stored) await addBlob(ctx, place, { digest, size: stored.sizeBytes, stored: stored.digest })
  await endUpload(ctx, upload)
  return stored !== undefined
}

const sizeOf = (parts: readonly Part[]): number => parts.reduce((sum, { size }) => sum + size, 0)

/** Makes a blob of the parts; undefined if they do not have this digest. */
async function storeParts(ctx: Ctx, parts: readonly Part[], digest: ContentDigest): Promise<StoredBlob | undefined> {
  const sizeBytes = sizeOf(parts)
  const [only, ...more] = parts
  if (!isSha256(digest)) {
    const stored = only && more.length === 0 ? await takeFile(ctx, only, sizeBytes) : await putParts(ctx, parts)
    // Computed from the blob, which is there in any case, unlike the parts after a crash. A blob that no row names is collected.
    return (await hashOf(ctx.blobs, stored.digest, algorithmOf(digest))) === digest ? stored : undefined
  }
  if (only && more.length === 0) return only.digest === digest ? takeFile(ctx, only, sizeBytes) : undefined
  return putParts(ctx, parts, { digest, sizeBytes }).catch((error) => {
    if (error instanceof Failure && error.kind === 'unprocessable') return undefined
    throw error
  })
}

const putParts = (ctx: Ctx, parts: readonly Part[], expected?: StoredBlob): Promise<StoredBlob> =>
  ctx.blobs.put(readParts(ctx.registry.folder, parts), expected)

async function hashOf(blobs: Ctx['blobs'], digest: Digest, algorithm: string): Promise<string> {
  const blob = await blobs.get(digest)
  if (!blob) throw new Error(`the blob ${digest} is missing`)
  const hash = createHash(algorithm)
  for await (const chunk of blob.body as AsyncIterable<Buffer>) hash.update(chunk)
  return hash.digest('hex')
}

/**
 * Makes a blob of a part. If an earlier attempt that a crash interrupted, or a concurrent one, has done so, its blob is stored anew: no row may name
 * it yet, and a collection that has begun goes by its age.
 */
async function takeFile(ctx: Ctx, { file, digest }: Part, sizeBytes: number): Promise<StoredBlob> {
  const blob = { digest, sizeBytes }
  try {
    await putFile(ctx.blobs, fileOf(ctx.registry.folder, file), blob)
  } catch (error) {
    const earlier = isMissing(error) ? await ctx.blobs.get(digest) : undefined
    if (!earlier) throw error
    await ctx.blobs.put(earlier.body, blob)
  }
  return blob
}

/** Forgets an upload and its bytes. False if it has ended already. */
export async function endUpload(ctx: Ctx, { id }: Upload): Promise<boolean> {
  const parts = await partsOf(ctx.db, id)
  const ended = await deleteUpload(ctx.db, id)
  await removeFiles(ctx.registry.folder, parts)
  return ended
}
