import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import { letter, sendMail, signature } from '../../instance/index.ts'
import { offerLine, placeLines } from '../members/mails.ts'
import type { MemberSource } from '../members/queries.ts'
import { findPlace } from '../members/recipient-queries.ts'

/** Writes to an address, of which nobody knows yet whose it is, what it is invited to and how to accept. */
export async function mailInvitation(
  tx: Tx,
  { site, actor }: Pick<Ctx, 'site' | 'actor'>,
  source: MemberSource,
  { email, ...offer }: { email: string; level: number; expiresAt: DateOnly | null },
): Promise<void> {
  const place = await findPlace(tx, source)
  await sendMail(
    tx,
    letter(
      site,
      email,
      undefined,
      `Invitation to ${place.full_path}`,
      `${signature(actor!)}\ninvites you to a ${place.of}:`,
      placeLines(site, place),
      offerLine('You would be there', offer),
      `To accept, confirm ${email} as an address of your account at ${site.url}: the first one of a new account, or a further one of the account you have. You are a member from then on.`,
      'If you do not want that, you need not do anything.',
    ),
  )
}
