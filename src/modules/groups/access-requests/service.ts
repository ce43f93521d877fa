import type { Ctx } from '../../../api/ctx.ts'
import { emit } from '../../../events/log.ts'
import { Failure, forbidden, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { countHit } from '../../../settings/queries.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { type Holder, placeOf } from '../holders/holder.ts'
import { tellMember } from '../members/mails.ts'
import { findMember, type MemberRow } from '../members/queries.ts'
import { admitMember, type Membership } from '../members/service.ts'
import { tellOfDenial, tellOfRequest } from './mails.ts'
import {
  type AccessRequestRow,
  deleteAccessRequest,
  findAccessRequest,
  insertAccessRequest,
  takesRequests,
} from './queries.ts'

/** A project or group that people ask to become members of. `level` is the caller's, as he has it from anywhere. */
export type Asked = { readonly holder: Holder; readonly level: number }

/** Maximum access requests per user and hour. */
const mostAnHour = 10

/** The caller asks. Who has access already, from wherever, or has asked, is refused. */
export async function requestAccess(
  ctx: Ctx,
  { holder, level }: Asked,
  membership: Membership,
): Promise<AccessRequestRow> {
  const { id } = ctx.actor!
  return ctx.transaction(async (tx) => {
    // In turn with whoever adds members, so that no request outlives a membership.
    await lockAccess(tx)
    if (!(await takesRequests(tx, holder))) throw forbidden()
    const known = level > 0 || (await findMember(tx, membership, id)) !== undefined
    if (known || !(await insertAccessRequest(tx, holder, id)))
      throw invalidFields({ user_id: ['already exists in source'] })
    const asked = await findAccessRequest(tx, holder, id)
    // He was blocked while this waited for its turn.
    if (!asked) throw forbidden()
    // Each request is a mail to several.
    if ((await countHit(tx, `access_request:${id}`, 3600)) > mostAnHour)
      throw new Failure('rate_limited', 'This endpoint has been requested too many times. Try again later.')
    await tellOfRequest(tx, ctx, membership, asked)
    await emit(tx, { kind: 'access_requested', ...placeOf(holder), actorId: id, payload: { user_id: id } })
    return asked
  })
}

/** Makes a member of whoever asked. The new membership ends the request. */
export async function approveRequest(
  ctx: Ctx,
  { holder }: Asked,
  membership: Membership,
  { userId, level }: { userId: number; level: number },
): Promise<MemberRow> {
  return ctx.transaction(async (tx) => {
    await lockAccess(tx)
    if (!(await findAccessRequest(tx, holder, userId))) throw rowNotFound()
    await admitMember(tx, membership, { userId, level, expiresAt: null, actorId: ctx.actor!.id })
    await tellMember(tx, ctx, membership, 'granted', { userId, level, expiresAt: null })
    return (await findMember(tx, membership, userId))!
  })
}

/** Takes a request back, or denies somebody else's. Who may do neither is not told whether there is one. */
export async function endRequest(
  ctx: Ctx,
  { holder }: Asked,
  membership: Membership,
  userId: number,
  mayManage: boolean,
): Promise<void> {
  const own = ctx.actor!.id === userId
  if (!own && !mayManage) throw forbidden()
  await ctx.transaction(async (tx) => {
    // What is being approved is no longer there to be taken back.
    await lockAccess(tx)
    if (!(await deleteAccessRequest(tx, holder, userId))) throw rowNotFound()
    if (!own) await tellOfDenial(tx, ctx, membership, userId)
    await emit(tx, {
      kind: own ? 'access_request_withdrawn' : 'access_request_denied',
      ...placeOf(holder),
      actorId: ctx.actor!.id,
      payload: { user_id: userId },
    })
  })
}
