import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { canMerge } from '../../../git/merge/merge-commits.ts'
import { enqueueEach, job } from '../../../jobs/job.ts'
import { insertTodos } from '../../discussion/index.ts'
import { asNoteable } from '../merge-requests/noteable.ts'
import { areStill, type Heads, readHeads, targetRepository } from './heads.ts'
import { beginChecks, findMerging, lockMerging, type MergingRow, saveMergeStatus, withheldStatus } from './queries.ts'
import { catchUp } from './update.ts'

/** Finds out whether a merge request could be merged as its branches are now. */
export const checkMergeability = job({
  name: 'check_mergeability',
  input: Type.Object({ mergeRequestId: Type.Integer() }),
  key: ({ mergeRequestId }) => `check_mergeability:${mergeRequestId}`,
  attempts: 10,
  run: async ({ mergeRequestId }, ctx) => void (await checkNow(ctx, mergeRequestId)),
})

/** Queues the check of those of which it is not known. */
export async function checkLater(tx: Tx, mergeRequestIds: readonly number[]): Promise<void> {
  const waiting = mergeRequestIds.length === 0 ? [] : await beginChecks(tx, mergeRequestIds)
  const inputs = waiting.map((mergeRequestId) => ({ mergeRequestId }))
  if (inputs.length > 0) await enqueueEach(tx, checkMergeability, inputs)
}

/** Branches that never stand still are left to the next who asks. */
const attempts = 5

/**
 * The same at once. What is found is right only for the heads that it was found for: when one of them moves meanwhile, it is found
 * out again. Returns what was found last; nothing of what is not open. A `merge-tree` process for heads that were not asked about
 * before.
 */
export async function checkNow(ctx: Ctx, id: number): Promise<boolean | undefined> {
  let merges: boolean | undefined
  for (let attempt = 1; attempt <= attempts; attempt++) {
    await catchUp(ctx, id)
    const row = await findMerging(ctx.db, id)
    if (row?.state !== 'opened') return undefined
    const heads = await readHeads(ctx, row)
    merges = await canBeMerged(ctx, row, heads)
    const isSaved = await ctx.transaction(async (tx) => {
      const now = await lockMerging(tx, id)
      if (now?.state !== 'opened') return true
      if (!(await areStill(ctx, now, heads))) return false
      const refused = heads.isWithheld ? withheldStatus : 'cannot_be_merged'
      await saveMergeStatus(tx, id, merges ? 'can_be_merged' : refused, heads)
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

/** Before, it could be merged, or nobody knew. What has nothing to merge is no conflict. */
const isNews = ({ merge_status, head_oid, start_oid, commits }: MergingRow): boolean =>
  !merge_status.startsWith('cannot_be_merged') && head_oid !== null && start_oid !== null && commits > 0

/** Puts it on the list of its author, and of whoever waits for it to be merged: here it is their own doing that they are told of. */
async function askAuthor(tx: Tx, row: MergingRow): Promise<void> {
  const people = new Set([row.author_id, ...(row.auto_merge_user_id === null ? [] : [row.auto_merge_user_id])])
  await insertTodos(
    tx,
    asNoteable(row),
    [...people].map((userId) => ({ userId, authorId: row.author_id, action: 'unmergeable' as const })),
  )
}
