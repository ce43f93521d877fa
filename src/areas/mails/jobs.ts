import { Type } from 'typebox'
import type { Ctx } from '../../api/ctx.ts'
import { job } from '../../jobs/job.ts'
import { planOffers } from '../../kernel/plan.ts'
import type { Mail } from '../../mail/mailer.ts'
import { deleteMail, deleteStaleMails, findMail } from './queries.ts'

/** Sends a mail. The text is in a row rather than in the job, whose input is logged: mails hold secrets. */
export const deliverMail = job({
  name: 'deliver_mail',
  input: Type.Object({ mailId: Type.Integer() }),
  key: ({ mailId }) => `deliver_mail:${mailId}`,
  attempts: 12,
  async run({ mailId }, ctx) {
    const mail = await findMail(ctx.db, mailId)
    if (!mail) return
    await ctx.mailer.send(withFooter(mail, ctx), mailId)
    await deleteMail(ctx.db, mailId)
  },
})

/** As it is now that the mail goes out, however long it waited. */
function withFooter(mail: Mail, { plan, settings }: Pick<Ctx, 'plan' | 'settings'>): Mail {
  const footer = planOffers(plan, 'premium') ? settings.email_additional_text?.trim() : ''
  return footer ? { ...mail, body: `${mail.body.trimEnd()}\n\n${footer}\n` } : mail
}

/** Forgets mails that could not be sent in all their attempts. */
export const purgeStaleMails = job({
  name: 'purge_stale_mails',
  input: Type.Object({}),
  key: () => 'purge_stale_mails',
  attempts: 3,
  every: { cron: '15 0 * * *', input: {} },
  async run(_input, ctx) {
    const mails = await deleteStaleMails(ctx.db)
    if (mails > 0) ctx.log.warn({ mails }, 'forgot mails that could not be sent')
  },
})
