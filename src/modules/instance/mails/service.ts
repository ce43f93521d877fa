import type { Tx } from '../../../db/db.ts'
import { enqueue, enqueueEach } from '../../../jobs/job.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { deliverMail } from './jobs.ts'
import { insertMail, insertMails } from './queries.ts'

/** Queues a mail; it is sent after the transaction commits. */
export async function sendMail(tx: Tx, mail: Mail): Promise<void> {
  await enqueue(tx, deliverMail, { mailId: await insertMail(tx, mail) })
}

/** Queues several mails; they are sent after the transaction commits. */
export async function sendMails(tx: Tx, mails: readonly Mail[]): Promise<void> {
  if (mails.length === 0) return
  const ids = await insertMails(tx, mails)
  await enqueueEach(
    tx,
    deliverMail,
    ids.map((mailId) => ({ mailId })),
  )
}
