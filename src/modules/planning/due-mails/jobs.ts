import { Type } from 'typebox'
import { inBatches } from '../../../db/batches.ts'
import { job } from '../../../jobs/job.ts'
import { eventMail, recipientsOfEvent, sendNoteableMails } from '../../discussion/index.ts'
import { takeDueTomorrow } from './queries.ts'

/** Issues whose mails are queued in one transaction. */
const batchSize = 100

/** Mails open issues that are due the next day, daily. Each issue is mailed once for a due date, however often the job runs. */
export const mailDueIssues = job({
  name: 'mail_due_issues',
  input: Type.Object({}),
  key: () => 'mail_due_issues',
  attempts: 5,
  every: { cron: '50 0 * * *', input: {} },
  run: (_input, ctx) =>
    inBatches(
      (size) =>
        ctx.transaction(async (tx) => {
          const ids = await takeDueTomorrow(tx, size)
          const mailed = await recipientsOfEvent(tx, 'Issue', ids, { event: 'issue_due' })
          await sendNoteableMails(
            tx,
            mailed.map((each) => ({
              mail: eventMail(ctx.site, 'An issue is due tomorrow:', each),
              to: each,
              noteable: each.noteable,
            })),
          )
          return ids.length
        }),
      batchSize,
    ),
})
