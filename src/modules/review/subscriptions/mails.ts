import type { Site } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import type { Recipient } from '../../groups/index.ts'
import { letter, signature } from '../../instance/index.ts'
import type { MailedMergeRequest, MailedNote, MailedTodo } from './recipient-queries.ts'

/** Maximum quoted characters of a note; the link leads to the whole text. */
const longestQuote = 10_000

/** Quotes a comment, so that none of its lines can pass for a line of the mail itself. */
const quoted = (text: string): string =>
  text
    .slice(0, longestQuote)
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map((line) => `> ${oneLine(line)}`)
    .join('\n')

const subjectOf = ({ title, full_path, iid }: MailedMergeRequest): string => `${oneLine(title)}, ${full_path}!${iid}`

const linesOf = (site: Site, { title, full_path, iid }: MailedMergeRequest, anchor = ''): string =>
  `${oneLine(title)}\n${site.url}/${full_path}/-/merge_requests/${iid}${anchor}`

export const noteMail = (site: Site, to: Recipient, { id, body, author, merge_request }: MailedNote): Mail =>
  letter(
    site,
    to.address,
    to.name,
    subjectOf(merge_request),
    `${signature(author)} commented on a merge request:`,
    quoted(body),
    linesOf(site, merge_request, `#note_${id}`),
  )

/** Reasons of todos that are mailed, as sentences. */
const reasons: Readonly<Record<string, string>> = {
  assigned: 'assigned a merge request to you:',
  mentioned: 'mentioned you in a merge request:',
  directly_addressed: 'mentioned you in a merge request:',
}

export const isMailed = (action: string): boolean => Object.hasOwn(reasons, action)

export const todoMail = (site: Site, { action, author, merge_request, ...to }: MailedTodo): Mail =>
  letter(
    site,
    to.address,
    to.name,
    subjectOf(merge_request),
    `${signature(author)} ${reasons[action]}`,
    linesOf(site, merge_request),
  )
