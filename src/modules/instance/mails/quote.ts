import { oneLine } from '../../../mail/smtp-mailer.ts'

/** Maximum quoted characters of a text; the link leads to the whole. */
const longestQuote = 10_000

/** The part of a text that its mail quotes. An emoji at its end may be cut, and PostgreSQL stores no half of one. */
export const excerptOf = (text: string): string => text.slice(0, longestQuote).toWellFormed()

/** Quotes a text, so that none of its lines can pass for a line of the mail itself. */
export const quoted = (text: string): string =>
  excerptOf(text)
    .split(/\r\n|[\r\n\u2028\u2029]/)
    .map((line) => `> ${oneLine(line)}`)
    .join('\n')
