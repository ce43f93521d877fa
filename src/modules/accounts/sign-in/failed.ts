import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'

/** The longest name anybody has. */
const longestLogin = 255

/** Has the audit log tell that somebody did not come in, and from where. `userId` when the name is somebody's. */
export const tellFailedSignIn = (ctx: Ctx, login: string, userId: number | undefined): Promise<void> =>
  ctx.transaction((tx) =>
    emit(tx, {
      kind: 'sign_in_failed',
      actorId: null,
      payload: { ...(userId !== undefined && { user_id: userId }) },
      facts: { login: login.replaceAll('\0', '').slice(0, longestLogin) },
    }),
  )
