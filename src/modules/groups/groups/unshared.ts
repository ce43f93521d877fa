import type { Tx } from '../../../db/db.ts'
import { integer, type RowOf } from '../../../db/row.ts'
import { emitAll } from '../../../events/log.ts'

export const endedProjectShareRow = { project_id: integer, group_id: integer, group_access: integer }
export type EndedProjectShare = RowOf<typeof endedProjectShareRow>

export const endedGroupShareRow = { shared_group_id: integer, shared_with_group_id: integer }
export type EndedGroupShare = RowOf<typeof endedGroupShareRow>

/** Records that shares of projects ended, by a user or by expiry. */
export const emitProjectsUnshared = (tx: Tx, ended: readonly EndedProjectShare[], actorId: number | null) =>
  emitAll(
    tx,
    ended.map(({ project_id: projectId, ...payload }) => ({ kind: 'project_unshared', projectId, actorId, payload })),
  )

/** As `emitProjectsUnshared`, for shares of groups. */
export const emitGroupsUnshared = (tx: Tx, ended: readonly EndedGroupShare[], actorId: number | null) =>
  emitAll(
    tx,
    ended.map(({ shared_group_id: groupId, shared_with_group_id: withGroupId }) => ({
      kind: 'group_unshared',
      groupId,
      actorId,
      payload: { with_group_id: withGroupId },
    })),
  )
