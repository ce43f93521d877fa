import type { Actor } from '../../../access/actor.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { notify } from '../../../db/notifications.ts'
import { emit } from '../../../events/log.ts'
import { logFailedSignIn } from '../../../kernel/failed-sign-in.ts'
import { clearFailures, isThrottled, recordFailure, throttleKeys } from '../../instance/index.ts'
import { accountRefusal, actorOf, type Refusal } from '../tokens/authenticate.ts'
import { findPasswordCredential } from '../tokens/queries.ts'
import { forgetDemand, isOverdue, twoFactorState } from '../two-factor/queries.ts'
import { takeCode } from '../two-factor/service.ts'
import { inTurnToCheck, isPassword } from '../users/password.ts'
import { moveState, touchAccount } from '../users/state-queries.ts'
import { recordFailedSignIn, recordRefusedSignIn } from './failed.ts'
import { recordSignIn } from './queries.ts'

/** Why a sign-in with a password is refused. */
export type SignInRefusal =
  | Refusal
  | 'wrong'
  /** The password is correct, but must be changed. */
  | 'password_expired'
  /** The installation does not accept passwords over this transport. */
  | 'passwords_off'
  /** The password is correct, but a second factor is required. */
  | 'code_missing'
  /**
   * The password is correct, but the installation or a group requires a second factor, and the grace period has ended.
   */
  | 'code_demanded'
  /** Too many recent failures. */
  | 'throttled'

/** `withCode` if the account has a second factor, whose code was correct. */
export type SignIn = { actor: Actor; passwordDigest: string; withCode: boolean } | Refused

/** `wrongCode` if the password was correct and the code of the second factor was not. */
type Refused = { refused: SignInRefusal; retryAfterSeconds?: number; wrongCode?: true }

/**
 * Signs in by user name or e-mail address, password and, if the account has a second factor, a code. Git cannot send a
 * code, so users with a second factor use a token there. Every failure counts against account and address, and is logged.
 */
export async function signIn(ctx: Ctx, shown: Shown): Promise<SignIn> {
  const { settings } = ctx
  const accepted =
    shown.transport === 'oauth'
      ? settings.password_authentication_enabled_for_web
      : settings.password_authentication_enabled_for_git
  const result = accepted
    ? await inTurnToCheck(ctx.shareKey, () => check(ctx, shown))
    : ({ refused: 'passwords_off' } as const)
  if ('refused' in result) {
    const { refused, wrongCode }: Refused = result
    const { log, remoteAddress } = ctx
    const { transport, login } = shown
    logFailedSignIn(log, { transport, reason: wrongCode ? 'wrong_code' : refused, remoteAddress, login })
  }
  return result
}

/** Where a user signs in for git, large files or images. The settings of Git over HTTP apply to all of them. */
export type GitTransport = 'git-http' | 'lfs' | 'registry'

type Shown = { login: string; password: string; code?: string | undefined; transport: GitTransport | 'oauth' }

async function check(ctx: Ctx, { login, password, code, transport }: Shown): Promise<SignIn> {
  const { db, settings } = ctx
  // PostgreSQL rejects NUL.
  const account = login.includes('\0') ? undefined : await findPasswordCredential(db, login)
  const keys = throttleKeys(account ? { userId: account.user_id } : { login }, ctx.remoteAddress)
  const throttled = async (): Promise<SignIn | undefined> => {
    const retryAfterSeconds = await isThrottled(db, keys)
    return retryAfterSeconds === undefined ? undefined : { refused: 'throttled', retryAfterSeconds }
  }
  const wrong = async (): Promise<Refused> => {
    await recordFailure(db, keys)
    await recordFailedSignIn(ctx, login, account?.user_id)
    return { refused: 'wrong' }
  }
  const before = await throttled()
  if (before) return before
  // Checked without an account too, so that the response time does not reveal whether one exists.
  const passwordDigest = account?.password_digest ?? null
  if (!(await isPassword(passwordDigest, password)) || !account || passwordDigest === null) return wrong()
  const isDeactivated = accountRefusal(account) === 'deactivated'
  // Signing in activates it, so what else would refuse it then does so now.
  const refused = accountRefusal(isDeactivated ? { ...account, state: 'active' } : account)
  if (refused !== undefined) {
    await recordRefusedSignIn(ctx, login, account.user_id)
    return { refused }
  }
  if (account.password_expired) return { refused: 'password_expired' }
  // Counts again, so that a correct guess among many concurrent ones is refused once there are too many.
  const after = await throttled()
  if (after) return after
  const state = await twoFactorState(
    db,
    account.user_id,
    settings.require_two_factor_authentication ? settings.two_factor_grace_period : null,
  )
  if (state.enabled) {
    if (transport !== 'oauth' || code === undefined) return { refused: 'code_missing' }
    if (!(await takeCode(ctx, account.user_id, code))) return { ...(await wrong()), wrongCode: true }
  } else if (state.grace_hours === null) {
    // A grace period begins anew when a second factor is required again.
    if (state.demanded) await forgetDemand(db, account.user_id)
  } else if (await isOverdue(db, account.user_id, state.grace_hours)) {
    return { refused: 'code_demanded' }
  }
  await clearFailures(db, keys)
  if (isDeactivated) await reactivate(ctx, account.user_id)
  if (transport === 'oauth') await recordSignIn(db, account.user_id, ctx.remoteAddress)
  // Not awaited: losing this update is harmless.
  touchAccount(db, account.user_id).catch(() => {})
  // Without a version, which no longer accepted passwords have, what is derived from this sign-in is refused.
  const actor = { ...actorOf(account), passwordVersion: account.password_version ?? '' }
  return { actor, passwordDigest, withCode: state.enabled }
}

/** Reactivates an account that was deactivated for inactivity. */
const reactivate = (ctx: Ctx, userId: number): Promise<void> =>
  ctx.transaction(async (tx) => {
    if (!(await moveState(tx, userId, ['deactivated'], 'active'))) return
    await emit(tx, { kind: 'user_activated', actorId: userId, payload: { user_id: userId, by: 'sign-in' } })
    await notify(tx, 'actors')
  })
