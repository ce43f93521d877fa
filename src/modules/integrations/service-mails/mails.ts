import type { Ctx } from '../../../api/ctx.ts'
import { storable } from '../../../kernel/storable.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import { buildMail } from '../../instance/index.ts'
import type { MailSlug, Properties } from '../services/kinds.ts'
import { recipientsIn } from '../services/recipients.ts'
import { pipelineMail } from './pipeline-mail.ts'
import { pusherAsSender, pushMail } from './push-mail.ts'

/** Maximum characters of a subject: names of branches and titles of commits are longer. */
const maxSubject = 250

/** The mails that a service sends instead of the payload of a hook, one to each recipient. */
export async function mailsOf(ctx: Ctx, slug: MailSlug, properties: Properties, payload: string): Promise<Mail[]> {
  const fields = JSON.parse(payload)
  const isPush = slug === 'emails-on-push'
  const { subject, paragraphs } = isPush
    ? await pushMail(ctx, fields, { withDiff: properties.disable_diffs !== true })
    : pipelineMail(fields)
  const from = isPush && properties.send_from_committer_email ? await pusherAsSender(ctx, fields) : undefined
  // Files and messages of commits may contain anything.
  const short = storable(oneLine(subject).slice(0, maxSubject))
  const texts = paragraphs.map(storable)
  return recipientsIn(properties.recipients ?? '').map((to) => ({
    ...buildMail(ctx.site, to, undefined, short, ...texts),
    ...(from && { from }),
  }))
}
