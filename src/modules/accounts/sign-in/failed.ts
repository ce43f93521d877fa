import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { countHit } from '../../../settings/queries.ts'

/** Maximum length of a login in the audit log: the longest name of an account. */
const maxLoginLength = 255

/** Records a failed sign-in and its address in the audit log. `userId` is the account with this login, if any. */
export const recordFailedSignIn = (ctx: Ctx, login: string, userId: number | undefined): Promise<void> =>
  ctx.transaction((tx) =>
    emit(tx, {
      kind: 'sign_in_failed',
      actorId: null,
      payload: { ...(userId !== undefined && { user_id: userId }) },
      // PostgreSQL stores neither NUL nor half of an emoji that is cut.
      facts: { login: login.replaceAll('\0', '').slice(0, maxLoginLength).toWellFormed() },
    }),
  )

/** Maximum records of refused accounts, per account and period: no limit of failures applies to the right password. */
const maxRefused = 10
const refusedSeconds = 10 * 60

/** As `recordFailedSignIn`, for the right password of an account that may not sign in, such as a blocked one. */
export async function recordRefusedSignIn(ctx: Ctx, login: string, userId: number): Promise<void> {
  const { hits } = await countHit(ctx.db, `refused_sign_in:${userId}`, refusedSeconds)
  if (hits <= maxRefused) await recordFailedSignIn(ctx, login, userId)
}
