import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { endingCause, endingLines } from '../../accounts/index.ts'
import { buildMail, rememberCauses } from '../../instance/index.ts'
import { sendMemberMail } from '../members/mail-jobs.ts'
import { placeLines } from '../members/mails.ts'
import { findPlace, levelToDecide, recipientsWhoDecide } from '../members/recipient-queries.ts'
import { holdersOfEndingTokens } from './queries.ts'

/** Projects and groups whose mails are queued in one transaction. */
const batchSize = 50

/** Mails the members who manage a project or group that its access tokens expire within a week, daily; once for each token and date. */
export const mailEndingResourceTokens = job({
  name: 'mail_ending_resource_tokens',
  input: Type.Object({}),
  key: () => 'mail_ending_resource_tokens',
  attempts: 5,
  every: { cron: '10 1 * * *', input: {} },
  run: (_input, ctx) =>
    inBatches(
      (size) =>
        ctx.transaction(async (tx) => {
          const holders = await holdersOfEndingTokens(tx, size)
          await rememberCauses(
            tx,
            holders.flatMap(({ tokens }) => tokens.map(endingCause)),
          )
          for (const { source, tokens } of holders) {
            const place = await findPlace(tx, source)
            const level = levelToDecide(source)
            for (const to of await recipientsWhoDecide(tx, source))
              await sendMemberMail(
                tx,
                source,
                { userId: to.id, level },
                buildMail(
                  ctx.site,
                  to.address,
                  to.name,
                  `Access tokens of ${place.full_path} expire soon`,
                  `These access tokens of a ${place.of} that you manage expire within a week:`,
                  endingLines(tokens),
                  placeLines(ctx.site, place),
                ),
              )
          }
          return holders.length
        }),
      batchSize,
    ),
})
