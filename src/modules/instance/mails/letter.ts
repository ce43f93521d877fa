import type { Site } from '../../../api/site.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'

/** Paragraphs, after a greeting; by name, when it is known who reads the address. */
export const letter = (
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

/** Somebody as a mail names him. Names are text that somebody chose: one line only, and nothing else of ours on it. */
export const signature = ({ name, username }: { name: string; username: string }): string =>
  `${oneLine(name)} (@${username})`
