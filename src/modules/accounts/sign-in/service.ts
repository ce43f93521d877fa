import type { Actor } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { notify } from '../../../db/notifications.ts'
import { emit } from '../../../events/log.ts'
import { clearFailures, isThrottled, noteFailure, throttleKeys } from '../../instance/index.ts'
import { accountRefusal, actorOf, type Refusal } from '../tokens/authenticate.ts'
import { findPasswordCredential } from '../tokens/queries.ts'
import { isOverdue, twoFactorState } from '../two-factor/queries.ts'
import { takeCode } from '../two-factor/service.ts'
import { inTurnToCheck, isPassword } from '../users/password.ts'
import { moveState, touchAccount } from '../users/state-queries.ts'
import { tellFailedSignIn } from './failed.ts'
import { noteSignIn } from './queries.ts'

/** Why somebody does not come in with a password. */
export type SignInRefusal =
  | Refusal
  | 'wrong'
  /** The password is right, but must be changed. */
  | 'password_expired'
  /** The installation takes no passwords at this door. */
  | 'passwords_off'
  /** The password is right, but a second factor is in force. */
  | 'code_missing'
  /** The password is right, but a second factor is demanded of him, and the time to set one up is over. */
  | 'code_demanded'
  /** Too much has failed of late. */
  | 'throttled'

export type SignIn = { actor: Actor } | { refused: SignInRefusal; retryAfterSeconds?: number }

/**
 * Somebody by user name or e-mail address, password and, where he has a second factor, a code. Git has no place for a code:
 * there who has a second factor shows a token. Every failure counts against account and address.
 */
export async function signIn(ctx: Ctx, shown: Shown): Promise<SignIn> {
  const { settings } = ctx
  const accepted =
    shown.door === 'git'
      ? settings.password_authentication_enabled_for_git
      : settings.password_authentication_enabled_for_web
  return accepted ? inTurnToCheck(ctx.shareKey, () => check(ctx, shown)) : { refused: 'passwords_off' }
}

type Shown = { login: string; password: string; code?: string | undefined; door: 'git' | 'web' }

async function check(ctx: Ctx, { login, password, code, door }: Shown): Promise<SignIn> {
  const { db, settings } = ctx
  // A NUL cannot be asked of the database.
  const account = login.includes('\0') ? undefined : await findPasswordCredential(db, login)
  const keys = throttleKeys(account ? { userId: account.user_id } : { login }, ctx.remoteAddress)
  const throttled = async (): Promise<SignIn | undefined> => {
    const retryAfterSeconds = await isThrottled(db, keys)
    return retryAfterSeconds === undefined ? undefined : { refused: 'throttled', retryAfterSeconds }
  }
  const wrong = async (): Promise<SignIn> => {
    await noteFailure(db, keys)
    await tellFailedSignIn(ctx, login, account?.user_id)
    return { refused: 'wrong' }
  }
  const before = await throttled()
  if (before) return before
  // Also without an account: who has one must not be told by the time it takes.
  if (!(await isPassword(account?.password_digest ?? null, password)) || !account) return wrong()
  const refused = accountRefusal(account)
  if (refused !== undefined && refused !== 'deactivated') return { refused }
  if (account.password_expired) return { refused: 'password_expired' }
  // Of many guesses at once, none is right that comes after too many.
  const after = await throttled()
  if (after) return after
  const state = await twoFactorState(
    db,
    account.user_id,
    settings.require_two_factor_authentication ? settings.two_factor_grace_period : null,
  )
  if (state.enabled) {
    if (door === 'git' || code === undefined) return { refused: 'code_missing' }
    if (!(await takeCode(ctx, account.user_id, code))) return wrong()
  } else if (state.grace_hours !== null && (await isOverdue(db, account.user_id, state.grace_hours))) {
    return { refused: 'code_demanded' }
  }
  await clearFailures(db, keys)
  if (refused === 'deactivated') await awaken(ctx, account.user_id)
  if (door === 'web') await noteSignIn(db, account.user_id, ctx.remoteAddress)
  // Noted beside the request: a lost note costs nothing.
  touchAccount(db, account.user_id).catch(() => {})
  return { actor: actorOf(account) }
}

/** Whoever was deactivated for doing nothing is active again. */
const awaken = (ctx: Ctx, userId: number): Promise<void> =>
  ctx.transaction(async (tx) => {
    if (!(await moveState(tx, userId, ['deactivated'], 'active'))) return
    await emit(tx, { kind: 'user_activated', actorId: userId, payload: { user_id: userId, by: 'sign-in' } })
    await notify(tx, 'actors')
  })
