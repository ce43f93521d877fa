import type { Ctx } from '../../../api/ctx.ts'
import type { Site } from '../../../api/site.ts'
import type { Tx } from '../../../db/db.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { countHit } from '../../../settings/queries.ts'
import { sendMail } from '../../instance/index.ts'
import type { Person } from './mails.ts'
import { findNotified, type Notified } from './notice-queries.ts'

/** Maximum notices to one user within an hour: a script may add many keys. */
const maxPerHour = 20

/**
 * Mails what changed in the security of an account to its owner, no matter who changed it, so that a stranger who got in is noticed. Notification
 * settings do not matter. Not to bots, blocked users, and addresses that are not confirmed. `person` is as before the change; default: as now.
 */
export async function sendNotice(
  tx: Tx,
  ctx: Pick<Ctx, 'site'>,
  userId: number,
  mailFor: (site: Site, to: string, person: Person) => Mail,
  person?: Notified,
): Promise<void> {
  const to = person ?? (await findNotified(tx, userId))
  if (!to) return
  const { hits } = await countHit(tx, `account_notices:${userId}`, 3600)
  if (hits <= maxPerHour) await sendMail(tx, mailFor(ctx.site, to.email, to))
}
