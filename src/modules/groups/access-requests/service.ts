import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import { emit } from '../../../events/log.ts'
import { forbidden, invalidFields, rowNotFound, tooManyRequests } from '../../../kernel/failure.ts'
import { countHit } from '../../../settings/queries.ts'
import { type Holder, placeOf } from '../holders/holder.ts'
import { mailMember } from '../members/mails.ts'
import { findMember, type MemberRow } from '../members/queries.ts'
import { admitMember, lockMembership, type Membership } from '../members/service.ts'
import { mailAccessRequest, mailDenial } from './mails.ts'
import {
  type AccessRequestRow,
  deleteAccessRequest,
  findAccessRequest,
  insertAccessRequest,
  takesRequests,
} from './queries.ts'

/** A project or group that users request access to. `level` is the caller's, including inherited levels. */
export type Asked = { readonly holder: Holder; readonly level: number }

/** Maximum access requests per user and hour. */
const maxRequestsPerHour = 10

/**
 * Requests access for the caller. Throws `invalid` if they have access from any source, or have requested it already.
 */
export async function requestAccess(ctx: Ctx, { holder, level }: Asked, source: Membership): Promise<AccessRequestRow> {
  const { id } = ctx.actor!
  return ctx.transaction(async (tx) => {
    // Serialised with changes of members, so that no request of a member remains.
    const membership = await lockMembership(tx, ctx.plan, source)
    if (!(await takesRequests(tx, holder))) throw forbidden()
    const known = level > 0 || (await findMember(tx, membership, id)) !== undefined
    if (known || !(await insertAccessRequest(tx, holder, id)))
      throw invalidFields({ user_id: ['already exists in source'] })
    const asked = await findAccessRequest(tx, holder, id)
    // The user was blocked while this waited for the lock.
    if (!asked) throw forbidden()
    // Each request sends several mails.
    if ((await countHit(tx, `access_request:${id}`, 3600)).hits > maxRequestsPerHour) throw tooManyRequests()
    await mailAccessRequest(tx, ctx, membership, asked)
    await emit(tx, { kind: 'access_requested', ...placeOf(holder), actorId: id, payload: { user_id: id } })
    return asked
  })
}

/** Adds the requester as a member, which ends the request. */
export async function approveRequest(
  ctx: Ctx,
  { holder }: Asked,
  source: Membership,
  { userId, level }: { userId: number; level: number },
): Promise<MemberRow> {
  return ctx.transaction(async (tx) => {
    const membership = await lockMembership(tx, ctx.plan, source)
    if (!(await findAccessRequest(tx, holder, userId))) throw rowNotFound()
    await admitMember(tx, membership, { userId, level, expiresAt: null, actorId: ctx.actor!.id })
    await mailMember(tx, ctx, membership, 'granted', { userId, level, expiresAt: null })
    return (await findMember(tx, membership, userId))!
  })
}

/**
 * Withdraws the caller's request or denies that of another user. Callers who may do neither do not learn whether it
 * exists.
 */
export async function endRequest(
  ctx: Ctx,
  { holder }: Asked,
  source: Membership,
  userId: number,
  mayManage: (tx: Tx) => Promise<boolean>,
): Promise<void> {
  const own = ctx.actor!.id === userId
  await ctx.transaction(async (tx) => {
    // Waits for a concurrent approval, after which the request is gone.
    const membership = await lockMembership(tx, ctx.plan, source)
    if (!own && !(await mayManage(tx))) throw forbidden()
    if (!(await deleteAccessRequest(tx, holder, userId))) throw rowNotFound()
    if (!own) await mailDenial(tx, ctx, membership, userId)
    await emit(tx, {
      kind: own ? 'access_request_withdrawn' : 'access_request_denied',
      ...placeOf(holder),
      actorId: ctx.actor!.id,
      payload: { user_id: userId },
    })
  })
}
