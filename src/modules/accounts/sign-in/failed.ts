import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'

/** Maximum length of a login in the audit log: the longest name of an account. */
const maxLoginLength = 255

/** Records a failed sign-in and its address in the audit log. `userId` is the account with this login, if any. */
export const recordFailedSignIn = (ctx: Ctx, login: string, userId: number | undefined): Promise<void> =>
  ctx.transaction((tx) =>
    emit(tx, {
      kind: 'sign_in_failed',
      actorId: null,
      payload: { ...(userId !== undefined && { user_id: userId }) },
      facts: { login: login.replaceAll('\0', '').slice(0, maxLoginLength) },
    }),
  )
