import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import { emit } from '../../../events/log.ts'
import { Failure, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { countHit } from '../../../settings/queries.ts'
import { isEmailAddress } from '../../accounts/index.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { type Holder, placeOf } from '../holders/holder.ts'
import { tellMember } from '../members/mails.ts'
import { findMember } from '../members/queries.ts'
import { admitMember, groupMembership, isStorable, type Membership, projectMembership } from '../members/service.ts'
import type { InvitationOutcome } from './entity.ts'
import { mailInvitation } from './mails.ts'
import {
  deleteInvitation,
  deleteInvitationRow,
  type InvitationRow,
  insertInvitation,
  ownerOfAddress,
  type PlacedInvitation,
  takeInvitationsFor,
  updateInvitation,
} from './queries.ts'

/** A project or group that people are invited to. */
export type Host = { readonly holder: Holder; readonly name: string; readonly membership: Membership }

const mostAtOnce = 100
/** Maximum invitation mails per user and hour to unconfirmed addresses. */
const mostAnHour = 200
const wrongLevel = { access_level: ['is not included in the list'] }

/**
 * Invites addresses, each for itself: whoever is known to own one is a member at once, the others become one when somebody
 * confirms it. Says what was wrong with those that are refused.
 */
export async function invite(
  ctx: Ctx,
  host: Host,
  emails: readonly string[],
  offer: { level: number; expiresAt: DateOnly | null },
): Promise<InvitationOutcome> {
  const addresses = [...new Map(emails.map((email) => [email.toLowerCase(), email])).values()]
  if (addresses.length === 0) return { status: 'error', message: 'Emails cannot be blank' }
  if (addresses.length > mostAtOnce)
    return { status: 'error', message: `Too many users specified (limit is ${mostAtOnce})` }
  if (host.membership.locked) throw new Failure('wrong_state', 'Members of the group are locked')
  if (!isStorable(host.membership, offer.level)) throw invalidFields(wrongLevel)
  const refused: Record<string, string> = {}
  for (const email of addresses) {
    const violation = await inviteAddress(ctx, host, email, offer).catch(asViolation)
    if (violation !== undefined) refused[email] = violation
  }
  return Object.keys(refused).length > 0 ? { status: 'error', message: refused } : { status: 'success' }
}

/** What the rules of members say against it, in a sentence. */
function asViolation(error: unknown): string {
  if (error instanceof Failure && error.kind === 'invalid') return error.message
  throw error
}

/** Resolves with what is wrong, if anything is. */
const inviteAddress = (
  ctx: Ctx,
  { holder, name, membership }: Host,
  email: string,
  { level, expiresAt }: { level: number; expiresAt: DateOnly | null },
): Promise<string | undefined> =>
  ctx.transaction(async (tx) => {
    if (!isEmailAddress(email)) return 'Invite email is invalid'
    // In turn with the job that accepts: either it sees this invitation, or we see the account.
    await lockAccess(tx)
    const userId = await ownerOfAddress(tx, email)
    const actorId = ctx.actor!.id
    if (userId !== undefined) {
      if (await findMember(tx, membership, userId)) return `Already a member of ${name}`
      await admitMember(tx, membership, { userId, level, expiresAt, actorId })
      await tellMember(tx, ctx, membership, 'added', { userId, level, expiresAt })
      return undefined
    }
    const id = await insertInvitation(tx, holder, { email, level, expiresAt, createdBy: actorId })
    if (id === undefined) return `Member already invited to ${name}`
    if ((await countHit(tx, `invitation:${actorId}`, 3600)) > mostAnHour)
      throw new Failure('rate_limited', 'This endpoint has been requested too many times. Try again later.')
    await mailInvitation(tx, ctx, membership, { email, level, expiresAt })
    await emit(tx, {
      kind: 'member_invited',
      ...placeOf(holder),
      actorId,
      payload: { access_level: level, expires_at: expiresAt },
      facts: { email },
    })
    return undefined
  })

/** `undefined` keeps what was offered; `expiresAt: null` lets it last. */
export async function changeInvitation(
  ctx: Ctx,
  { holder, membership }: Host,
  email: string,
  offer: { level: number | undefined; expiresAt: DateOnly | null | undefined },
): Promise<InvitationRow> {
  if (offer.level !== undefined && !isStorable(membership, offer.level)) throw invalidFields(wrongLevel)
  return ctx.transaction(async (tx) => {
    const changed = await updateInvitation(tx, holder, email, offer)
    if (!changed) throw rowNotFound()
    const { access_level, expires_at } = changed
    await emit(tx, {
      kind: 'invitation_updated',
      ...placeOf(holder),
      actorId: ctx.actor!.id,
      payload: { access_level, expires_at },
      facts: { email: changed.email },
    })
    return changed
  })
}

export async function withdrawInvitation(ctx: Ctx, { holder }: Host, email: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    if (!(await deleteInvitation(tx, holder, email))) throw rowNotFound()
    await emit(tx, {
      kind: 'invitation_withdrawn',
      ...placeOf(holder),
      actorId: ctx.actor!.id,
      payload: {},
      facts: { email },
    })
  })
}

/**
 * Makes a member of whoever is known to own an address that was invited. An invitation that the rules of members do not let
 * through any more, or that he does not need, ends; while a group is locked, its invitations wait.
 */
export async function acceptInvitations(ctx: Ctx, userId: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    for (const invitation of await takeInvitationsFor(tx, userId)) {
      const membership = await membershipOf(tx, invitation)
      if (membership.locked) continue
      const offer = { userId, level: invitation.access_level, expiresAt: invitation.expires_at }
      const admitted = await admitMember(tx, membership, { ...offer, actorId: invitation.created_by_id }).then(
        () => true,
        unlessBug,
      )
      if (admitted) await tellMember(tx, ctx, membership, 'accepted', offer)
      await deleteInvitationRow(tx, invitation.id)
    }
  })
}

const membershipOf = async (
  tx: Tx,
  { project_id, namespace_id, traversal_ids }: PlacedInvitation,
): Promise<Membership> =>
  project_id === null
    ? groupMembership({ id: namespace_id, traversal_ids })
    : projectMembership(tx, { id: project_id, namespace_id })

function unlessBug(error: unknown): false {
  if (!(error instanceof Failure)) throw error
  return false
}
