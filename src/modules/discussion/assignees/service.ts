import type { Ctx } from '../../../api/ctx.ts'
import { planOffers } from '../../../kernel/plan.ts'
import type { NoteableType } from '../noteables/kinds.ts'
import { readersAmong } from './queries.ts'

/** Requested assignees or reviewers who can be assigned in a project; only the first on a plan with single assignees. */
export async function assignableAmong(
  ctx: Ctx,
  type: NoteableType,
  projectId: number,
  ids: readonly number[] | undefined,
): Promise<number[]> {
  if (!ids?.length) return []
  const people = await readersAmong(ctx.db, type, projectId, ids)
  return planOffers(ctx.plan, 'starter') ? people : people.slice(0, 1)
}

/** The todo of an assignee. */
export const assignment = (authorId: number) => (userId: number) => ({ userId, authorId, action: 'assigned' }) as const
