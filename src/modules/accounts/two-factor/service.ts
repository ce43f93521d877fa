import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { logFailedSignIn } from '../../../kernel/failed-sign-in.ts'
import { conflict, Failure, inadmissible, invalidFields } from '../../../kernel/failure.ts'
import { clearFailures, isThrottled, recordFailure, throttleKeys } from '../../instance/index.ts'
import { twoFactorDisabledMail } from '../users/mails.ts'
import { sendNotice } from '../users/notices.ts'
import { inTurnToCheck, isPassword } from '../users/password.ts'
import { keyUri, latestStep, newRecoveryCodes, newSecret, recoveryDigest, stepOf } from './codes.ts'
import { purpose } from './purpose.ts'
import {
  beginTwoFactor,
  confirmTwoFactor,
  deleteTwoFactor,
  findPasswordDigest,
  findTwoFactor,
  forgetDemand,
  lockTwoFactor,
  replaceRecoveryCodes,
  type TwoFactorRow,
  takeRecoveryCode,
  takeStep,
} from './queries.ts'

const issuer = 'Stithy'

/** Whether this is a current code or a recovery code of the user. Each can be used once. */
export async function takeCode(ctx: Ctx, userId: number, code: string): Promise<boolean> {
  const given = code.replace(/\s/g, '')
  if (!/^\d{6}$/.test(given)) return takeRecoveryCode(ctx.db, userId, recoveryDigest(given))
  const held = await findTwoFactor(ctx.db, userId)
  if (!held?.confirmed_at) return false
  const step = stepOf(ctx.secrets.open(held.secret, purpose(userId)), given)
  return step !== undefined && takeStep(ctx.db, userId, step, latestStep())
}

/** Fails with `violation` unless this is the caller's password. Failures count like failed sign-ins. */
export async function requirePassword(ctx: Ctx, password: string, violation: Failure): Promise<void> {
  const digest = await findPasswordDigest(ctx.db, ctx.actor!.id)
  await requireProof(ctx, () => isPassword(digest, password), violation)
}

/**
 * Requires the caller's password or code before changes of sign-in, because a stolen token must not suffice. Failures
 * count like failed sign-ins.
 */
const requireProof = (ctx: Ctx, shows: () => Promise<boolean>, violation: Failure): Promise<void> =>
  inTurnToCheck(ctx.shareKey, () => checkProof(ctx, shows, violation))

async function checkProof(ctx: Ctx, shows: () => Promise<boolean>, violation: Failure): Promise<void> {
  const keys = throttleKeys({ userId: ctx.actor!.id }, ctx.remoteAddress)
  const tooMany = new Failure('rate_limited', 'Too many failed attempts. Try again later.')
  const failed = (reason: 'wrong' | 'throttled') =>
    logFailedSignIn(ctx.log, {
      transport: 'account',
      reason,
      remoteAddress: ctx.remoteAddress,
      userId: ctx.actor!.id,
    })
  const requireFew = async () => {
    if ((await isThrottled(ctx.db, keys)) === undefined) return
    failed('throttled')
    throw tooMany
  }
  await requireFew()
  if (!(await shows())) {
    failed('wrong')
    await recordFailure(ctx.db, keys)
    throw violation
  }
  await requireFew()
  await clearFailures(ctx.db, keys)
}

const wrongCode = (): Failure => invalidFields({ code: ['is invalid'] })
const notEnabled = (): Failure => inadmissible('Two-factor authentication is not enabled for this user')

/** Creates a secret for an authenticator application; it is enabled once the user enters a code of it. */
export async function startTwoFactor(ctx: Ctx, password: string): Promise<{ secret: string; uri: string }> {
  const { id, username } = ctx.actor!
  await requirePassword(ctx, password, invalidFields({ password: ['is invalid'] }))
  const secret = newSecret()
  const started = await ctx.transaction((tx) => beginTwoFactor(tx, id, ctx.secrets.seal(secret, purpose(id))))
  if (!started) throw conflict('Two-factor authentication is enabled already')
  return { secret, uri: keyUri(secret, issuer, `${username}@${ctx.site.host}`) }
}

/** Enables the second factor and returns the recovery codes, which are shown only once. */
export async function enableTwoFactor(ctx: Ctx, code: string): Promise<string[]> {
  const { id } = ctx.actor!
  const started = await findTwoFactor(ctx.db, id)
  if (!started || started.confirmed_at !== null) throw inadmissible('Two-factor authentication was not started')
  let step: number | undefined
  await requireProof(
    ctx,
    async () => (step = stepOf(ctx.secrets.open(started.secret, purpose(id)), code.replace(/\s/g, ''))) !== undefined,
    wrongCode(),
  )
  return ctx.transaction(async (tx) => {
    if (!(await confirmTwoFactor(tx, id, started.secret, step!))) throw wrongCode()
    await forgetDemand(tx, id)
    await emit(tx, { kind: 'two_factor_enabled', actorId: id, payload: { user_id: id } })
    return newCodes(tx, id)
  })
}

async function newCodes(tx: Tx, userId: number): Promise<string[]> {
  const codes = newRecoveryCodes()
  await replaceRecoveryCodes(tx, userId, codes.map(recoveryDigest))
  return codes
}

async function requireEnabled(ctx: Ctx, userId: number): Promise<TwoFactorRow> {
  const held = await findTwoFactor(ctx.db, userId)
  if (!held?.confirmed_at) throw notEnabled()
  return held
}

/** Replaces the recovery codes. */
export async function renewRecoveryCodes(ctx: Ctx, code: string): Promise<string[]> {
  const { id } = ctx.actor!
  await requireEnabled(ctx, id)
  await requireProof(ctx, () => takeCode(ctx, id, code), wrongCode())
  return recoverCodes(ctx)
}

/** As `renewRecoveryCodes`, without a code: the user has authenticated with an SSH key. */
export function recoverCodes(ctx: Ctx): Promise<string[]> {
  const { id } = ctx.actor!
  return ctx.transaction(async (tx) => {
    // Of concurrent renewals, each replaces the codes of the one before.
    if (!(await lockTwoFactor(tx, id))) throw notEnabled()
    await emit(tx, { kind: 'recovery_codes_renewed', actorId: id, payload: { user_id: id } })
    return newCodes(tx, id)
  })
}

/** Whether the caller has an enabled second factor. */
export const isTwoFactorEnabled = async (ctx: Ctx): Promise<boolean> =>
  Boolean((await findTwoFactor(ctx.db, ctx.actor!.id))?.confirmed_at)

export async function endOwnTwoFactor(ctx: Ctx, code: string): Promise<void> {
  const { id } = ctx.actor!
  await requireEnabled(ctx, id)
  await requireProof(ctx, () => takeCode(ctx, id, code), wrongCode())
  await endTwoFactor(ctx, id)
}

/** Disables the second factor of a user, for example after a lost device. */
export async function endTwoFactor(ctx: Ctx, userId: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const isDeleted = await deleteTwoFactor(tx, userId)
    await tx.requirePermission?.()
    if (!isDeleted) throw notEnabled()
    await emit(tx, { kind: 'two_factor_disabled', actorId: ctx.actor!.id, payload: { user_id: userId } })
    await sendNotice(tx, ctx, userId, twoFactorDisabledMail)
  })
}
