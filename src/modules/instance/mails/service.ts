import type { Static, TObject } from 'typebox'
import type { Tx } from '../../../db/db.ts'
import { enqueue, enqueueEach, type Job } from '../../../jobs/job.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { deliverMail } from './jobs.ts'
import { insertMail, insertMails } from './queries.ts'

/** Queues a mail; it is sent after the transaction commits. */
export async function sendMail(tx: Tx, mail: Mail): Promise<void> {
  await enqueue(tx, deliverMail, { mailId: await insertMail(tx, mail) })
}

/** Queues several mails; they are sent after the transaction commits, each by `deliverMail`. */
export const sendMails = (tx: Tx, mails: readonly Mail[]): Promise<void> =>
  sendMailsBy(
    tx,
    deliverMail,
    mails.map((mail) => ({ mail, input: {} })),
  )

/** As `sendMails`, by a job that checks something before, for which each mail has an input. */
export async function sendMailsBy<I extends TObject>(
  tx: Tx,
  delivery: Job<I>,
  mails: readonly { readonly mail: Mail; readonly input: Omit<Static<I>, 'mailId'> }[],
): Promise<void> {
  if (mails.length === 0) return
  const ids = await insertMails(
    tx,
    mails.map(({ mail }) => mail),
  )
  await enqueueEach(
    tx,
    delivery,
    mails.map(({ input }, index) => ({ ...input, mailId: ids[index]! }) as unknown as Static<I>),
  )
}
