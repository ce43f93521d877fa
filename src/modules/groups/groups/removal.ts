import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { enqueue } from '../../../jobs/job.ts'
import { namespaceRemoved } from '../../namespaces/index.ts'
import { removeGroup } from './jobs.ts'
import type { GroupRow } from './queries.ts'
import { deleteSharesWith, lockToRemove, markGroupDeleting } from './removal-queries.ts'
import { emitGroupsUnshared, emitProjectsUnshared } from './unshared.ts'

/**
 * Hides the group and its content from this commit on; a job deletes the data. The access lock and the group's row lock
 * are held.
 */
export async function removeHeld(tx: Tx, held: GroupRow, actorId: number | null): Promise<void> {
  await lockToRemove(tx, held.traversal_ids)
  await namespaceRemoved(tx, held.id, async () => {
    const { projects, groups } = await deleteSharesWith(tx, held.id)
    await emitProjectsUnshared(tx, projects, actorId)
    await emitGroupsUnshared(tx, groups, actorId)
  })
  await markGroupDeleting(tx, held.traversal_ids)
  await enqueue(tx, removeGroup, { groupId: held.id })
  await emit(tx, {
    kind: 'group_deleted',
    groupId: held.id,
    actorId,
    payload: { ...(held.parent_id !== null && { parent_id: held.parent_id }), visibility: held.visibility },
    facts: { full_path: held.full_path },
  })
}
