import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { isAncestor } from '../../../git/history/ancestry.ts'
import { canMerge } from '../../../git/merge/merge-commits.ts'
import { enqueueEach, job } from '../../../jobs/job.ts'
import { insertTodos } from '../../discussion/index.ts'
import { beginChecks, forgetCheck, saveMergeStatus, withheldStatus } from '../merge-requests/merge-status-queries.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { areStill, type Heads, readHeads, targetRepository } from './heads.ts'
import { findMerging, lockMerging, type MergingRow } from './queries.ts'
import { syncWithBranches } from './update.ts'

/** Checks whether a merge request can be merged with the current heads of its branches. */
export const checkMergeability = job({
  name: 'check_mergeability',
  input: Type.Object({ mergeRequestId: Type.Integer() }),
  key: ({ mergeRequestId }) => `check_mergeability:${mergeRequestId}`,
  attempts: 10,
  async run({ mergeRequestId }, ctx) {
    try {
      await checkNow(ctx, mergeRequestId)
    } finally {
      // If there is no result, after an error or because it is not open, the next request queues the check again.
      await forgetCheck(ctx.db, mergeRequestId)
    }
  },
})

/** Queues the check for merge requests with an unknown merge status. */
export async function checkLater(tx: Tx, mergeRequestIds: readonly number[]): Promise<void> {
  const waiting = mergeRequestIds.length === 0 ? [] : await beginChecks(tx, mergeRequestIds)
  const inputs = waiting.map((mergeRequestId) => ({ mergeRequestId }))
  if (inputs.length > 0) await enqueueEach(tx, checkMergeability, inputs)
}

/** Maximum attempts while branches keep moving; the next request checks again. */
const attempts = 5

/**
 * Runs the check now, and again if a head moves meanwhile: a result is valid for its heads only. Returns the last result, or undefined
 * for a merge request that is not open, or whose source moves at every attempt. Starts one `merge-tree` process for new heads.
 */
export async function checkNow(ctx: Ctx, id: number): Promise<boolean | undefined> {
  let merges: boolean | undefined
  for (let attempt = 1; attempt <= attempts; attempt++) {
    await syncWithBranches(ctx, id)
    const row = await findMerging(ctx.db, id)
    if (row?.state !== 'opened') return undefined
    const heads = await readHeads(ctx, row)
    // A push has moved the branch since: the merge request gets its new head first.
    if (heads.source && heads.source !== row.head_oid) {
      merges = undefined
      continue
    }
    merges = await canBeMerged(ctx, row, heads)
    const lacksTarget = merges && !(await isAncestor(targetRepository(ctx, row), heads.target!, heads.source!))
    const isSaved = await ctx.transaction(async (tx) => {
      const now = await lockMerging(tx, id)
      if (now?.state !== 'opened') return true
      if (!(await areStill(ctx, now, heads))) return false
      const refused = heads.isWithheld ? withheldStatus : 'cannot_be_merged'
      await saveMergeStatus(tx, id, merges ? 'can_be_merged' : refused, heads, lacksTarget)
      if (!merges && isNews(now)) await askAuthor(tx, now)
      return true
    })
    if (isSaved) break
  }
  return merges
}

async function canBeMerged(ctx: Ctx, row: MergingRow, { source, target }: Heads): Promise<boolean> {
  if (!source || !target || source !== row.head_oid || row.commits === 0) return false
  return canMerge(targetRepository(ctx, row), target, source)
}

/** A conflict is new if the previous status was mergeable or unknown. An empty merge is no conflict. */
const isNews = ({ merge_status, head_oid, start_oid, commits }: MergingRow): boolean =>
  !merge_status.startsWith('cannot_be_merged') && head_oid !== null && start_oid !== null && commits > 0

/**
 * Adds a todo for the author, and for the user who enabled the automatic merge: users are notified here about the effects of their
 * own changes.
 */
async function askAuthor(tx: Tx, row: MergingRow): Promise<void> {
  const people = new Set([row.author_id, ...(row.auto_merge_user_id === null ? [] : [row.auto_merge_user_id])])
  await insertTodos(
    tx,
    asNoteable(row),
    [...people].map((userId) => ({ userId, authorId: row.author_id, action: 'unmergeable' as const })),
  )
}
