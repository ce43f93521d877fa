import { Type } from 'typebox'
import type { Reaction } from '../../../events/reaction.ts'
import { job } from '../../../jobs/job.ts'
import { queues } from '../../../jobs/reaction.ts'
import { findProject, openRepository } from '../../projects/index.ts'
import { dropRefs } from './versions.ts'

/** Deletes the refs of a deleted merge request, whose number is not used again. */
export const dropMergeRequestRefs = job({
  name: 'drop_merge_request_refs',
  input: Type.Object({ projectId: Type.Integer(), iid: Type.Integer() }),
  key: ({ projectId, iid }) => `drop_merge_request_refs:${projectId}:${iid}`,
  attempts: 10,
  async run({ projectId, iid }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (project) await dropRefs(openRepository(ctx, project), iid)
  },
})

export const dropRefsOfDeleted: Reaction<'merge_request_deleted'> = queues(
  dropMergeRequestRefs,
  ({ projectId, payload }) => ({ projectId, iid: payload.iid }),
)
