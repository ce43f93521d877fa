import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import { emit } from '../../../events/log.ts'
import { changedNames } from '../../../kernel/changed-names.ts'
import { Failure, invalidFields, rowNotFound, tooManyRequests } from '../../../kernel/failure.ts'
import type { Plan } from '../../../kernel/plan.ts'
import { countHit } from '../../../settings/queries.ts'
import { isEmailAddress, isLeaving } from '../../accounts/index.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { type Holder, placeOf } from '../holders/holder.ts'
import { mailMember } from '../members/mails.ts'
import { findMember } from '../members/queries.ts'
import {
  admitMember,
  groupMembership,
  isStorable,
  lockMembership,
  type Membership,
  projectMembership,
} from '../members/service.ts'
import type { InvitationOutcome } from './entity.ts'
import { mailInvitation } from './mails.ts'
import {
  deleteInvitation,
  deleteInvitationRow,
  type InvitationRow,
  insertInvitation,
  lockInvitation,
  ownerOfAddress,
  type PlacedInvitation,
  takeInvitationsFor,
  updateInvitation,
} from './queries.ts'

/** A project or group with invitations. */
export type Host = { readonly holder: Holder; readonly name: string; readonly membership: Membership }

const maxAddresses = 100
/** Maximum invitation mails per user and hour to unconfirmed addresses. */
const maxMailsPerHour = 200
const wrongLevel = { access_level: ['is not included in the list'] }

/**
 * Invites each address separately: a user with that confirmed address becomes a member at once, others when a user
 * confirms it. Returns the error of each refused address. Throws `rate_limited` only if no address was invited.
 */
export async function invite(
  ctx: Ctx,
  host: Host,
  emails: readonly string[],
  offer: { level: number; expiresAt: DateOnly | null },
): Promise<InvitationOutcome> {
  const addresses = [...new Map(emails.map((email) => [email.toLowerCase(), email])).values()]
  if (addresses.length === 0) return { status: 'error', message: 'Emails cannot be blank' }
  if (addresses.length > maxAddresses)
    return { status: 'error', message: `Too many users specified (limit is ${maxAddresses})` }
  if (!isStorable(host.membership, offer.level)) throw invalidFields(wrongLevel)
  const refused: Record<string, string> = {}
  let limited: Failure | undefined
  for (const email of addresses) {
    const violation = await inviteAddress(ctx, host, email, offer).catch((error: unknown) => {
      if (!(error instanceof Failure && error.kind === 'rate_limited')) return asViolation(error)
      limited = error
      return error.message
    })
    if (violation !== undefined) refused[email] = violation
  }
  if (limited && Object.keys(refused).length === addresses.length) throw limited
  return Object.keys(refused).length > 0 ? { status: 'error', message: refused } : { status: 'success' }
}

/** The message of a validation failure; throws other errors. */
function asViolation(error: unknown): string {
  if (error instanceof Failure && error.kind === 'invalid') return error.message
  throw error
}

/** Returns an error message; undefined on success. */
const inviteAddress = (
  ctx: Ctx,
  { holder, name, membership: source }: Host,
  email: string,
  { level, expiresAt }: { level: number; expiresAt: DateOnly | null },
): Promise<string | undefined> =>
  ctx.transaction(async (tx) => {
    // Serialised with the job that accepts invitations: either it sees this invitation, or this sees the account.
    const membership = await lockMembership(tx, ctx.plan, source)
    if (membership.locked) throw new Failure('wrong_state', 'Members of the group are locked')
    if (!isEmailAddress(email)) return 'Invite email is invalid'
    const userId = await ownerOfAddress(tx, email)
    const actorId = ctx.actor!.id
    // The address of an account that is being deleted becomes free.
    if (userId !== undefined && !(await isLeaving(tx, userId))) {
      if (await findMember(tx, membership, userId)) return `Already a member of ${name}`
      await admitMember(tx, membership, { userId, level, expiresAt, actorId })
      await mailMember(tx, ctx, membership, 'added', { userId, level, expiresAt })
      return undefined
    }
    const id = await insertInvitation(tx, holder, { email, level, expiresAt, createdBy: actorId })
    if (id === undefined) return `Member already invited to ${name}`
    if ((await countHit(tx, `invitation:${actorId}`, 3600)).hits > maxMailsPerHour) throw tooManyRequests()
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

/** `undefined` leaves a value unchanged, and values as they are leave no trace; `expiresAt: null` removes the date. */
export async function changeInvitation(
  ctx: Ctx,
  { holder, membership }: Host,
  email: string,
  offer: { level: number | undefined; expiresAt: DateOnly | null | undefined },
): Promise<InvitationRow> {
  if (offer.level !== undefined && !isStorable(membership, offer.level)) throw invalidFields(wrongLevel)
  return ctx.transaction(async (tx) => {
    const held = await lockInvitation(tx, holder, email)
    await tx.requirePermission?.()
    if (!held) throw rowNotFound()
    if (changedNames(held, { access_level: offer.level, expires_at: offer.expiresAt }).length === 0) return held
    const changed = (await updateInvitation(tx, holder, email, offer))!
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
    const deleted = await deleteInvitation(tx, holder, email)
    await tx.requirePermission?.()
    if (!deleted) throw rowNotFound()
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
 * Turns invitations to the user's confirmed addresses into memberships. Deletes those that the rules of members refuse,
 * or that the user does not need; while a group is locked, its invitations stay open.
 */
export async function acceptInvitations(ctx: Ctx, userId: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    for (const invitation of await takeInvitationsFor(tx, userId)) {
      const membership = await membershipOf(tx, ctx.plan, invitation)
      if (membership.locked) continue
      const offer = { userId, level: invitation.access_level, expiresAt: invitation.expires_at }
      const admitted = await admitMember(tx, membership, { ...offer, actorId: invitation.created_by_id }).then(
        () => true,
        rethrowBug,
      )
      if (admitted) await mailMember(tx, ctx, membership, 'accepted', offer)
      await deleteInvitationRow(tx, invitation.id)
    }
  })
}

const membershipOf = async (
  tx: Tx,
  plan: Plan,
  { project_id, namespace_id, traversal_ids }: PlacedInvitation,
): Promise<Membership> =>
  project_id === null
    ? groupMembership({ id: namespace_id, traversal_ids })
    : projectMembership(tx, plan, { id: project_id })

function rethrowBug(error: unknown): false {
  if (!(error instanceof Failure)) throw error
  return false
}
