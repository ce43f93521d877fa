import { levelNames, levels } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Site } from '../../../api/site.ts'
import type { Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { oneLine } from '../../../mail/smtp-mailer.ts'
import { buildMail, signature } from '../../instance/index.ts'
import { namespaceUrl } from '../../namespaces/index.ts'
import { sendMemberMail } from './mail-jobs.ts'
import type { MemberSource } from './queries.ts'
import { findPlace, findRecipient, type Place, type Recipient } from './recipient-queries.ts'

type Offer = { readonly level: number; readonly expiresAt: DateOnly | null }

/** A project or group in a mail: its name and its URL, each on its own line. */
export const placeLines = (site: Site, { of, full_name, full_path }: Place): string =>
  `${oneLine(full_name)}\n${of === 'group' ? namespaceUrl(site, 'group', full_path) : `${site.url}/${full_path}`}`

/** `Your role is Developer until 2030-01-31.` */
export const offerLine = (prefix: string, { level, expiresAt }: Offer): string =>
  `${prefix} ${levelNames[level]}${expiresAt === null ? '' : ` until ${expiresAt}`}.`

/** How the recipient became a member. */
const firstLines = {
  added: (of: string) => `You were added to a ${of}:`,
  granted: (of: string) => `Your request for access to a ${of} was approved:`,
  accepted: (of: string) => `You accepted an invitation to a ${of}:`,
} as const

const memberMail = (
  site: Site,
  to: Recipient,
  place: Place,
  how: keyof typeof firstLines,
  { by, ...offer }: Offer & { by: { name: string; username: string } | null },
): Mail =>
  buildMail(
    site,
    to.address,
    to.name,
    `Access to ${place.full_path}`,
    firstLines[how](place.of),
    placeLines(site, place),
    offerLine('Your role is', offer),
    ...(by ? [`This was done by\n${signature(by)}`] : []),
  )

/** Mails a new member, unless the user did it themselves or disabled such mails. */
export async function mailMember(
  tx: Tx,
  { site, actor }: Pick<Ctx, 'site' | 'actor'>,
  source: MemberSource,
  how: keyof typeof firstLines,
  { userId, level, expiresAt }: Offer & { userId: number },
): Promise<void> {
  if (actor?.id === userId) return
  const to = await findRecipient(tx, source, userId)
  if (!to) return
  const mail = memberMail(site, to, await findPlace(tx, source), how, { level, expiresAt, by: actor })
  await sendMemberMail(tx, source, { userId, level: levels.guest }, mail)
}
