import { Type } from 'typebox'
import { job } from '../../jobs/job.ts'
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
    await ctx.mailer.send(mail, mailId)
    await deleteMail(ctx.db, mailId)
  },
})

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
