import { visibilityName } from '../../../access/levels.ts'
import type { Tx } from '../../../db/db.ts'
import { emitAll } from '../../../events/log.ts'
import type { LoweredProject } from './lowered-queries.ts'

/** What the event of a project or group says whose visibility was lowered. */
export const loweredPayload = (before: number, now: number) => ({
  changed: ['visibility'],
  from_visibility: visibilityName(before),
  visibility: visibilityName(now),
})

/** Records that projects have this visibility, because that of what they are in or of what they are forks of was lowered. */
export const emitLowered = (
  tx: Tx,
  lowered: readonly LoweredProject[],
  visibility: number,
  actorId: number,
): Promise<void> =>
  emitAll(
    tx,
    lowered.map(({ id: projectId, visibility: before }) => ({
      kind: 'project_updated',
      projectId,
      actorId,
      payload: loweredPayload(before, visibility),
      facts: {},
    })),
  )
