import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import { ancestorsAmong } from '../../../git/history/ancestry.ts'
import type { Repository } from '../../../git/repository/repository.ts'
import { job } from '../../../jobs/job.ts'
import { commitsOf, deleteCommit, findCommit, type IntendedCommit, oldCommits } from './queries.ts'
import { recordApplied } from './record.ts'

/*
 * A commit that applies suggestions is first stored with them, then the source branch moves to it, then one transaction marks them as
 * applied. After a crash in between, the head of the branch contains the commit, or the journal of pushes says that the branch moved to
 * it, whatever has happened since. So no suggestion is committed without being `applied`, and the reverse.
 */

/** Longer than a request takes from its commit to its push. */
const interruptedAfterSeconds = 120

/** Settles the commit of an attempt that failed. True if the branch moved to it all the same. */
export async function settleAttempt(ctx: Ctx, token: string): Promise<boolean> {
  const commit = await findCommit(ctx.db, token)
  if (commit) await settle(ctx, commit)
  return commit?.moved === true
}

/**
 * Marks suggestions of a merge request as applied whose commits the source branch, which is at `head` in this repository, has moved to.
 * The head may be ahead of the journal. False if there are none; one statement then.
 */
export async function recordArrived(
  ctx: Ctx,
  mergeRequestId: number,
  repo: Repository,
  head: Oid | undefined,
): Promise<boolean> {
  const commits = await commitsOf(ctx.db, mergeRequestId)
  if (commits.length === 0) return false
  const oids = commits.map(({ commit_oid }) => commit_oid)
  const contained = head ? await ancestorsAmong(repo, head, oids) : new Set<Oid>()
  const arrived = commits.filter(({ moved, commit_oid }) => moved || contained.has(commit_oid))
  for (const commit of arrived) await recordApplied(ctx, commit)
  return arrived.length > 0
}

/** Records a commit to which the branch moved, and deletes one to which no push can move it any more. */
async function settle(ctx: Ctx, commit: IntendedCommit): Promise<void> {
  if (commit.moved) await recordApplied(ctx, commit)
  else if (!commit.moving) await deleteCommit(ctx.db, commit.token)
}

/** Settles commits that a crash interrupted. Those that fail are logged and tried again the next time. */
export const settleCutOffSuggestions = job({
  name: 'settle_cut_off_suggestions',
  input: Type.Object({}),
  key: () => 'settle_cut_off_suggestions',
  attempts: 3,
  every: { cron: '* * * * *', input: {} },
  async run(_input, ctx) {
    for (const commit of await oldCommits(ctx.db, interruptedAfterSeconds))
      await settle(ctx, commit).catch((error: unknown) =>
        ctx.log.error({ err: error, merge_request_id: commit.merge_request_id }, 'suggestions cannot be settled'),
      )
  },
})
