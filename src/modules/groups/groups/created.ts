import { levels } from '../../../access/levels.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { namespacePlaced } from '../../namespaces/index.ts'
import { insertOwner } from './edit-queries.ts'

/** Makes the creator of a new group its owner, and records both. The access lock is held. */
export async function ownNewGroup(
  tx: Tx,
  groupId: number,
  creatorId: number,
  facts: { readonly name: string; readonly full_path: string },
): Promise<void> {
  await insertOwner(tx, groupId, creatorId)
  await namespacePlaced(tx, groupId)
  await emit(tx, { kind: 'group_created', groupId, actorId: creatorId, payload: {}, facts })
  await emit(tx, {
    kind: 'member_added',
    groupId,
    actorId: creatorId,
    payload: { user_id: creatorId, access_level: levels.owner, expires_at: null, first: true },
  })
}
