import type { Ctx } from '../../../api/ctx.ts'
import type { Db } from '../../../db/db.ts'
import { planOffers } from '../../../kernel/plan.ts'
import type { NoteableType } from '../noteables/kinds.ts'
import { readersAmong } from './queries.ts'

/** Whether the plan has one assignee and one reviewer at most. */
export const hasSingleAssignees = ({ plan }: Pick<Ctx, 'plan'>): boolean => !planOffers(plan, 'starter')

/**
 * Requested assignees or reviewers who can be assigned in a project; only the first on a plan with single assignees. Looked up in the
 * transaction that assigns them, whose next attempt misses those who were deleted meanwhile.
 */
export async function assignableAmong(
  db: Db,
  ctx: Pick<Ctx, 'plan'>,
  type: NoteableType,
  projectId: number,
  ids: readonly number[] | undefined,
): Promise<number[]> {
  if (!ids?.length) return []
  const people = await readersAmong(db, type, projectId, ids)
  return hasSingleAssignees(ctx) ? people.slice(0, 1) : people
}

/**
 * The same for a list that replaces the present people. Undefined, as if it were not sent, if no user that it names can be
 * assigned: a typing error removes no users. An empty list and 0 remove all.
 */
export async function replacementAmong(
  db: Db,
  ctx: Pick<Ctx, 'plan'>,
  type: NoteableType,
  projectId: number,
  ids: readonly number[] | undefined,
): Promise<number[] | undefined> {
  const named = ids?.filter((id) => id !== 0)
  if (!named?.length) return named
  const people = await assignableAmong(db, ctx, type, projectId, named)
  return people.length > 0 ? people : undefined
}

/** The todo of an assignee. */
export const assignment = (authorId: number) => (userId: number) => ({ userId, authorId, action: 'assigned' }) as const
