import { Type } from 'typebox'
import type { Reaction } from '../../../events/reaction.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { ancestorsAmong } from '../../../git/history/ancestry.ts'
import { enqueue, enqueueEach, enqueueWhere, job } from '../../../jobs/job.ts'
import { eachByItself } from '../../../kernel/each-by-itself.ts'
import { findProject, openRepository } from '../../projects/index.ts'
import { uncheckInto } from '../merge-requests/merge-status-queries.ts'
import { readBranch } from './heads.ts'
import { type OpenRow, openAround } from './queries.ts'
import { syncWithBranches } from './update.ts'
import { isOpenAroundPush } from './waiting-queries.ts'

/**
 * Updates merge requests from and into a project from the current state of its branches: it may run twice, late, and once for
 * several pushes. Reads all open ones in one statement, with one walk for each target branch, and processes only those affected. A
 * failure of one does not stop the others.
 */
export const updateMergeRequests = job({
  name: 'update_merge_requests',
  input: Type.Object({ projectId: Type.Integer() }),
  key: ({ projectId }) => `update_merge_requests:${projectId}`,
  throttled: true,
  attempts: 10,
  async run({ projectId }, ctx) {
    const project = await findProject(ctx.db, null, projectId)
    if (!project) return
    const repo = openRepository(ctx, project)
    const rows = await openAround(ctx.db, projectId)
    const moved = new Set<number>()
    for (const row of rows) {
      if (row.state === 'locked') moved.add(row.id)
      else if (row.source_project_id === projectId)
        if ((await readBranch(repo, row.source_branch)) !== (row.head_oid ?? undefined)) moved.add(row.id)
    }
    const inProject = Map.groupBy(
      rows.filter((row) => row.project_id === projectId),
      ({ target_branch }) => target_branch,
    )
    for (const [branch, into] of inProject) {
      const target = await readBranch(repo, branch)
      const had = target && (await ancestorsAmong(repo, target, oidsOf(into)))
      for (const row of into) if (had && hasTurned(row, had)) moved.add(row.id)
      await uncheckInto(ctx.db, projectId, branch, target ?? null)
    }
    await eachByItself(moved, (id) => syncWithBranches(ctx, id))
  },
})

/**
 * Updates one merge request from the current state of its branches. A push while it is created, reopened or gets another target branch
 * may end after its branches are read, and before it is found among the open ones.
 */
export const updateMergeRequest = job({
  name: 'update_merge_request',
  input: Type.Object({ mergeRequestId: Type.Integer() }),
  key: ({ mergeRequestId }) => `update_merge_request:${mergeRequestId}`,
  attempts: 10,
  run: ({ mergeRequestId }, ctx) => syncWithBranches(ctx, mergeRequestId),
})

/** Queues that for a merge request that follows its branches from now on, or other branches. */
export const updateMergeRequestLater: Reaction<
  'merge_request_opened' | 'merge_request_reopened' | 'merge_request_updated'
> = async (tx, { kind, payload: { merge_request_id: mergeRequestId, changes } }) => {
  if (kind !== 'merge_request_updated' || changes?.['target_branch'])
    await enqueue(tx, updateMergeRequest, { mergeRequestId })
}

/** Queues the other after a push that moved a branch of an open merge request. One statement. */
export const updateMergeRequestsAfterPush: Reaction<'pushed'> = (tx, { projectId, payload }) =>
  enqueueWhere(tx, updateMergeRequests, { projectId }, isOpenAroundPush(projectId, payload.push_id))

/** Queues it after an abandoned merge: pushes may have moved branches while the merge request was locked. */
export const updateMergeRequestsAfterFailedMerge: Reaction<'merge_request_merge_failed'> = (tx, { projectId, facts }) =>
  enqueueEach(
    tx,
    updateMergeRequests,
    [...new Set([projectId, facts.source_project_id ?? projectId])].map((id) => ({ projectId: id })),
  )

const oidsOf = (rows: readonly OpenRow[]): Oid[] =>
  rows.flatMap(({ head_oid, start_oid }) => [head_oid ?? [], start_oid ?? []].flat())

/** Whether the target, which has these commits, gained the head or lost commits. */
const hasTurned = ({ head_oid, start_oid, commits }: OpenRow, had: ReadonlySet<Oid>): boolean =>
  (head_oid !== null && commits > 0 && had.has(head_oid)) || (start_oid !== null && !had.has(start_oid))
