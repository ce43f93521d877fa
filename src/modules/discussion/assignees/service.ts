import type { Ctx } from '../../../api/ctx.ts'
import type { Db } from '../../../db/db.ts'
import { planOffers } from '../../../kernel/plan.ts'
import type { NoteableType } from '../noteables/kinds.ts'
import { readersAmong } from './queries.ts'

/**
 * Requested assignees or reviewers who can be assigned in a project; only the first on a plan with single assignees. Looked up in the
 * transaction that assigns them, whose next attempt misses those who were deleted meanwhile.
 */
export async function assignableAmong(
  db: Db,
  { plan }: Pick<Ctx, 'plan'>,
  type: NoteableType,
  projectId: number,
  ids: readonly number[] | undefined,
): Promise<number[]> {
  if (!ids?.length) return []
  const people = await readersAmong(db, type, projectId, ids)
  return planOffers(plan, 'starter') ? people : people.slice(0, 1)
}

/** The todo of an assignee. */
export const assignment = (authorId: number) => (userId: number) => ({ userId, authorId, action: 'assigned' }) as const
