import { levels } from '../../../access/levels.ts'
import type { Tx } from '../../../db/db.ts'
import { emitAll } from '../../../events/log.ts'
import { namespacePlaced } from '../../namespaces/index.ts'
import { insertOwner } from './edit-queries.ts'

/** A new group, as its event names it. */
export type CreatedGroup = { readonly id: number; readonly name: string; readonly full_path: string }

/** Makes the creator of a new group its owner, and records both. The access lock is held. */
export async function ownNewGroup(tx: Tx, group: CreatedGroup, creatorId: number): Promise<void> {
  await ownNewGroups(tx, [group], creatorId)
  await namespacePlaced(tx, group.id)
}

/** As `ownNewGroup`, for many. The caller recomputes the access to them. */
export async function ownNewGroups(tx: Tx, groups: readonly CreatedGroup[], creatorId: number): Promise<void> {
  await insertOwner(
    tx,
    groups.map(({ id }) => id),
    creatorId,
  )
  await emitAll(
    tx,
    groups.map(({ id, name, full_path }) => ({
      kind: 'group_created',
      groupId: id,
      actorId: creatorId,
      payload: {},
      facts: { name, full_path },
    })),
  )
  await emitAll(
    tx,
    groups.map(({ id }) => ({
      kind: 'member_added',
      groupId: id,
      actorId: creatorId,
      payload: { user_id: creatorId, access_level: levels.owner, expires_at: null, first: true },
    })),
  )
}
