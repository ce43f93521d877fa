import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { planOffers } from '../../../kernel/plan.ts'
import { storedBytes } from './queries.ts'

const mebibyte = 1024 * 1024

type Bytes = () => Promise<number>

/** Error message if a project has reached the size limit of the installation, or would exceed it with what is added. */
export const sizeViolation = (ctx: Ctx, projectId: number, added?: Bytes): Promise<string | undefined> =>
  sizeViolationOf(ctx, () => storedBytes(ctx.db, projectId), added)

/** The same after `size` bytes were counted in the transaction, which holds the row of the counts until its end. */
export const sizeViolationWith = (ctx: Ctx, tx: Tx, projectId: number, size: number): Promise<string | undefined> =>
  sizeViolationOf(
    ctx,
    async () => (await storedBytes(tx, projectId)) - size,
    async () => size,
  )

/** The same for any repository, by the bytes that it has, and those that are added. Both are only read if there is a limit. */
export async function sizeViolationOf(ctx: Ctx, stored: Bytes, added?: Bytes): Promise<string | undefined> {
  const limit = ctx.settings.repository_size_limit
  if (limit === 0 || !planOffers(ctx.plan, 'premium')) return undefined
  const over = (await stored()) / mebibyte - limit
  if (over >= 0) return rejected(`has exceeded its size limit of ${limit} MB by ${over.toFixed(2)} MB`)
  const excess = over + ((await added?.()) ?? 0) / mebibyte
  return excess > 0 ? rejected(`would exceed its size limit of ${limit} MB by ${excess.toFixed(2)} MB`) : undefined
}

const rejected = (reason: string): string =>
  `Your push has been rejected, because this repository ${reason}. Please contact your Stithy administrator for more information.`
