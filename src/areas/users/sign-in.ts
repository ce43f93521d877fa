import type { Actor } from '../../access/actor.ts'
import type { Ctx } from '../../api/ctx.ts'
import { notify } from '../../db/notifications.ts'
import { emit } from '../../events/log.ts'
import { accountRefusal, actorOf, type Refusal } from '../tokens/authenticate.ts'
import { findPasswordCredential } from '../tokens/queries.ts'
import { noteFailedSignIn } from './failed-sign-in.ts'
import { isPassword } from './password.ts'
import { moveState, touchAccount } from './state-queries.ts'

export type SignInRefusal = Refusal | 'wrong' | 'password_expired'

/** Somebody by user name or e-mail address and password. Whoever was deactivated for doing nothing is active again. */
export async function signInWithPassword(
  ctx: Ctx,
  login: string,
  password: string,
): Promise<{ actor: Actor } | { refused: SignInRefusal }> {
  // A NUL cannot be asked of the database.
  const account = login.includes('\0') ? undefined : await findPasswordCredential(ctx.db, login)
  // Also without an account: who has one must not be told by the time it takes.
  if (!(await isPassword(account?.password_digest ?? null, password)) || !account) {
    await noteFailedSignIn(ctx, login, account?.user_id)
    return { refused: 'wrong' }
  }
  const refused = accountRefusal(account)
  if (refused !== undefined && refused !== 'deactivated') return { refused }
  if (account.password_expired) return { refused: 'password_expired' }
  if (refused === 'deactivated') await awaken(ctx, account.user_id)
  // Noted beside the request: a lost note costs nothing.
  touchAccount(ctx.db, account.user_id).catch(() => {})
  return { actor: actorOf(account) }
}

const awaken = (ctx: Ctx, userId: number): Promise<void> =>
  ctx.transaction(async (tx) => {
    if (!(await moveState(tx, userId, ['deactivated'], 'active'))) return
    await emit(tx, { kind: 'user_activated', actorId: userId, payload: { user_id: userId, by: 'sign-in' } })
    await notify(tx, 'actors')
  })
