import type { Readable } from 'node:stream'
import { accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Digest } from '../../../blobs/blob-store.ts'
import { emitAll } from '../../../events/log.ts'
import { Failure, forbidden, notFound } from '../../../kernel/failure.ts'
import { filesAmong, type LargeFileRow, linkFiles, linkFrom } from './queries.ts'
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

/** Throws `too_large` if a file exceeds the size limit of the installation. */
export function requireSize(ctx: Ctx, sizeBytes: number): void {
  if (isTooLarge(ctx, sizeBytes)) throw new Failure('too_large', 'The object is too large')
}

/**
 * Stores the bytes of a file, reading the stream once. Throws `unprocessable` unless size and digest match those announced; stores nothing
 * then, nor of an interrupted stream. The bytes are durable when this resolves, and collected after a day unless a project gets the file.
 */
export async function storeBytes(ctx: Ctx, { oid, size }: LargeFileRow, bytes: Readable): Promise<void> {
  requireSize(ctx, size)
  await ctx.blobs.put(bytes, { digest: oid, sizeBytes: size })
}

/**
 * Adds files, whose bytes are stored, to a project: all or none, durably. `requireStill` may refuse them once no lock is waited for any
 * more.
 */
export async function addFiles(
  ctx: Ctx,
  projectId: number,
  files: readonly LargeFileRow[],
  requireStill?: () => Promise<unknown>,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    const added = await linkFiles(tx, projectId, files)
    await requireStill?.()
    if (added.length > 0) {
      // With those of concurrent uploads: each waits for the others' transactions.
      const bytes = added.reduce((sum, { size }) => sum + size, 0)
      const tooMuch = await sizeViolationWith(ctx, tx, projectId, bytes)
      if (tooMuch !== undefined) throw forbidden(tooMuch)
      const actorId = accountOf(ctx.actor!)
      await emitAll(
        tx,
        added.map((payload) => ({ kind: 'large_file_stored', projectId, actorId, payload })),
      )
    }
    if (added.length === files.length) return
    // A client repeats an upload without having waited for the response, or the project is gone.
    const oids = files.map(({ oid }) => oid)
    if ((await filesAmong(tx, [projectId], oids)).length < oids.length) throw notFound('Project')
  })
}

/** Stores a file of a project, as `storeBytes` and `addFiles` do. */
export async function storeFile(
  ctx: Ctx,
  projectId: number,
  file: LargeFileRow,
  bytes: Readable,
  requireStill?: () => Promise<unknown>,
): Promise<void> {
  await storeBytes(ctx, file, bytes)
  await addFiles(ctx, projectId, [file], requireStill)
}
