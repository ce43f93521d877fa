import type { Ctx } from '../../../api/ctx.ts'
import { findMerging, type MergingRow } from './queries.ts'
import { becomeClosed } from './update.ts'

/** Closes a merge request if it is still open, and `isMeant`. Throws, so that the job is tried again, if it is being merged or changed. */
export async function closeInJob(
  ctx: Ctx,
  id: number,
  actorId: number | null,
  isMeant: (row: MergingRow) => boolean = () => true,
): Promise<void> {
  const row = await findMerging(ctx.db, id)
  if (!row || !isMeant(row)) return
  if (row.state === 'locked') throw new Error('a merge is in progress')
  if (row.state === 'opened' && !(await becomeClosed(ctx, row, actorId)))
    throw new Error('the merge request changed concurrently')
}
