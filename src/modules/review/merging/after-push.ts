import { Type } from 'typebox'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueueWhere, type JobDeclaration } from '../../../jobs/job.ts'
import { isOpenAroundPush } from './due-queries.ts'

const input = Type.Object({ projectId: Type.Integer() })

/** Brings merge requests from and into a project up to date with its branches. update-job.ts runs it. */
export const mergeRequestsUpdateDue: JobDeclaration<typeof input> = {
  name: 'update_merge_requests',
  input,
  key: ({ projectId }) => `update_merge_requests:${projectId}`,
  queue: ({ projectId }) => `merge_requests:${projectId}`,
  throttled: true,
  attempts: 10,
}

/** Queues that after a push that moved a branch of an open merge request. One statement. */
export const updateMergeRequestsAfterPush: Reaction<'pushed'> = (tx, { projectId, payload }) =>
  enqueueWhere(tx, mergeRequestsUpdateDue, { projectId }, isOpenAroundPush(projectId, payload.push_id))
