import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import { buildMail, sendMail, signature } from '../../instance/index.ts'
import { offerLine, placeLines } from '../members/mails.ts'
import type { MemberSource } from '../members/queries.ts'
import { findPlace } from '../members/recipient-queries.ts'

/** Mails an invitation to an email address, with the way to accept it. */
export async function mailInvitation(
  tx: Tx,
  { site, actor }: Pick<Ctx, 'site' | 'actor'>,
  source: MemberSource,
  { email, ...offer }: { email: string; level: number; expiresAt: DateOnly | null },
): Promise<void> {
  const place = await findPlace(tx, source)
  await sendMail(
    tx,
    buildMail(
      site,
      email,
      undefined,
      `Invitation to ${place.full_path}`,
      `${signature(actor!)}\ninvited you to a ${place.of}:`,
      placeLines(site, place),
      offerLine('The role is', offer),
      `To accept, confirm ${email} as an email address of your account at ${site.url}, either of a new account or as a secondary address of an existing one. You then become a member.`,
      'To decline, ignore this mail.',
    ),
  )
}
