import type { Tx } from '../../../db/db.ts'
import { emitAll } from '../../../events/log.ts'
import { insideOf, limitNamespaceVisibility } from '../../namespaces/index.ts'
import { emitLowered, limitProjectVisibility, loweredPayload } from '../../projects/index.ts'

/**
 * Lowers the visibility of a group and of everything below to at most this level. Each group and project has the event of a change by a
 * user; the events are for the caller to emit, after that of the move.
 */
export async function limitVisibility(
  tx: Tx,
  traversalIds: readonly number[],
  visibility: number,
  actorId: number,
): Promise<{ emitChanges: () => Promise<void> }> {
  const groups = await limitNamespaceVisibility(tx, traversalIds, visibility)
  const projects = await limitProjectVisibility(tx, insideOf(traversalIds), visibility)
  return {
    async emitChanges() {
      await emitAll(
        tx,
        groups.map(({ id: groupId, visibility: before }) => ({
          kind: 'group_updated',
          groupId,
          actorId,
          payload: loweredPayload(before, visibility),
          facts: {},
        })),
      )
      await emitLowered(tx, projects, visibility, actorId)
    },
  }
}
