import type { Ctx } from '../../../api/ctx.ts'
import { findRepository, lockRepository, type RepositoryRow } from '../images/queries.ts'
import { type Candidate, candidatesOf, deleteTags, findTag, unmoved } from './queries.ts'
import { recordDeletion } from './record-deletion.ts'
import { type Selection, selectTags } from './selection.ts'

/** Tags deleted in one transaction. */
const atOnce = 200

/** For whom tags are deleted. */
export type Requester = {
  /** Null for a cleanup policy. */
  readonly actorId: number | null
  /** Whether tags may still be deleted, which is asked again for each batch. */
  readonly mayStill: () => Promise<boolean>
}

/**
 * Deletes the tags of a repository that a selection chooses; returns their number. A tag that is pushed meanwhile stays: it no longer
 * names the image that was chosen.
 */
export async function deleteSelected(
  ctx: Ctx,
  { projectId, repositoryId }: { projectId: number; repositoryId: number },
  selection: Selection,
  requester: Requester,
): Promise<number> {
  const repository = await findRepository(ctx.db, projectId, repositoryId)
  if (!repository) return 0
  const tags = await candidatesOf(ctx.db, repositoryId)
  const latest = await findTag(ctx.db, repositoryId, 'latest')
  const chosen = new Set(await selectTags(tags, selection, new Date(), latest?.digest))
  const tagsToDelete = tags.filter(({ name }) => chosen.has(name))
  let deleted = 0
  for (let at = 0; at < tagsToDelete.length; at += atOnce) {
    const gone = await deleteBatch(ctx, repository, tagsToDelete.slice(at, at + atOnce), requester)
    if (gone === undefined) break
    deleted += gone
  }
  return deleted
}

/** The number of deleted tags; undefined if the repository is gone, or no tags may be deleted any more. */
const deleteBatch = (
  { transaction }: Ctx,
  repository: RepositoryRow,
  tags: readonly Candidate[],
  { actorId, mayStill }: Requester,
): Promise<number | undefined> =>
  transaction(async (tx) => {
    const locked = await lockRepository(tx, repository.id)
    // After the wait for the lock.
    if (locked === undefined || !(await mayStill())) return undefined
    const gone = await deleteTags(tx, locked, await unmoved(tx, locked, tags))
    if (gone.length > 0) await recordDeletion(tx, actorId, repository, gone)
    return gone.length
  })
