import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { Holder } from '../../../db/portable/relation.ts'
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

/** Sends a mail to an importer about what was left out of a complete import, with counts. No mail if that is nothing. */
export async function tellLeftOut(
  ctx: Ctx,
  tx: Tx,
  { of, id, userId }: Holder & { readonly userId: number },
  leftOut: ReadonlyMap<string, number>,
): Promise<void> {
  if (leftOut.size === 0) return
  await tellRequester(
    ctx,
    tx,
    userId,
    'Parts of an archive were not imported',
    `The import of ${of} ${id} is complete. These parts of the archive could not be imported:`,
    [...leftOut].map(([name, count]) => `${name}: ${count}`).join('\n'),
  )
}
