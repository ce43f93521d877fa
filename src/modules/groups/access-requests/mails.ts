import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { letter, sendMail, signature } from '../../instance/index.ts'
import { placeLines } from '../members/mails.ts'
import type { MemberSource } from '../members/queries.ts'
import { findPlace, findRecipient, recipientsWhoDecide } from '../members/recipient-queries.ts'

/** Tells those who manage the members that somebody asks to be one. */
export async function tellOfRequest(
  tx: Tx,
  { site }: Pick<Ctx, 'site'>,
  source: MemberSource,
  asker: { name: string; username: string },
): Promise<void> {
  const place = await findPlace(tx, source)
  for (const to of await recipientsWhoDecide(tx, source))
    await sendMail(
      tx,
      letter(
        site,
        to.address,
        to.name,
        `Request for access to ${place.full_path}`,
        `Somebody asks for access to a ${place.of} whose members you manage:`,
        placeLines(site, place),
        `It is\n${signature(asker)}\n${site.url}/${asker.username}`,
        `You can grant or deny it:\n${site.apiUrl}/${place.of}s/${place.id}/access_requests`,
      ),
    )
}

/** Tells somebody that his request was denied. */
export async function tellOfDenial(
  tx: Tx,
  { site }: Pick<Ctx, 'site'>,
  source: MemberSource,
  userId: number,
): Promise<void> {
  const to = await findRecipient(tx, source, userId)
  if (!to) return
  const place = await findPlace(tx, source)
  const subject = `Request for access to ${place.full_path}`
  const said = `Your request for access to a ${place.of} was denied:`
  await sendMail(tx, letter(site, to.address, to.name, subject, said, placeLines(site, place)))
}
