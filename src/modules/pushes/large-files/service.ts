import type { Readable } from 'node:stream'
import { accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { emit } from '../../../events/log.ts'
import { Failure, forbidden, notFound } from '../../../kernel/failure.ts'
import { filesAmong, type LargeFileRow, linkFile, linkFrom } from './queries.ts'
import { sizeViolationWith } from './size-limit.ts'
import { projectsOf, type Storage } from './storage.ts'

const mebibyte = 1024 * 1024

/** Sizes by oid of the files that the caller can download. One statement. */
export async function sizesOf(ctx: Ctx, storage: Storage, oids: readonly Digest[]): Promise<Map<Digest, number>> {
  const found = await filesAmong(ctx.db, projectsOf(storage), oids)
  return new Map(found.map(({ oid, size }) => [oid, size]))
}

/**
 * Sizes by oid of the files that need no upload: the project has them, or gets them now because it is a fork of a
 * project that has them. See `openStorage`.
 */
export async function claimFiles(ctx: Ctx, storage: Storage, oids: readonly Digest[]): Promise<Map<Digest, number>> {
  const { project, sourceId } = storage
  if (sourceId !== undefined) await ctx.transaction((tx) => linkFrom(tx, sourceId, project.id, oids))
  const own = await filesAmong(ctx.db, [project.id], oids)
  return new Map(own.map(({ oid, size }) => [oid, size]))
}

/** Whether a file exceeds the size limit of the installation. */
export const isTooLarge = (ctx: Ctx, sizeBytes: number): boolean =>
  ctx.settings.max_lfs_object_size > 0 && sizeBytes > ctx.settings.max_lfs_object_size * mebibyte

/**
 * Stores a file of a project, reading the stream once. Throws `unprocessable` unless size and digest match those
 * announced; stores nothing then, nor of an interrupted stream. Bytes and row are durable when this resolves. `requireStill` may refuse
 * the file once its bytes are there and no lock is waited for any more.
 */
export async function storeFile(
  ctx: Ctx,
  projectId: number,
  file: LargeFileRow,
  bytes: Readable,
  requireStill?: () => Promise<unknown>,
): Promise<void> {
  const { oid, size } = file
  if (isTooLarge(ctx, size)) throw new Failure('too_large', 'The object is too large')
  await ctx.blobs.put(bytes, { digest: oid, sizeBytes: size })
  await ctx.transaction(async (tx) => {
    const isLinked = await linkFile(tx, projectId, file)
    await requireStill?.()
    if (isLinked) {
      // With those of concurrent uploads: each waits for the others' transactions.
      const tooMuch = await sizeViolationWith(ctx, tx, projectId, size)
      if (tooMuch !== undefined) throw forbidden(tooMuch)
      await emit(tx, {
        kind: 'large_file_stored',
        projectId,
        actorId: accountOf(ctx.actor!),
        payload: { oid, size },
      })
    }
    // The client repeats an upload without having waited for the response, or the project is gone.
    else if ((await filesAmong(tx, [projectId], [oid])).length === 0) throw notFound('Project')
  })
}
