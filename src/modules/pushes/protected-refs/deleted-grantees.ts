import type { Tx } from '../../../db/db.ts'
import { emitAll } from '../../../events/log.ts'
import type { AccountOrGroupDeleted } from '../../groups/index.ts'
import { protectionsNaming } from './queries.ts'

/**
 * Records the protections that named an account or group that is deleted. Their grants have no effect from now on, and are deleted
 * with its row.
 */
export async function recordEndedGrants(tx: Tx, event: AccountOrGroupDeleted): Promise<void> {
  const protections = await protectionsNaming(tx, event)
  await emitAll(
    tx,
    protections.map(({ project_id: projectId, kind, name }) => ({
      kind: 'ref_protection_changed',
      projectId,
      actorId: event.actorId,
      payload: { ref_kind: kind, name },
    })),
  )
}
