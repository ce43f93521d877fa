import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { putFile } from '../../../blobs/put-file.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { Place } from '../access/access.ts'
import { addBlob } from '../blobs/service.ts'
import { ensureRepository } from '../images/queries.ts'
import { fileOf, readParts, removeFiles, writeFileOf } from './files.ts'
import { addPart, deleteUpload, findUploadOf, insertUpload, type Part, partsOf, type Upload } from './queries.ts'

export const beginUpload = (ctx: Ctx, { project, name }: Place): Promise<Upload> =>
  ctx.transaction(async (tx) => insertUpload(tx, await ensureRepository(tx, project.id, name)))

/** An upload to this repository; undefined if it has ended, or never existed. */
export const findUpload = async (ctx: Ctx, { project, name }: Place, id: string): Promise<Upload | undefined> =>
  isUuid(id) ? findUploadOf(ctx.db, project.id, name, id) : undefined

const isUuid = (text: string): boolean => /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/.test(text)

const mebibyte = 1024 * 1024

/** Largest number of parts, which limits what one upload costs. Clients send a few, of megabytes. */
const maxParts = 10_000

/** What an upload lacks to be extended as requested. */
export class UploadConflict extends Error {
  override name = 'UploadConflict'
}

/**
 * Adds the bytes of a request to an upload; returns the upload afterwards. If the client disconnects, what has arrived is added, and
 * the error is thrown: the client may continue after it, in any process and after a restart. Throws `UploadConflict` if another
 * request added bytes meanwhile.
 */
export async function extendUpload(ctx: Ctx, upload: Upload, source: AsyncIterable<Buffer>): Promise<Upload> {
  const { folder } = ctx.registry
  const limit = ctx.settings.container_registry_max_layer_size * mebibyte
  const written = await writeFileOf(folder, source, (bytes) => {
    if (limit > 0 && upload.received + bytes > limit) throw tooLarge(ctx)
  })
  const part: Part = { start: upload.received, size: written.size, file: written.file, digest: written.digest }
  const added =
    part.size > 0 &&
    (await ctx
      .transaction((tx) => addPart(tx, upload.id, part))
      .catch(async (error) => {
        await removeFiles(folder, [part])
        throw error
      }))
  if (!added) await removeFiles(folder, [part])
  if (written.broken !== undefined) throw written.broken
  if (!added && part.size > 0) throw new UploadConflict()
  return { ...upload, received: upload.received + part.size }
}

const tooLarge = ({ settings }: Ctx) =>
  new Failure('too_large', `The layer is larger than ${settings.container_registry_max_layer_size} MB`)

/**
 * Makes a blob of a complete upload and ends the upload. False if the bytes do not have this digest: the upload has ended, too,
 * because no further byte can correct it.
 */
export async function completeUpload(ctx: Ctx, place: Place, upload: Upload, digest: Digest): Promise<boolean> {
  const { folder } = ctx.registry
  const parts = await partsOf(ctx.db, upload.id)
  if (parts.length > maxParts) throw new Failure('too_large', `The upload has more than ${maxParts} parts`)
  const sizeBytes = parts.reduce((sum, { size }) => sum + size, 0)
  const [only, ...more] = parts
  let isRight = true
  if (only && more.length === 0) {
    isRight = only.digest === digest
    if (isRight) await takeFile(ctx, only, sizeBytes)
  } else {
    isRight = await ctx.blobs.put(readParts(folder, parts), { digest, sizeBytes }).then(
      () => true,
      (error) => {
        if (error instanceof Failure && error.kind === 'unprocessable') return false
        throw error
      },
    )
  }
  if (isRight) await addBlob(ctx, place, { digest, size: sizeBytes })
  await endUpload(ctx, upload)
  return isRight
}

/** Makes a blob of a part, unless an earlier attempt that a crash interrupted, or a concurrent one, has done so. */
const takeFile = (ctx: Ctx, { file, digest }: Part, sizeBytes: number): Promise<void> =>
  putFile(ctx.blobs, fileOf(ctx.registry.folder, file), { digest, sizeBytes }).catch(
    async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' || (await ctx.blobs.size(digest)) !== sizeBytes) throw error
    },
  )

/** Forgets an upload and its bytes. False if it has ended already. */
export async function endUpload(ctx: Ctx, { id }: Upload): Promise<boolean> {
  const parts = await partsOf(ctx.db, id)
  const ended = await deleteUpload(ctx.db, id)
  await removeFiles(ctx.registry.folder, parts)
  return ended
}
