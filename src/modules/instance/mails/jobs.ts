import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import { job } from '../../../jobs/job.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { htmlOf } from './html.ts'
import { deleteMail, deleteStaleMails, findFrame, findMail } from './queries.ts'

/**
 * Sends one mail. The job input is logged and mails contain secrets, so the text is stored in a row and not in the job.
 */
export const deliverMail = job({
  name: 'deliver_mail',
  input: Type.Object({ mailId: Type.Integer() }),
  key: ({ mailId }) => `deliver_mail:${mailId}`,
  attempts: 12,
  async run({ mailId }, ctx) {
    const mail = await findMail(ctx.db, mailId)
    if (!mail) return
    const { body } = withFrame(mail, await findFrame(ctx.db), ctx)
    const html = ctx.settings.html_emails_enabled ? { html: htmlOf(body, ctx.site) } : {}
    await ctx.mailer.send({ ...mail, body, ...html }, mailId)
    await deleteMail(ctx.db, mailId)
  },
})

/** Adds header, footer and additional text as they are set when the mail is sent, not when it was queued. */
function withFrame(
  mail: Mail,
  { header, footer }: { header: string; footer: string },
  { settings }: Pick<Ctx, 'settings'>,
): Mail {
  const around = [header, mail.body, settings.email_additional_text ?? '', footer]
    .map((text) => text.trim())
    .filter((text) => text !== '')
  return around.length > 1 ? { ...mail, body: `${around.join('\n\n')}\n` } : mail
}

/** Deletes mails that failed on every attempt. */
export const purgeStaleMails = job({
  name: 'purge_stale_mails',
  input: Type.Object({}),
  key: () => 'purge_stale_mails',
  attempts: 3,
  every: { cron: '15 0 * * *', input: {} },
  async run(_input, ctx) {
    const mails = await deleteStaleMails(ctx.db)
    if (mails > 0) ctx.log.warn({ mails }, 'deleted undeliverable mails')
  },
})
