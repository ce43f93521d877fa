import { Type } from 'typebox'
import type { Reaction } from '../../../events/reaction.ts'
import { enqueueWhere, job } from '../../../jobs/job.ts'
import { addCrossReferences, commitAsSource } from '../../discussion/index.ts'
import { findDonePush } from '../../pushes/index.ts'
import { addCommitReferences } from '../../repository/index.ts'
import { closeByCommit } from '../closing/close.ts'
import { broughtByMergeRequests } from '../closing/queries.ts'
import { newCommits } from './commits.ts'
import { movedBranch } from './queries.ts'

/**
 * Closes the issues that new commits on the default branch name, and adds notes to the noteables that the messages of new commits
 * mention, for the user who pushed. What came by a merge request is closed by the merge request.
 */
export const referToNamedByCommits = job({
  name: 'refer_to_named_by_commits',
  input: Type.Object({ pushId: Type.Integer() }),
  key: ({ pushId }) => `refer_to_named_by_commits:${pushId}`,
  attempts: 5,
  async run({ pushId }, ctx) {
    const push = await findDonePush(ctx.db, pushId)
    const userId = push?.actor_id ?? null
    if (!push || userId === null) return
    const found = await newCommits(ctx, push.project_id, push.changes)
    if (!found) return
    const { full_path, default_branch, forked_from_project_id, closes } = found.origin
    const arrived = closes ? [...found.arrived] : []
    const brought =
      arrived.length > 0 && default_branch !== null
        ? await broughtByMergeRequests(ctx.db, push.project_id, default_branch, arrived)
        : undefined
    for (const { oid, message } of found.commits) {
      const source = commitAsSource({ of: 'project', id: push.project_id, full_path }, oid)
      const isClosing = brought !== undefined && found.arrived.has(oid) && !brought.has(oid)
      const closed = isClosing
        ? await closeByCommit(ctx, { ...source, oid, message, userId, forked_from_project_id })
        : undefined
      await addCrossReferences(ctx, { ...source, text: message, authorId: userId }, closed)
      await addCommitReferences(ctx, { ...source, text: message, authorId: userId })
    }
  },
})

export const findNamedByPush: Reaction<'pushed'> = (tx, { payload: { push_id: pushId } }) =>
  enqueueWhere(tx, referToNamedByCommits, { pushId }, movedBranch(pushId))
