import type { Ctx } from '../../../api/ctx.ts'
import type { Oid } from '../../../git/format/oid.ts'
import type { RefName } from '../../../git/format/ref-name.ts'
import { mergeCommits } from '../../../git/merge/merge-commits.ts'
import { readCommit } from '../../../git/objects/commits.ts'
import { prepareCommit } from '../../../git/objects/prepare-commit.ts'
import { readRef } from '../../../git/refs/refs.ts'
import { updateRefs } from '../../../git/refs/update-refs.ts'
import { Failure, invalid, rowNotFound } from '../../../kernel/failure.ts'
import { callerSignature } from '../../accounts/index.ts'
import type { MergeRequestSubject } from '../merge-requests/subject.ts'
import { readHeads, targetRepository } from './heads.ts'
import { mergeMessage } from './messages.ts'
import { findMerging, lockMerging } from './queries.ts'
import { syncWithBranches } from './update.ts'

/** The ref with the result of a merge; every reader may fetch it. */
const mergeRef = (iid: number): RefName => `refs/merge-requests/${iid}/merge` as RefName

/** Attempts while other requests move the ref: each move means that one of them has merged the heads of that time. */
const attempts = 5

/**
 * Merges the current heads of both branches into a separate ref; no branch moves. Creates the ref if it does not exist. Concurrent
 * requests, in any process, return the commit that one of them made, which the ref has. Fails if the merge request is not open or
 * cannot be merged.
 */
export async function ensureMergeRef(ctx: Ctx, subject: MergeRequestSubject): Promise<Oid> {
  await syncWithBranches(ctx, subject.id)
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const merged = await mergeOnce(ctx, subject)
    if (merged) return merged
  }
  throw new Failure('unavailable', 'The merge ref is being changed by other requests')
}

/** Undefined if another request has moved the ref meanwhile. */
async function mergeOnce(ctx: Ctx, subject: MergeRequestSubject): Promise<Oid | undefined> {
  const row = await findMerging(ctx.db, subject.id)
  if (!row) throw rowNotFound()
  const { source, target } = await readHeads(ctx, row)
  const refused = invalid('Merge request is not mergeable')
  if (row.state !== 'opened' || row.commits === 0 || !source || !target) throw refused
  const repo = targetRepository(ctx, row)
  const name = mergeRef(row.iid)
  const at = await readRef(repo, name)
  const known = at && (await readCommit(repo, at))
  if (known && known.parents[0] === target && known.parents[1] === source) return known.oid
  const tree = await mergeCommits(repo, target, source)
  if (tree === 'conflict') throw refused
  const who = callerSignature(ctx)
  const parents = [target, source]
  const { commit, store } = prepareCommit(repo, {
    tree,
    parents,
    author: who,
    committer: who,
    message: mergeMessage(row),
  })
  await store()
  const outcome = await ctx.transaction(async (tx) => {
    // A deletion waits for the lock, and its job then deletes this ref, too.
    if (!(await lockMerging(tx, row.id))) throw rowNotFound()
    return updateRefs(repo, [{ name, from: at ?? 'absent', to: commit.oid }])
  })
  return outcome === 'moved' ? commit.oid : undefined
}
