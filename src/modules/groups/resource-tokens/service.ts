import { randomBytes } from 'node:crypto'
import { levels } from '../../../access/levels.ts'
import type { Scope } from '../../../access/scopes.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import { emit } from '../../../events/log.ts'
import { forbidden, inadmissible, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { createToken, insertBot, rotateToken } from '../../accounts/index.ts'
import { insertUserNamespace, lockAccess, namespacePlaced } from '../../namespaces/index.ts'
import { placeOf } from '../holders/holder.ts'
import { admitMember, isStorable, type Membership } from '../members/service.ts'
import { closeAccounts } from '../user-removal/service.ts'
import { assignBot, findResourceToken, type ResourceTokenRow, type TokenHolder } from './queries.ts'

/** Where a token belongs, with the caller's level there. */
export type Place = { readonly holder: TokenHolder; readonly membership: Membership; readonly level: number }

export type ResourceTokenWish = {
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly level: number
  readonly expiresAt: DateOnly | null
}

export async function getResourceToken(ctx: Ctx, { holder }: Place, id: number): Promise<ResourceTokenRow> {
  const row = await findResourceToken(ctx.db, holder, id)
  if (!row) throw rowNotFound()
  return row
}

/** A token of a project or group: acts as a bot that is made for it, a member with the role asked for. Shown once. */
export async function createResourceToken(
  ctx: Ctx,
  { holder, membership, level }: Place,
  wish: ResourceTokenWish,
): Promise<ResourceTokenRow & { token: string }> {
  const actor = ctx.actor!
  // A token that makes others would outlive being revoked.
  if (actor.bot) throw forbidden()
  if (!isStorable(membership, wish.level)) throw invalidFields({ access_level: ['is not included in the list'] })
  if (!actor.admin && wish.level > level)
    throw inadmissible("Access level of the token can't be greater the access level of the user who created the token")
  return ctx.transaction(async (tx) => {
    await lockAccess(tx)
    const userId = await makeBot(tx, ctx, holder, wish.name)
    // It is no person whom a lock of members keeps out.
    await admitMember(
      tx,
      { ...membership, locked: false },
      { userId, level: wish.level, expiresAt: null, actorId: actor.id, bot: true },
    )
    const made = await createToken(tx, { ...wish, kind: 'resource', userId })
    await emit(tx, {
      kind: 'resource_access_token_created',
      ...placeOf(holder),
      actorId: actor.id,
      payload: { token_id: made.id },
      facts: { name: wish.name, access_level: wish.level, scopes: wish.scopes },
    })
    return { ...made, access_level: wish.level }
  })
}

async function makeBot(tx: Tx, ctx: Ctx, holder: TokenHolder, name: string): Promise<number> {
  const username = `${holder.of}_${holder.id}_bot_${randomBytes(16).toString('hex')}`
  const userId = await insertBot(tx, { username, name, email: `${username}@noreply.${ctx.site.host}` })
  const namespaceId = await insertUserNamespace(tx, userId, username, name)
  await namespacePlaced(tx, namespaceId!)
  await assignBot(tx, userId, holder)
  return userId
}

/** Revokes a token; its bot goes with it. */
export async function endResourceToken(ctx: Ctx, { holder }: Place, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    const row = await findResourceToken(tx, holder, id)
    if (!row) throw rowNotFound()
    await closeAccounts(tx, [row.user_id], false)
    await emit(tx, {
      kind: 'resource_access_token_revoked',
      ...placeOf(holder),
      actorId: ctx.actor?.id ?? null,
      payload: { token_id: id },
    })
  })
}

/** Puts another token of the same bot in the place of one. */
export async function rotateResourceToken(
  ctx: Ctx,
  place: Place,
  id: number,
  expiresAt: DateOnly | undefined,
): Promise<ResourceTokenRow & { token: string }> {
  const { access_level, user_id } = await getResourceToken(ctx, place, id)
  const actor = ctx.actor!
  // A bot that had the token of another would outlive being revoked.
  if (actor.bot && actor.id !== user_id) throw forbidden()
  // Its successor would do what the caller may not.
  if (!actor.admin && (access_level ?? levels.none) > place.level) throw forbidden()
  return { ...(await rotateToken(ctx, id, expiresAt, placeOf(place.holder))), access_level }
}
