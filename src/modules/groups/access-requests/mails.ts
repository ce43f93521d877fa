import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { buildMail, sendMail, signature } from '../../instance/index.ts'
import { sendMemberMail } from '../members/mail-jobs.ts'
import { placeLines } from '../members/mails.ts'
import type { MemberSource } from '../members/queries.ts'
import { findPlace, findRecipient, levelToDecide, recipientsWhoDecide } from '../members/recipient-queries.ts'

/** Mails an access request to the users who manage the members. */
export async function mailAccessRequest(
  tx: Tx,
  { site }: Pick<Ctx, 'site'>,
  source: MemberSource,
  requester: { name: string; username: string },
): Promise<void> {
  const place = await findPlace(tx, source)
  const level = levelToDecide(source)
  for (const to of await recipientsWhoDecide(tx, source))
    await sendMemberMail(
      tx,
      source,
      { userId: to.id, level },
      buildMail(
        site,
        to.address,
        to.name,
        `Request for access to ${place.full_path}`,
        `${signature(requester)} requested access to a ${place.of} whose members you manage:`,
        placeLines(site, place),
        `Profile of the requester:\n${site.url}/${requester.username}`,
        `Approve or deny the request:\n${site.apiUrl}/${place.of}s/${place.id}/access_requests`,
      ),
    )
}

/** Mails the denial of an access request to the requester. */
export async function mailDenial(
  tx: Tx,
  { site }: Pick<Ctx, 'site'>,
  source: MemberSource,
  userId: number,
): Promise<void> {
  const to = await findRecipient(tx, source, userId)
  if (!to) return
  const place = await findPlace(tx, source)
  const subject = `Request for access to ${place.full_path}`
  const denial = `Your request for access to a ${place.of} was denied:`
  await sendMail(tx, buildMail(site, to.address, to.name, subject, denial, placeLines(site, place)))
}
