import type { Site } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import { htmlOf } from './html.ts'

/** Plain text, or text that the HTML part shows otherwise: safe HTML, as the renderer of Markdown returns it. */
export type Paragraph = string | { readonly text: string; readonly html: string }

const textOf = (paragraph: Paragraph): string => (typeof paragraph === 'string' ? paragraph : paragraph.text)

/** Builds a mail from paragraphs, with a greeting. `name` is the recipient's name, if it is known. */
export function buildMail(
  site: Site,
  to: string,
  name: string | undefined,
  subject: string,
  ...paragraphs: readonly Paragraph[]
): Mail {
  const all = [
    `Hello${name === undefined ? '' : ` ${oneLine(name)}`},`,
    ...paragraphs,
    `--\nSent by ${site.url} to ${to}.`,
  ]
  const mail = { to, subject: `${subject} (${site.host})`, body: `${all.map(textOf).join('\n\n')}\n` }
  if (paragraphs.every((each) => typeof each === 'string')) return mail
  return {
    ...mail,
    html: all.map((each) => (typeof each === 'string' ? htmlOf(each, site) : `${each.html}\n`)).join(''),
  }
}

/** Name and user name of a user, for mails. Names are text that users choose, so line breaks are removed. */
export const signature = ({ name, username }: { name: string; username: string }): string =>
  `${oneLine(name)} (@${username})`
