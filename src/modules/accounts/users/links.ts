import { randomBytes } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { notify } from '../../../db/notifications.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { digestOf } from '../../../kernel/token-secret.ts'
import { sendMail } from '../../instance/index.ts'
import { writePassword } from './edit-queries.ts'
import { confirmAddress } from './email-queries.ts'
import {
  deleteLinks,
  findByEmail,
  findLink,
  insertLink,
  type LinkPurpose,
  sentRecently,
  takeLink,
} from './link-queries.ts'
import { confirmationMail, emailChangedMail, passwordChangedMail, passwordMail, welcomeMail } from './mails.ts'
import { findNotified } from './notice-queries.ts'
import { sendNotice } from './notices.ts'
import { digestPassword } from './password.ts'
import { passwordViolations } from './password-rules.ts'

type Addressee = { readonly id: number; readonly name: string; readonly username: string }

const kinds = {
  confirmation: { purpose: 'confirmation', lifetimeHours: 72, mail: confirmationMail },
  password: { purpose: 'password', lifetimeHours: 6, mail: passwordMail },
  welcome: { purpose: 'password', lifetimeHours: 72, mail: welcomeMail },
} as const

/** Mails a link with a secret to an address of a user, after the transaction commits. */
export async function sendLink(
  tx: Tx,
  ctx: Ctx,
  kind: keyof typeof kinds,
  to: Addressee,
  address: string,
): Promise<void> {
  const { purpose, lifetimeHours, mail } = kinds[kind]
  const token = randomBytes(24).toString('base64url')
  await insertLink(tx, { digest: digestOf(token), userId: to.id, purpose, address, lifetimeHours })
  await sendMail(tx, mail(ctx.site, address, to, token, lifetimeHours))
}

/** Whether this secret belongs to a valid link. */
export const isLink = async (ctx: Ctx, token: string, purpose: LinkPurpose): Promise<boolean> =>
  (await findLink(ctx.db, digestOf(token), purpose)) !== undefined

/**
 * Confirms the address that the link was sent to. False if the link is invalid, or if another user has the address by
 * now.
 */
export async function confirmByLink(ctx: Ctx, token: string): Promise<boolean> {
  try {
    return await ctx.transaction(async (tx) => {
      const link = await takeLink(tx, digestOf(token), 'confirmation')
      if (!link) return false
      const before = await findNotified(tx, link.user_id)
      const what = await confirmAddress(tx, link.user_id, link.address)
      if (what === undefined) return false
      // Links for a new password that were sent to the old address become invalid.
      if (what === 'new') {
        await deleteLinks(tx, link.user_id, 'password')
        if (before) await sendNotice(tx, ctx, link.user_id, emailChangedMail, before)
      }
      await emit(tx, {
        kind: 'user_email_confirmed',
        actorId: link.user_id,
        payload: { user_id: link.user_id, address: what },
        facts: { email: link.address },
      })
      await notify(tx, 'actors')
      return true
    })
  } catch (error) {
    if (violatedUnique(error) === undefined) throw error
    return false
  }
}

/** Sets the password of the account that the link was sent to. False if the link is invalid. */
export async function choosePassword(ctx: Ctx, token: string, password: string): Promise<boolean> {
  const violations = passwordViolations(password, ctx.settings)
  if (violations.length > 0) throw invalidFields({ password: violations })
  // Hashing is expensive, so the link is checked first.
  if (!(await isLink(ctx, token, 'password'))) return false
  const digest = await digestPassword(password)
  return ctx.transaction(async (tx) => {
    const link = await takeLink(tx, digestOf(token), 'password')
    if (!link) return false
    await writePassword(tx, link.user_id, digest, false)
    // Other links would let a reader of an old mail change the password again.
    await deleteLinks(tx, link.user_id, 'password')
    // Following the link proves access to the address.
    const confirmed = await confirmAddress(tx, link.user_id, link.address)
    // The first password of a new account is no news.
    if (confirmed !== 'first') await sendNotice(tx, ctx, link.user_id, passwordChangedMail)
    await emit(tx, {
      kind: 'user_password_changed',
      actorId: link.user_id,
      payload: { user_id: link.user_id, email_confirmed: confirmed !== undefined },
    })
    await notify(tx, 'actors')
    return true
  })
}

/** Minimum minutes between two mails that any visitor can trigger. */
const pauseMinutes = 5

/**
 * Mails a link for a new password to the account with this address; the response does not reveal whether there is one.
 */
export const askForPassword = (ctx: Ctx, email: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const account = email.includes('\0') ? undefined : await findByEmail(tx, email)
    if (!account || (await sentRecently(tx, account.id, 'password', pauseMinutes))) return
    await sendLink(tx, ctx, 'password', account, account.email)
  })
