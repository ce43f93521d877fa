import type { Ctx } from '../../../api/ctx.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { storedBytes } from './queries.ts'
import type { PushRule } from './rule.ts'

const mebibyte = 1024 * 1024

/** Error message if the repository has reached the size limit of the installation. */
export const sizeViolation = (ctx: Ctx, projectId: number): Promise<string | undefined> =>
  sizeViolationOf(ctx, () => storedBytes(ctx.db, projectId))

/** The same for any repository, by the bytes that it has. */
export async function sizeViolationOf(ctx: Ctx, bytes: () => Promise<number>): Promise<string | undefined> {
  const limit = ctx.settings.repository_size_limit
  if (limit === 0 || !planOffers(ctx.plan, 'premium')) return undefined
  const over = (await bytes()) / mebibyte - limit
  return over < 0
    ? undefined
    : `Your push has been rejected, because this repository has exceeded its size limit of ${limit} MB by ${over.toFixed(2)} MB. Please contact your Stithy administrator for more information.`
}

/** Pushes that only delete refs pass. */
export const sizeLimitRule: PushRule = async ({ ctx, project, changes }) =>
  changes.every(({ to }) => to === null) ? undefined : sizeViolation(ctx, project.id)
