import type { Readable } from 'node:stream'
import { accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { emit } from '../../../events/log.ts'
import { Failure, notFound } from '../../../kernel/failure.ts'
import { filesAmong, type LargeFileRow, linkFile, linkFrom } from './queries.ts'
import { projectsOf, type Storage } from './storage.ts'

const mebibyte = 1024 * 1024

/** Sizes of those of the files that are there for the caller, by oid. One statement. */
export async function sizesOf(ctx: Ctx, storage: Storage, oids: readonly Digest[]): Promise<Map<Digest, number>> {
  const found = await filesAmong(ctx.db, projectsOf(storage), oids)
  return new Map(found.map(({ oid, size }) => [oid, size]))
}

/**
 * Sizes of those of the files that need not be sent, by oid: the project has them, or has them from now on, since it is a
 * fork of one that has them. See `openStorage`.
 */
export async function claimFiles(ctx: Ctx, storage: Storage, oids: readonly Digest[]): Promise<Map<Digest, number>> {
  const { project, sourceId } = storage
  if (sourceId !== undefined) await ctx.transaction((tx) => linkFrom(tx, sourceId, project.id, oids))
  const own = await filesAmong(ctx.db, [project.id], oids)
  return new Map(own.map(({ oid, size }) => [oid, size]))
}

/** Whether a file is larger than the installation takes. */
export const isTooLarge = (ctx: Ctx, sizeBytes: number): boolean =>
  ctx.settings.max_lfs_object_size > 0 && sizeBytes > ctx.settings.max_lfs_object_size * mebibyte

/**
 * Stores a file of a project, reading its bytes once. They must be those announced (`unprocessable` otherwise), and
 * nothing is kept of others, nor of a stream that breaks. When this resolves, bytes and row are durable.
 */
export async function storeFile(ctx: Ctx, projectId: number, file: LargeFileRow, bytes: Readable): Promise<void> {
  const { oid, size } = file
  if (isTooLarge(ctx, size)) throw new Failure('too_large', 'The object is too large')
  await ctx.blobs.put(bytes, { digest: oid, sizeBytes: size })
  await ctx.transaction(async (tx) => {
    if (await linkFile(tx, projectId, file))
      await emit(tx, {
        kind: 'large_file_stored',
        projectId,
        actorId: accountOf(ctx.actor!),
        payload: { oid, size },
      })
    // Sent again by somebody who did not wait for the answer, or a project that is gone.
    else if ((await filesAmong(tx, [projectId], [oid])).length === 0) throw notFound('Project')
  })
}
