import { Readable } from 'node:stream'
import { Failure } from '../../kernel/failure.ts'
import type { Oid } from '../format/oid.ts'
import { setCached } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import { type ObjectInfo, objectContent, objectInfo } from './cat-file.ts'
import { readLooseObject } from './read-object.ts'

/** Default maximum of `readBlob`. */
export const maxBlobBytes = 4 * 1024 * 1024
const maxCachedBytes = 64 * 1024

export type Blob = { readonly oid: Oid; readonly sizeBytes: number; readonly content: Buffer }

/** Size of a blob in bytes; `undefined` if the repository has no such blob. One round trip, no process. */
export async function blobSize(repo: Repository, oid: Oid): Promise<number | undefined> {
  const found = await infoOf(repo, oid)
  return found?.type === 'blob' ? found.sizeBytes : undefined
}

/** With the content if the blob is not packed. */
const infoOf = async (repo: Repository, oid: Oid): Promise<(ObjectInfo & { content?: Buffer }) | undefined> =>
  (await readLooseObject(repo, oid)) ?? objectInfo(await repo.objects(), oid)

/**
 * Reads a blob of at most `maxBytes`: up to two round trips, no process; small blobs are cached. `undefined` if the repository has no
 * such blob. `Failure('too_large')` if it is larger: use `blobStream`.
 */
export function readBlob(repo: Repository, oid: Oid, { maxBytes = maxBlobBytes } = {}): Promise<Blob | undefined> {
  const read = async (): Promise<Blob | undefined> => {
    const info = await infoOf(repo, oid)
    if (info?.type !== 'blob') return undefined
    const { sizeBytes } = info
    if (sizeBytes > maxBytes) throw new Failure('too_large', 'The file is too large')
    const content = info.content ?? (await objectContent(await repo.objects(), oid, maxBytes))?.content
    return content && { oid, sizeBytes, content }
  }
  const known = repo.git.cache.get(`${repo.cacheKey}blob ${oid}`) as Blob | undefined
  if (known && known.sizeBytes <= maxBytes) return Promise.resolve(known)
  // Larger blobs are not cached: a few would evict all commits and trees.
  return read().then((blob) => {
    if (blob && blob.sizeBytes <= maxCachedBytes) setCached(repo, `blob ${oid}`, blob, blob.sizeBytes)
    return blob
  })
}

/**
 * A blob of any size as a stream with constant memory. Two round trips for a small blob; otherwise one process, which ends when
 * the stream is destroyed. The stream fails if git does. `undefined` if the repository has no such blob.
 */
export async function blobStream(
  repo: Repository,
  oid: Oid,
): Promise<{ sizeBytes: number; stream: Readable } | undefined> {
  const sizeBytes = await blobSize(repo, oid)
  if (sizeBytes === undefined) return undefined
  if (sizeBytes <= 1024 * 1024) {
    const blob = await readBlob(repo, oid)
    return (
      blob && {
        sizeBytes,
        stream: Readable.from(blob.content.length === 0 ? [] : [blob.content], { objectMode: false }),
      }
    )
  }
  const command = { args: ['blob', oid], lane: 'transfer', timeoutMs: 6 * 60 * 60_000 } as const
  return { sizeBytes, stream: await repo.stream('cat-file', command) }
}
