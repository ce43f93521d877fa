import { Type } from 'typebox'
import type { Tx } from '../../../db/db.ts'
import type { Reaction } from '../../../events/reaction.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { enqueueWhere, type JobDeclaration } from '../../../jobs/job.ts'
import { isAwaited } from './due-queries.ts'

const input = Type.Object({ projectId: Type.Integer(), sha: Type.String() })

/** Merges what waits for a pipeline of a commit in its own project. auto-merge-job.ts runs it. */
export const awaitedMergesDue: JobDeclaration<typeof input> = {
  name: 'merge_when_pipeline_succeeds',
  input,
  key: ({ projectId, sha }) => `merge_when_pipeline_succeeds:${projectId}:${sha}`,
  attempts: 5,
}

/** Queues that, where something waits, once a pipeline has succeeded. One statement. */
export const mergeAwaitedLater = (
  tx: Tx,
  { project_id: projectId, sha }: { readonly project_id: number; readonly sha: Oid },
): Promise<number> => enqueueWhere(tx, awaitedMergesDue, { projectId, sha }, isAwaited(projectId, sha))

/** The same after a pipeline has become successful. */
export const mergeWhenPipelineSucceeds: Reaction<'pipeline_changed'> = async (tx, { projectId, payload }) => {
  if (payload.status === 'success') await mergeAwaitedLater(tx, { project_id: projectId, sha: payload.sha })
}
