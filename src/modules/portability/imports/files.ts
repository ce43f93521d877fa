import { createHash, type Hash } from 'node:crypto'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import type { Ctx } from '../../../api/ctx.ts'
import { UploadedFile } from '../../../api/params/uploaded-file.ts'
import type { Digest, StoredBlob } from '../../../blobs/blob-store.ts'
import { Failure } from '../../../kernel/failure.ts'
import { type Avatar, acceptAvatar } from '../../namespaces/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Unpacked } from '../archive/unpack.ts'
import { streamOf } from './open-archive.ts'

/** What was stored of the files of an archive, by the names of the entries. */
export type StoredFiles = ReadonlyMap<string, StoredBlob>

/**
 * Stores uploads, large files, and layers of images. What is stored and not referred to is collected. Only bytes count: the archive cannot name a blob that
 * it does not contain.
 */
export async function storeFiles(ctx: Ctx, unpacked: Unpacked): Promise<StoredFiles> {
  const stored = new Map<string, StoredBlob>()
  for (const [name, file] of unpacked) {
    const sha256 = /^(?:lfs-objects|container-blobs)\/([0-9a-f]{64})$/.exec(name)?.[1]
    const sha512 = /^container-blobs\/([0-9a-f]{128})$/.exec(name)?.[1]
    const refusal = () => new ArchiveRefusal(`${name} does not have the content that its name says`)
    if (sha256 !== undefined) {
      const expected = { digest: sha256 as Digest, sizeBytes: file.size }
      const blob = await ctx.blobs.put(streamOf(file), expected).catch((error: unknown) => {
        throw error instanceof Failure && error.kind === 'unprocessable' ? refusal() : error
      })
      stored.set(name, blob)
    } else if (sha512 !== undefined) {
      const hash = createHash('sha512')
      const blob = await ctx.blobs.put(Readable.from(hashing(streamOf(file), hash), { objectMode: false }))
      if (hash.digest('hex') !== sha512) throw refusal()
      stored.set(name, blob)
    } else if (/^uploads\/[0-9a-f]{32}\/[^/]+$/.test(name)) stored.set(name, await ctx.blobs.put(streamOf(file)))
  }
  return stored
}

/** The chunks, which the hash gets, too. */
async function* hashing(source: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    hash.update(chunk)
    yield chunk
  }
}

/** The picture below a folder of the archive; undefined if there is none, or none that is accepted. */
export async function avatarIn(ctx: Ctx, unpacked: Unpacked, folder: string): Promise<Avatar | undefined> {
  const found = [...unpacked].find(([name]) => name.startsWith(folder))
  if (!found) return undefined
  const [name, { path, size }] = found
  const file = new UploadedFile({
    fieldName: 'avatar',
    filename: basename(name),
    contentType: '',
    path,
    sizeBytes: size,
  })
  return acceptAvatar(ctx, file).catch((error: unknown) => {
    if (error instanceof Failure && error.kind === 'invalid') return undefined
    throw error
  })
}
