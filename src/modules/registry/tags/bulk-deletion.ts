import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { findRepository, lockRepository } from '../images/queries.ts'
import { pathOf } from '../names/names.ts'
import { candidatesOf, deleteTags, findTag, unmoved } from './queries.ts'
import { type Selection, selectTags } from './selection.ts'

/** Tags deleted in one transaction. */
const atOnce = 200

/**
 * Deletes the tags of a repository that a selection chooses; returns their number. A tag that is pushed meanwhile stays: it no longer
 * names the image that was chosen.
 */
export async function deleteSelected(
  ctx: Ctx,
  { projectId, repositoryId }: { projectId: number; repositoryId: number },
  selection: Selection,
  actorId: number | null,
): Promise<number> {
  const repository = await findRepository(ctx.db, projectId, repositoryId)
  if (!repository) return 0
  const tags = await candidatesOf(ctx.db, repositoryId)
  const latest = await findTag(ctx.db, repositoryId, 'latest')
  const chosen = new Set(selectTags(tags, selection, new Date(), latest?.digest))
  const tagsToDelete = tags.filter(({ name }) => chosen.has(name))
  let deleted = 0
  for (let at = 0; at < tagsToDelete.length; at += atOnce) {
    deleted += await ctx.transaction(async (tx) => {
      const locked = await lockRepository(tx, repositoryId)
      if (locked === undefined) return 0
      const gone = await deleteTags(tx, locked, await unmoved(tx, locked, tagsToDelete.slice(at, at + atOnce)))
      if (gone.length > 0)
        await emit(tx, {
          kind: 'container_tags_deleted',
          projectId,
          actorId,
          payload: { repository_id: repositoryId, tag_count: gone.length },
          facts: { path: pathOf(repository.full_path, repository.name), tags: gone },
        })
      return gone.length
    })
  }
  return deleted
}
