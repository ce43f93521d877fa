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

type MailBy<I extends TObject> = { readonly mail: Mail; readonly input: Omit<Static<I>, 'mailId'> }

/** As `sendMails`, by a job that checks something before, for which each mail has an input. */
export async function sendMailsBy<I extends TObject>(
  tx: Tx,
  delivery: Job<I>,
  mails: readonly MailBy<I>[],
): Promise<void> {
  for (const some of batchesOf(mails)) {
    const ids = await insertMails(
      tx,
      some.map(({ mail }) => mail),
    )
    await enqueueEach(
      tx,
      delivery,
      some.map(({ input }, index) => ({ ...input, mailId: ids[index]! }) as unknown as Static<I>),
    )
  }
}

/** Maximum mails that are inserted at once, and characters of theirs after which no further one is: a value of PostgreSQL has at most 256 MB. */
const [mostMails, mostCharacters] = [1000, 4_000_000]

function* batchesOf<Each extends { readonly mail: Mail }>(mails: readonly Each[]): Generator<readonly Each[]> {
  let [from, characters] = [0, 0]
  for (const [index, { mail }] of mails.entries()) {
    if (index - from === mostMails || characters > mostCharacters) {
      yield mails.slice(from, index)
      from = index
      characters = 0
    }
    characters += mail.subject.length + mail.body.length + (mail.html?.length ?? 0)
  }
  if (from < mails.length) yield mails.slice(from)
}
