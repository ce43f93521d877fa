import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { job } from '../../../jobs/job.ts'
import { htmlOf } from './html.ts'
import { deleteMail, deleteStaleMails, findFrame, findMail, forgetCauses } from './queries.ts'

/** What all jobs that send a mail have in common, whatever they check before. The job's input is logged and mails contain secrets, so the text is in a row. */
export const delivery = {
  slow: true,
  // At most three at once.
  queue: ({ mailId }: { readonly mailId: number }) => `mails:${mailId % 3}`,
  attempts: 12,
} as const

/** Sends one mail. */
export const deliverMail = job({
  name: 'deliver_mail',
  ...delivery,
  input: Type.Object({ mailId: Type.Integer() }),
  key: ({ mailId }) => `deliver_mail:${mailId}`,
  run: ({ mailId }, ctx) => deliver(ctx, mailId),
})

/** Sends and deletes a mail; without sending it if `isWanted` rejects its address. */
export async function deliver(
  ctx: Ctx,
  mailId: number,
  isWanted: (address: string) => Promise<boolean> = async () => true,
): Promise<void> {
  const mail = await findMail(ctx.db, mailId)
  if (!mail) return
  if (await isWanted(mail.to)) {
    const { html: own, ...plain } = mail
    const { above, below } = await frameOf(ctx)
    const body = [...above, mail.body.trim(), ...below].join('\n\n')
    const html = [
      ...above.map((text) => htmlOf(text, ctx.site)),
      own ?? htmlOf(mail.body, ctx.site),
      ...below.map((text) => htmlOf(text, ctx.site)),
    ].join('')
    const framed = above.length + below.length > 0 ? { ...plain, body: `${body}\n` } : plain
    await ctx.mailer.send(ctx.settings.html_emails_enabled ? { ...framed, html } : framed, mailId)
  }
  await deleteMail(ctx.db, mailId)
}

/** Header, additional text and footer as they are set when the mail is sent, not when it was queued; without empty ones. */
async function frameOf({ db, settings }: Ctx): Promise<{ readonly above: string[]; readonly below: string[] }> {
  const { header, footer } = await findFrame(db)
  const filled = (texts: readonly string[]) => texts.map((text) => text.trim()).filter((text) => text !== '')
  return { above: filled([header]), below: filled([settings.email_additional_text ?? '', footer]) }
}

/** Deletes mails that failed on every attempt, and what was remembered of their causes. */
export const purgeStaleMails = job({
  name: 'purge_stale_mails',
  input: Type.Object({}),
  key: () => 'purge_stale_mails',
  attempts: 3,
  every: { cron: '15 0 * * *', input: {} },
  async run(_input, ctx) {
    await forgetCauses(ctx.db)
    const mails = await deleteStaleMails(ctx.db)
    if (mails > 0) ctx.log.warn({ mails }, 'deleted undeliverable mails')
  },
})
