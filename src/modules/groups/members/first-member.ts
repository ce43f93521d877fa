import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import type { Reaction } from '../../../events/reaction.ts'
import { projectPlaced } from '../../namespaces/index.ts'
import { firstLevel, insertFirstMember } from './first-member-queries.ts'

/** Makes the first member of a project, and with that the access of all. */
export const addFirstMember: Reaction<'project_created'> = async (tx, { projectId, actorId }) => {
  const first = await insertFirstMember(tx, projectId)
  // No other transaction can depend on a project that is not committed: the access lock is not needed.
  await projectPlaced(tx, projectId)
  if (!first) return
  await emit(tx, {
    kind: 'member_added',
    projectId,
    actorId,
    payload: { user_id: first.user_id, access_level: firstLevel, expires_at: null, first: true },
  })
}

/** Makes the owner of the personal namespace that a project has moved to a member of it. The access lock is held. */
export async function addOwnerOfNamespace(tx: Tx, projectId: number, actorId: number): Promise<void> {
  const owner = await insertFirstMember(tx, projectId)
  if (!owner || owner.unchanged) return
  await emit(tx, {
    kind: owner.level_before === null ? 'member_added' : 'member_updated',
    projectId,
    actorId,
    payload: { user_id: owner.user_id, access_level: firstLevel, expires_at: null },
  })
}
