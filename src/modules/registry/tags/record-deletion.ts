import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { RepositoryRow } from '../images/queries.ts'
import type { ContentDigest } from '../names/digests.ts'
import { pathOf } from '../names/names.ts'

/**
 * Records that tags were deleted, with a `digest` together with the manifest that they named; `actorId` is null if a cleanup policy
 * deleted them.
 */
export const recordDeletion = (
  tx: Tx,
  actorId: number | null,
  { id, project_id, full_path, name }: Pick<RepositoryRow, 'id' | 'project_id' | 'full_path' | 'name'>,
  tags: readonly string[],
  digest?: ContentDigest,
): Promise<void> =>
  emit(tx, {
    kind: 'container_tags_deleted',
    projectId: project_id,
    actorId,
    payload: { repository_id: id, tag_count: tags.length, ...(digest !== undefined && { digest }) },
    facts: { path: pathOf(full_path, name), tags },
  })
