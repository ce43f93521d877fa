import type { Site } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import type { Recipient } from '../../groups/index.ts'
import { buildMail, signature } from '../../instance/index.ts'
import { kindOf } from '../noteables/kinds.ts'
import { withArticle } from '../noteables/noteable.ts'
import { noteableUrl } from '../noteables/reference.ts'
import type {
  MailedAction,
  MailedEvent,
  MailedNote,
  MailedNoteable,
  MailedOpening,
  MailedTodo,
} from './recipient-queries.ts'

/** Maximum quoted characters of a note; the link leads to the whole text. */
const longestQuote = 10_000

/** The part of a comment that its mail quotes. An emoji at its end may be cut, and PostgreSQL stores no half of one. */
export const excerptOf = (text: string): string => text.slice(0, longestQuote).toWellFormed()

/** Quotes a comment, so that none of its lines can pass for a line of the mail itself. */
const quoted = (text: string): string =>
  excerptOf(text)
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map((line) => `> ${oneLine(line)}`)
    .join('\n')

const subjectOf = ({ type, title, full_path, iid }: MailedNoteable): string =>
  `${oneLine(title)}, ${full_path}${kindOf(type).sign}${iid}`

const linesOf = (site: Site, { type, title, full_path, iid }: MailedNoteable, anchor = ''): string =>
  `${oneLine(title)}\n${noteableUrl(site.url, type, full_path, iid)}${anchor}`

const nounOf = ({ type }: MailedNoteable): string => withArticle(kindOf(type).noun)

/** `html` is the excerpt as the recipient may see it; without it, the HTML part quotes the source text. */
export const noteMail = (
  site: Site,
  to: Recipient,
  { id, body, author, noteable }: MailedNote,
  html: string | undefined,
): Mail =>
  buildMail(
    site,
    to.address,
    to.name,
    subjectOf(noteable),
    `${signature(author)} commented on ${nounOf(noteable)}:`,
    html === undefined ? quoted(body) : { text: quoted(body), html: `<blockquote>\n${html}</blockquote>` },
    linesOf(site, noteable, `#note_${id}`),
  )

/** A mail about an event of a noteable: a sentence about it, such as `An issue is due tomorrow:`. */
export const eventMail = (site: Site, sentence: string, { noteable, ...to }: MailedEvent): Mail =>
  buildMail(site, to.address, to.name, subjectOf(noteable), sentence, linesOf(site, noteable))

export const openingMail = (site: Site, { author, ...event }: MailedOpening): Mail =>
  eventMail(site, `${signature(author)} opened ${nounOf(event.noteable)}:`, event)

const mention = (noun: string): string => `mentioned you in ${noun}:`

/** Reasons of todos that are mailed, as sentences. */
const reasons: Readonly<Record<MailedAction, (noun: string) => string>> = {
  assigned: (noun) => `assigned ${noun} to you:`,
  review_requested: (noun) => `requested your review of ${noun}:`,
  mentioned: mention,
  directly_addressed: mention,
}

export const isMailed = (action: string): action is MailedAction => Object.hasOwn(reasons, action)

export const todoMail = (site: Site, { action, author, noteable, ...to }: MailedTodo): Mail =>
  buildMail(
    site,
    to.address,
    to.name,
    subjectOf(noteable),
    `${signature(author)} ${reasons[action](nounOf(noteable))}`,
    linesOf(site, noteable),
  )
