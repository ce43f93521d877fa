import { randomBytes } from 'node:crypto'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { notify } from '../../../db/notifications.ts'
import { violatedUnique } from '../../../db/violations.ts'
import { emit } from '../../../events/log.ts'
import { invalidFields } from '../../../kernel/failure.ts'
import { digestOf } from '../../../kernel/token-secret.ts'
import { sendMail } from '../../instance/index.ts'
import { confirmAddress } from './email-queries.ts'
import {
  deleteLinks,
  findByEmail,
  findLink,
  insertLink,
  type LinkPurpose,
  sentRecently,
  setPassword,
  takeLink,
} from './link-queries.ts'
import { confirmationMail, passwordMail, welcomeMail } from './mails.ts'
import { digestPassword } from './password.ts'
import { passwordComplaints } from './password-rules.ts'

type Addressee = { readonly id: number; readonly name: string; readonly username: string }

const kinds = {
  confirmation: { purpose: 'confirmation', lifetimeHours: 72, mail: confirmationMail },
  password: { purpose: 'password', lifetimeHours: 6, mail: passwordMail },
  welcome: { purpose: 'password', lifetimeHours: 72, mail: welcomeMail },
} as const

/** Sends somebody a link with a secret to an address of his, once the transaction has committed. */
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

/** Whether this secret was sent to somebody, and is good still. */
export const isLink = async (ctx: Ctx, token: string, purpose: LinkPurpose): Promise<boolean> =>
  (await findLink(ctx.db, digestOf(token), purpose)) !== undefined

/** Confirms the address that the link was sent to. False when the link is not good, or the address another's by now. */
export async function confirmByLink(ctx: Ctx, token: string): Promise<boolean> {
  try {
    return await ctx.transaction(async (tx) => {
      const link = await takeLink(tx, digestOf(token), 'confirmation')
      if (!link) return false
      const what = await confirmAddress(tx, link.user_id, link.address)
      if (what === undefined) return false
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

/** Gives the account that the link was sent to another password. False when the link is not good. */
export async function choosePassword(ctx: Ctx, token: string, password: string): Promise<boolean> {
  const complaints = passwordComplaints(password, ctx.settings)
  if (complaints.length > 0) throw invalidFields({ password: complaints })
  // Hashing costs: only who shows a good link is worth it.
  if (!(await isLink(ctx, token, 'password'))) return false
  const digest = await digestPassword(password)
  return ctx.transaction(async (tx) => {
    const link = await takeLink(tx, digestOf(token), 'password')
    if (!link) return false
    await setPassword(tx, link.user_id, digest)
    // Other links would let whoever has an old mail undo this.
    await deleteLinks(tx, link.user_id, 'password')
    // The user who follows the link can read mail for the address.
    const confirmed = await confirmAddress(tx, link.user_id, link.address)
    await emit(tx, {
      kind: 'user_password_changed',
      actorId: link.user_id,
      payload: { user_id: link.user_id, email_confirmed: confirmed !== undefined },
    })
    await notify(tx, 'actors')
    return true
  })
}

/** How long nobody gets a second mail that anybody can ask for. */
const pauseMinutes = 5

/** Sends a link for a new password to whoever has this address; nobody learns whether somebody has. */
export const askForPassword = (ctx: Ctx, email: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const account = email.includes('\0') ? undefined : await findByEmail(tx, email)
    if (!account || (await sentRecently(tx, account.id, 'password', pauseMinutes))) return
    await sendLink(tx, ctx, 'password', account, account.email)
  })
