import type { Site } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'

/** Builds a mail from paragraphs, with a greeting. `name` is the recipient's name, if it is known. */
export const buildMail = (
  site: Site,
  to: string,
  name: string | undefined,
  subject: string,
  ...paragraphs: readonly string[]
): Mail => ({
  to,
  subject: `${subject} (${site.host})`,
  body: `Hello${name === undefined ? '' : ` ${oneLine(name)}`},\n\n${paragraphs.join('\n\n')}\n\n--\nSent by ${site.url} to ${to}.\n`,
})

/** Name and user name of a user, for mails. Names are text that users choose, so line breaks are removed. */
export const signature = ({ name, username }: { name: string; username: string }): string =>
  `${oneLine(name)} (@${username})`
