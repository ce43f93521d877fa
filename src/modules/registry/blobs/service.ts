import { accountOf } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import type { Place } from '../access/access.ts'
import { inRepository } from '../images/push.ts'
import { findRepositoryId, lockRepository } from '../images/queries.ts'
import type { ContentDigest } from '../names/digests.ts'
import { countLater } from './jobs.ts'
import { findBlob, hideBlob, type LinkedBlob, linkBlob, lockBlobOf, renewBlob } from './queries.ts'

/**
 * The blob, if the repository has it. With `renews`, the caller may rely on finding it for the grace period of the collection: a
 * client that finds a layer does not upload it.
 */
export async function readBlob(
  ctx: Ctx,
  { project, name }: Place,
  digest: ContentDigest,
  renews: boolean,
): Promise<LinkedBlob | undefined> {
  const found = await findBlob(ctx.db, project.id, name, digest)
  if (!found) return undefined
  if (renews && found.stale && !(await renewBlob(ctx.db, found.repository_id, digest))) return undefined
  return { digest: found.digest, size: found.size, stored: found.stored }
}

/** Links bytes, which are stored, to a repository. Throws if the caller may not push there any more. */
export const addBlob = (ctx: Ctx, place: Place, blob: LinkedBlob): Promise<void> =>
  inRepository(ctx, place, async (tx, repositoryId) => {
    await linkBlob(tx, repositoryId, blob)
    await tx.requirePermission?.()
    await countLater(tx, place.project.id)
  })

/**
 * Links a blob of the source to the target, without an upload; false if the source does not have it. Without a name, the source is
 * any repository of its project. The caller must be allowed to pull from the source; `mayStillPull` is asked once no lock is waited for
 * any more. Throws if the caller may not push to the target any more.
 */
export const mountBlob = (
  ctx: Ctx,
  target: Place,
  source: { readonly project: { readonly id: number }; readonly name: string | undefined },
  digest: ContentDigest,
  mayStillPull: () => Promise<boolean>,
): Promise<boolean> =>
  inRepository(ctx, target, async (tx, repositoryId) => {
    const blob = await lockBlobOf(tx, source.project.id, source.name, digest)
    if (!blob || !(await mayStillPull())) return false
    await linkBlob(tx, repositoryId, blob)
    await tx.requirePermission?.()
    await countLater(tx, target.project.id)
    return true
  })

/** Deletes a blob of a repository. A blob of a manifest stays, because the image would be broken. */
export async function deleteBlob(
  ctx: Ctx,
  { project, name }: Place,
  digest: ContentDigest,
): Promise<'deleted' | 'missing' | 'used'> {
  const found = await findBlob(ctx.db, project.id, name, digest)
  const repositoryId = found && (await findRepositoryId(ctx.db, project.id, name))
  if (!found || repositoryId === undefined) return 'missing'
  return ctx.transaction(async (tx) => {
    const repository = await lockRepository(tx, repositoryId)
    if (repository === undefined) return 'missing'
    if (!(await hideBlob(tx, repository, digest))) return 'used'
    await emit(tx, {
      kind: 'container_blob_deleted',
      projectId: project.id,
      actorId: ctx.actor && accountOf(ctx.actor),
      payload: { repository_id: repositoryId, digest },
    })
    return 'deleted'
  })
}
