import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { buildMail, sendMail } from '../../instance/index.ts'
import { findAddressee } from './queries.ts'

/** Sends a mail to the user who asked for an export or import. No mail if the account is blocked. */
export async function tellRequester(
  ctx: Ctx,
  tx: Tx,
  userId: number,
  subject: string,
  ...paragraphs: readonly string[]
): Promise<void> {
  const to = await findAddressee(tx, userId)
  if (to) await sendMail(tx, buildMail(ctx.site, to.address, to.name, subject, ...paragraphs))
}
