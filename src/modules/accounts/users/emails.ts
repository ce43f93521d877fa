import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { notify } from '../../../db/notifications.ts'
import { emit } from '../../../events/log.ts'
import { invalidFields, notFound, tooManyRequests } from '../../../kernel/failure.ts'
import { taken } from '../../../kernel/violations.ts'
import { lockUser } from './edit-queries.ts'
import { deleteEmailOf, type EmailRow, findEmailOf, insertEmail } from './email-queries.ts'
import { countSent } from './link-queries.ts'
import { sendLink } from './links.ts'
import { emailAddedMail } from './mails.ts'
import { sendNotice } from './notices.ts'
import { emailViolations, takenText } from './service.ts'

type Owner = { readonly id: number; readonly name: string; readonly username: string }

/** Maximum confirmation mails per user and hour; they go to addresses that are not confirmed yet. */
const maxMailsPerHour = 10

async function requireMailLimit(tx: Tx, userId: number): Promise<void> {
  // With the row locked, concurrent requests count one another's mails.
  await lockUser(tx, userId)
  if ((await countSent(tx, userId, 'confirmation', 60)) >= maxMailsPerHour) throw tooManyRequests()
}

/** Adds a secondary email address. Unless `confirmed`, sends a confirmation mail; a limit applies per hour. */
export async function addEmail(ctx: Ctx, owner: Owner, email: string, confirmed: boolean): Promise<EmailRow> {
  const violations = emailViolations(email)
  if (violations.length > 0) throw invalidFields({ email: violations })
  return ctx
    .transaction(async (tx) => {
      if (!confirmed) await requireMailLimit(tx, owner.id)
      const row = await insertEmail(tx, owner.id, email, confirmed)
      // The insert waits for changes of the account.
      await tx.requirePermission?.()
      if (!confirmed) await sendLink(tx, ctx, 'confirmation', owner, email)
      await sendNotice(tx, ctx, owner.id, emailAddedMail(email))
      await emit(tx, {
        kind: 'user_email_added',
        actorId: ctx.actor!.id,
        payload: { user_id: owner.id, email_id: row.id, confirmed },
        facts: { email },
      })
      return row
    })
    .catch((error: unknown) => {
      throw takenText(error) === undefined ? error : invalidFields({ email: [taken] })
    })
}

export async function getEmail(ctx: Ctx, userId: number, id: number): Promise<EmailRow> {
  const row = await findEmailOf(ctx.db, userId, id)
  if (!row) throw notFound('Email')
  return row
}

export async function removeEmail(ctx: Ctx, userId: number, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    const deleted = await deleteEmailOf(tx, userId, id)
    await tx.requirePermission?.()
    if (!deleted) throw notFound('Email')
    await emit(tx, { kind: 'user_email_removed', actorId: ctx.actor!.id, payload: { user_id: userId, email_id: id } })
    // It may have been the address of their commits.
    await notify(tx, 'actors')
  })
}
