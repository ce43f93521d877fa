import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { beginMails } from './queries.ts'

/** Ids of users whose mails are made and queued together: an installation may have ten thousand recipients, each with a text of their own. */
const idsAtOnce = 500

/**
 * Queues mails in a job, which may run twice: once for each cause and range of recipients. Which recipients a range has does not depend on
 * the others, who may be others the next time.
 */
export async function mailOnce<To extends { readonly id: number }, M>(
  ctx: Pick<Ctx, 'transaction'>,
  cause: string,
  recipients: readonly To[],
  mailsTo: (some: readonly To[]) => readonly M[] | Promise<readonly M[]>,
  send: (tx: Tx, mails: readonly M[]) => Promise<void>,
): Promise<void> {
  for (const [range, some] of Map.groupBy(recipients, ({ id }) => Math.floor(id / idsAtOnce))) {
    const mails = await mailsTo(some)
    await ctx.transaction(async (tx) => {
      if (await beginMails(tx, `${cause}:${range}`)) await send(tx, mails)
    })
  }
}
