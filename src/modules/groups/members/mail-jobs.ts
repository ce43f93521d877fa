import { Type } from 'typebox'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { job } from '../../../jobs/job.ts'
import type { Mail } from '../../../mail/mailer.ts'
import { asAccount } from '../../accounts/index.ts'
import { deliver, delivery, sendMailsBy } from '../../instance/index.ts'
import { loadProject } from '../../projects/index.ts'
import { loadGroup } from '../groups/subject.ts'
import { type MemberSource, placeOfProject } from './queries.ts'
import { findRecipient } from './recipient-queries.ts'

/** A recipient who needs an access level to get the mail. */
type Waiting = {
  readonly userId: number
  readonly of: 'project' | 'group'
  readonly id: number
  readonly level: number
}

/** Sends a mail about members, if its recipient still has the access level and wants it: it may have waited for days. */
export const deliverMemberMail = job({
  name: 'deliver_member_mail',
  ...delivery,
  input: Type.Object({
    mailId: Type.Integer(),
    userId: Type.Integer(),
    of: Type.Union([Type.Literal('project'), Type.Literal('group')]),
    id: Type.Integer(),
    level: Type.Integer(),
  }),
  key: ({ mailId }) => `deliver_member_mail:${mailId}`,
  run: ({ mailId, ...waiting }, ctx) => deliver(ctx, mailId, (address) => isStillFor(ctx, waiting, address)),
})

/** Queues a mail about members to a user who has at least this access level. */
export const sendMemberMail = (
  tx: Tx,
  source: MemberSource,
  { userId, level }: Pick<Waiting, 'userId' | 'level'>,
  mail: Mail,
): Promise<void> => {
  const id = source.of === 'group' ? source.groupId : source.projectId
  return sendMailsBy(tx, deliverMemberMail, [{ mail, input: { userId, of: source.of, id, level } }])
}

async function isStillFor(ctx: Ctx, { userId, of, id, level }: Waiting, address: string): Promise<boolean> {
  const user = await asAccount(ctx, userId)
  const held = user && (await (of === 'group' ? loadGroup(id, user) : loadProject(String(id), user)))
  if (!held || held.facts.level < level) return false
  const source: MemberSource =
    'traversal_ids' in held
      ? { of: 'group', groupId: id, ancestorIds: held.traversal_ids }
      : { of: 'project', projectId: id, ancestorIds: (await placeOfProject(ctx.db, id))?.traversal_ids ?? [] }
  return (await findRecipient(ctx.db, source, userId))?.address === address
}
