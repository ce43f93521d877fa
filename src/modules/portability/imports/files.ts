import { basename } from 'node:path'
import type { Ctx } from '../../../api/ctx.ts'
import { UploadedFile } from '../../../api/params/uploaded-file.ts'
import { parseDigest, type StoredBlob } from '../../../blobs/blob-store.ts'
import { Failure } from '../../../kernel/failure.ts'
import { type Avatar, acceptAvatar } from '../../namespaces/index.ts'
import { ArchiveRefusal } from '../archive/refusal.ts'
import type { Unpacked } from '../archive/unpack.ts'
import { streamOf } from './open-archive.ts'

/** What was stored of the files of an archive, by the names of the entries. */
export type StoredFiles = ReadonlyMap<string, StoredBlob>

/**
 * Stores uploads and large files. What is stored and not referred to is collected. Only bytes count: the archive cannot name a blob that
 * it does not contain.
 */
export async function storeFiles(ctx: Ctx, unpacked: Unpacked): Promise<StoredFiles> {
  const stored = new Map<string, StoredBlob>()
  for (const [name, file] of unpacked) {
    const large = /^lfs-objects\/([0-9a-f]{64})$/.exec(name)?.[1]
    if (large !== undefined) {
      const expected = { digest: parseDigest(large)!, sizeBytes: file.size }
      const blob = await ctx.blobs.put(streamOf(file), expected).catch((error: unknown) => {
        if (error instanceof Failure && error.kind === 'unprocessable')
          throw new ArchiveRefusal(`${name} does not have the content that its name says`)
        throw error
      })
      stored.set(name, blob)
    } else if (/^uploads\/[0-9a-f]{32}\/[^/]+$/.test(name)) stored.set(name, await ctx.blobs.put(streamOf(file)))
  }
  return stored
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
