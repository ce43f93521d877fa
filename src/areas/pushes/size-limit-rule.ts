import { planOffers } from '../../kernel/plan.ts'
import { storedBytes } from './queries.ts'
import type { PushRule } from './rule.ts'

const mebibyte = 1024 * 1024

/** A repository that has reached its limit grows no more; what only deletes refs passes. */
export const sizeLimitRule: PushRule = async ({ ctx, project, changes }) => {
  const limit = ctx.settings.repository_size_limit
  if (limit === 0 || !planOffers(ctx.plan, 'premium') || changes.every(({ to }) => to === null)) return undefined
  const over = (await storedBytes(ctx.db, project.id)) / mebibyte - limit
  return over < 0
    ? undefined
    : `Your push has been rejected, because this repository has exceeded its size limit of ${limit} MB by ${over.toFixed(2)} MB. Please contact your Stithy administrator for more information.`
}
