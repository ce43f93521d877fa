import { randomBytes } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import { notify } from '../../../db/notifications.ts'
import { emit } from '../../../events/log.ts'
import { conflict } from '../../../kernel/failure.ts'
import { clearFailures, throttleKeys } from '../../instance/index.ts'
import { editUser } from './edit.ts'
import { writePassword } from './edit-queries.ts'
import { deleteLinks } from './link-queries.ts'
import { passwordChangedMail } from './mails.ts'
import { sendNotice } from './notices.ts'
import { digestPassword } from './password.ts'
import { passwordViolations } from './password-rules.ts'
import type { UserRow } from './queries.ts'
import { changeState } from './states.ts'

/** What an operator on the command line does with an account. Each returns what was done, as lines of text. */
export const operatorActions = {
  'reset-password': resetPassword,
  unlock,
  unblock,
  'make-admin': makeAdministrator,
} as const satisfies Record<string, (ctx: Ctx, user: UserRow) => Promise<string[]>>

/** Sets a random password. It does not expire, because the account may be the last one that can sign in. */
async function resetPassword(ctx: Ctx, { id, username, state, two_factor_enabled }: UserRow): Promise<string[]> {
  const password = randomPassword(ctx)
  const digest = await digestPassword(password)
  await ctx.transaction(async (tx) => {
    await writePassword(tx, id, digest, false)
    await deleteLinks(tx, id, 'password')
    await sendNotice(tx, ctx, id, passwordChangedMail)
    await emit(tx, {
      kind: 'user_password_changed',
      actorId: ctx.actor?.id ?? null,
      payload: { user_id: id, email_confirmed: false },
    })
    await notify(tx, 'actors')
  })
  return [
    `The password of ${username} is now ${password}`,
    ...(state === 'active' ? [] : [`The account is ${state}: stithy user unblock --user ${username}`]),
    ...(two_factor_enabled ? ['The account has a second factor, which is still required.'] : []),
  ]
}

const leastLength = 24

/** A password that the settings allow. */
function randomPassword(ctx: Ctx): string {
  const length = Math.max(leastLength, ctx.settings.minimum_password_length)
  for (;;) {
    const password = randomBytes(length).toString('base64url').slice(0, length)
    if (passwordViolations(password, ctx.settings).length === 0) return password
  }
}

async function unlock(ctx: Ctx, { id, username }: UserRow): Promise<string[]> {
  await clearFailures(ctx.db, throttleKeys({ userId: id }, undefined))
  return [`${username} may sign in again; failures from an address still count for that address`]
}

async function unblock(ctx: Ctx, { id, username, state }: UserRow): Promise<string[]> {
  await changeState(ctx, id, state === 'banned' ? 'unban' : state === 'deactivated' ? 'activate' : 'unblock')
  return [state === 'active' ? `${username} was active already` : `${username} is active and was ${state}`]
}

async function makeAdministrator(ctx: Ctx, user: UserRow): Promise<string[]> {
  const { username, admin, state } = user
  if (state !== 'active') throw conflict(`${username} is ${state}: run stithy user unblock --user ${username} first`)
  if (!admin) await editUser(ctx, user, { admin: true, skip_reconfirmation: false })
  return [`${username} ${admin ? 'was an administrator already' : 'is an administrator'}`]
}
