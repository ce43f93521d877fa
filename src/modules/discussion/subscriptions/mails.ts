import type { Ctx } from '../../../api/ctx.ts'
import type { Site } from '../../../api/site.ts'
import { capitalized } from '../../../kernel/capitalized.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import type { Recipient } from '../../groups/index.ts'
import { buildMail, signature } from '../../instance/index.ts'
import { kindOf } from '../noteables/kinds.ts'
import { withArticle } from '../noteables/noteable.ts'
import { noteableUrl } from '../noteables/reference.ts'
import type {
  Author,
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

/** What texts of mails depend on. */
type MailContext = Pick<Ctx, 'site' | 'settings'>

/** The mail with its author as the sender, but for the address, which stays that of the installation. */
const sentBy = (author: Author, mail: Mail): Mail => ({ ...mail, from: { name: signature(author) } })

/** What happened, as a sentence: `by` the author if bodies of mails name authors, else `alone`. */
const sentenceBy = ({ settings }: MailContext, author: Author, by: string, alone: string): string =>
  settings.email_author_in_body ? `${signature(author)} ${by}:` : `${alone}:`

/** `html` is the excerpt as the recipient may see it; without it, the HTML part quotes the source text. */
export function noteMail(
  ctx: MailContext,
  to: Recipient,
  { id, body, author, noteable }: MailedNote,
  html: string | undefined,
): Mail {
  const noun = nounOf(noteable)
  return sentBy(
    author,
    buildMail(
      ctx.site,
      to.address,
      to.name,
      subjectOf(noteable),
      sentenceBy(ctx, author, `commented on ${noun}`, `A comment on ${noun}`),
      html === undefined ? quoted(body) : { text: quoted(body), html: `<blockquote>\n${html}</blockquote>` },
      linesOf(ctx.site, noteable, `#note_${id}`),
    ),
  )
}

/** A mail about an event of a noteable: a sentence about it, such as `An issue is due tomorrow:`. */
export const eventMail = (site: Site, sentence: string, { noteable, ...to }: MailedEvent): Mail =>
  buildMail(site, to.address, to.name, subjectOf(noteable), sentence, linesOf(site, noteable))

export function openingMail(ctx: MailContext, { author, ...event }: MailedOpening): Mail {
  const noun = nounOf(event.noteable)
  return sentBy(
    author,
    eventMail(ctx.site, sentenceBy(ctx, author, `opened ${noun}`, `${capitalized(noun)} was opened`), event),
  )
}

type Reason = { readonly by: (noun: string) => string; readonly alone: (noun: string) => string }

const mention: Reason = {
  by: (noun) => `mentioned you in ${noun}`,
  alone: (noun) => `You were mentioned in ${noun}`,
}

/** Reasons of todos that are mailed, as sentences with and without the author. */
const reasons: Readonly<Record<MailedAction, Reason>> = {
  assigned: {
    by: (noun) => `assigned ${noun} to you`,
    alone: (noun) => `${capitalized(noun)} was assigned to you`,
  },
  review_requested: {
    by: (noun) => `requested your review of ${noun}`,
    alone: (noun) => `Your review of ${noun} was requested`,
  },
  mentioned: mention,
  directly_addressed: mention,
}

export const isMailed = (action: string): action is MailedAction => Object.hasOwn(reasons, action)

export function todoMail(ctx: MailContext, { action, author, ...todo }: MailedTodo): Mail {
  const { by, alone } = reasons[action]
  const noun = nounOf(todo.noteable)
  return sentBy(author, eventMail(ctx.site, sentenceBy(ctx, author, by(noun), alone(noun)), todo))
}
