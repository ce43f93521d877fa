import { visibilityName } from '../../../access/levels.ts'
import type { Tx } from '../../../db/db.ts'
import { emitAll } from '../../../events/log.ts'
import type { LoweredProject } from './lowered-queries.ts'

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
      payload: {
        changed: ['visibility'],
        from_visibility: visibilityName(before),
        visibility: visibilityName(visibility),
      },
      facts: {},
    })),
  )
