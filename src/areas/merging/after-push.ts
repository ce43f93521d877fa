import { Type } from 'typebox'
import type { Tx } from '../../db/db.ts'
import { branchName } from '../../git/ref-name.ts'
import { enqueueWhere, type JobDeclaration } from '../../jobs/job.ts'
import type { RefChange } from '../pushes/change.ts'
import { isOpenAround } from './due-queries.ts'

const input = Type.Object({ projectId: Type.Integer() })

/** Tells merge requests from and into a project what pushes did to them. update-job.ts runs it. */
export const mergeRequestsUpdateDue: JobDeclaration<typeof input> = {
  name: 'update_merge_requests',
  input,
  key: ({ projectId }) => `update_merge_requests:${projectId}`,
  queue: ({ projectId }) => `merge_requests:${projectId}`,
  rests: true,
  attempts: 10,
}

/** Queues that, after a push that moved a branch of an open merge request. One statement. */
export async function updateMergeRequestsLater(
  tx: Tx,
  projectId: number,
  changes: readonly Pick<RefChange, 'name'>[],
): Promise<void> {
  const branches = changes.flatMap(({ name }) => branchName(name) ?? [])
  if (branches.length > 0)
    await enqueueWhere(tx, mergeRequestsUpdateDue, { projectId }, isOpenAround(projectId, branches))
}
