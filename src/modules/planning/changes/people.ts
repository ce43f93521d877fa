import type { Ctx } from '../../../api/ctx.ts'
import { hasSingleAssignees } from '../../discussion/index.ts'

/** How an edit changes the assignees or reviewers: the whole list, or some of them. */
export type PeopleEdit = {
  readonly replaced: readonly number[] | undefined
  readonly added: readonly number[]
  readonly removed: readonly number[] | undefined
}

/** The new assignees or reviewers; `undefined` if the edit does not change them. On a plan with single ones: the first added. */
export function peopleAfter(
  ctx: Pick<Ctx, 'plan'>,
  before: readonly number[],
  { replaced, added, removed = [] }: PeopleEdit,
): readonly number[] | undefined {
  if (!replaced && added.length + removed.length === 0) return undefined
  const remaining = hasSingleAssignees(ctx) && added.length > 0 ? [] : (replaced ?? before)
  return [...new Set([...remaining, ...added])].filter((id) => !removed.includes(id))
}
