import type { Ctx } from '../../../api/ctx.ts'
import type { Site } from '../../../api/site.ts'
import { capitalized } from '../../../kernel/capitalized.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import type { Recipient } from '../../groups/index.ts'
import { type Author, buildMail, quoted, sentBy, sentenceBy, signature } from '../../instance/index.ts'
import { kindOf } from '../noteables/kinds.ts'
import { withArticle } from '../noteables/noteable.ts'
import { noteableUrl } from '../noteables/reference.ts'
import type {
  MailedAction,
  MailedEvent,
  MailedNamed,
  MailedNote,
  MailedNoteable,
  MailedOpening,
} from './recipient-queries.ts'

const subjectOf = ({ type, title, full_path, iid }: MailedNoteable): string =>
  `${oneLine(title)}, ${full_path}${kindOf(type).sign}${iid}`

const linesOf = (site: Site, { type, title, full_path, iid }: MailedNoteable, anchor = ''): string =>
  `${oneLine(title)}\n${noteableUrl(site.url, type, full_path, iid)}${anchor}`

const nounOf = ({ type }: MailedNoteable): string => withArticle(kindOf(type).noun)

/** What texts of mails depend on. */
type MailContext = Pick<Ctx, 'site' | 'settings'>

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
export const eventMail = (
  site: Site,
  sentence: string,
  { noteable, ...to }: MailedEvent,
  ...details: readonly string[]
): Mail => buildMail(site, to.address, to.name, subjectOf(noteable), sentence, ...details, linesOf(site, noteable))

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

/** Why users are named, as sentences with and without the author. */
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

export function namedMail(ctx: MailContext, { action, author, ...event }: MailedNamed): Mail {
  const { by, alone } = reasons[action]
  const noun = nounOf(event.noteable)
  return sentBy(author, eventMail(ctx.site, sentenceBy(ctx, author, by(noun), alone(noun)), event))
}

/** What happened to a noteable, as its mails say it. */
export type Happened = Reason & {
  /** Undefined if it was the service, or a user who is deleted. */
  readonly author: Author | undefined
  /** Users who are part of it now, and no longer. */
  readonly added: readonly Author[]
  readonly removed: readonly Author[]
}

export function happeningMail(
  ctx: MailContext,
  { author, by, alone, added, removed }: Happened,
  to: MailedEvent,
): Mail {
  const noun = nounOf(to.noteable)
  const lines = [
    ['Added', added],
    ['Removed', removed],
  ] as const
  const people = lines.flatMap(([label, users]) =>
    users.length > 0 ? [`${label}: ${users.map(signature).join(', ')}`] : [],
  )
  const mail = eventMail(
    ctx.site,
    sentenceBy(ctx, author, by(noun), alone(noun)),
    to,
    ...(people.length > 0 ? [people.join('\n')] : []),
  )
  return author ? sentBy(author, mail) : mail
}
