import { emitAll } from '../../../events/log.ts'
import { toEvents } from '../../../events/reaction.ts'
import { type AccountOrGroupDeleted, deletedBy } from '../../groups/index.ts'
import { protectionsNaming } from './queries.ts'

/**
 * Records the protections that named an account or group that is deleted. Their grants have no effect from now on, and are deleted
 * with its row.
 */
export const recordEndedGrants = toEvents<AccountOrGroupDeleted>(async (tx, events) => {
  const deleted = deletedBy(events)
  if (!deleted) return
  const protections = await protectionsNaming(tx, deleted)
  await emitAll(
    tx,
    protections.map(({ project_id: projectId, kind, name }) => ({
      kind: 'ref_protection_changed',
      projectId,
      actorId: events[0]!.actorId,
      payload: { ref_kind: kind, name },
    })),
  )
})
