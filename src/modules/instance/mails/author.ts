import type { Ctx } from '../../../api/ctx.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { signature } from './build-mail.ts'

/** A user who caused a mail. */
export type Author = { readonly name: string; readonly username: string }

/** The mail with its author as the sender, but for the address, which stays that of the installation. */
export const sentBy = (author: Author, mail: Mail): Mail => ({ ...mail, from: { name: signature(author) } })

/** What happened, as a sentence: `by` the author if bodies of mails name authors, else `alone`. Without an author always that. */
export const sentenceBy = (
  { settings }: Pick<Ctx, 'settings'>,
  author: Author | undefined,
  by: string,
  alone: string,
): string => (author && settings.email_author_in_body ? `${signature(author)} ${by}:` : `${alone}:`)
