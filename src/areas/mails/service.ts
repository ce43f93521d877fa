import type { Tx } from '../../db/db.ts'
import { enqueue } from '../../jobs/job.ts'
import type { Mail } from '../../mail/mailer.ts'
import { deliverMail } from './jobs.ts'
import { insertMail } from './queries.ts'

/** Sends a mail once the transaction has committed. */
export async function sendMail(tx: Tx, mail: Mail): Promise<void> {
  await enqueue(tx, deliverMail, { mailId: await insertMail(tx, mail) })
}
