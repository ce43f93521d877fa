import { Type } from 'typebox'
import type { Site } from '../../../api/site.ts'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import { buildMail, rememberCauses, sendMails } from '../../instance/index.ts'
import { type EndingToken, endingCause, ownersOfEndingTokens, type TokenOwner } from './ending-queries.ts'

/** Users whose mails are queued in one transaction. */
const batchSize = 200

/** Maximum tokens that a mail names. */
const mostNamed = 50

/** Lines that name tokens with their dates: `backup, until 2030-01-31`. */
export function endingLines(tokens: readonly EndingToken[]): string {
  const lines = tokens.slice(0, mostNamed).map(({ name, expires_at }) => `${oneLine(name)}, until ${expires_at}`)
  return [...lines, ...(tokens.length > mostNamed ? [`and ${tokens.length - mostNamed} more`] : [])].join('\n')
}

const endingMail = (site: Site, { name, username, email, tokens }: TokenOwner): Mail =>
  buildMail(
    site,
    email,
    name,
    'Access tokens expire soon',
    `These personal access tokens of your account @${username} expire within a week:`,
    endingLines(tokens),
    `Rotate or replace those that are still needed: ${site.url}/-/profile/personal_access_tokens`,
  )

/** Mails users whose personal access tokens expire within a week, daily; once for each token and date. */
export const mailEndingTokens = job({
  name: 'mail_ending_tokens',
  input: Type.Object({}),
  key: () => 'mail_ending_tokens',
  attempts: 5,
  every: { cron: '5 1 * * *', input: {} },
  run: (_input, ctx) =>
    inBatches(
      (size) =>
        ctx.transaction(async (tx) => {
          const owners = await ownersOfEndingTokens(tx, size)
          await rememberCauses(
            tx,
            owners.flatMap(({ tokens }) => tokens.map(endingCause)),
          )
          await sendMails(
            tx,
            owners.map((owner) => endingMail(ctx.site, owner)),
          )
          return owners.length
        }),
      batchSize,
    ),
})
