import { randomBytes } from 'node:crypto'
import { levels } from '../../../access/levels.ts'
import type { Scope } from '../../../access/scopes.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import { emit } from '../../../events/log.ts'
import { forbidden, inadmissible, invalidFields, rowNotFound } from '../../../kernel/failure.ts'
import { createToken, insertBot, lockFamilyOf, revokeToken, rotateToken } from '../../accounts/index.ts'
import { insertUserNamespace, lockAccess, namespacePlaced } from '../../namespaces/index.ts'
import { placeOf } from '../holders/holder.ts'
import { admitMember, emitAllRemoved, isStorable, lockMembership, type Membership } from '../members/service.ts'
import { closeAccounts } from '../user-removal/service.ts'
import { assignBot, findResourceToken, hasUsableToken, type ResourceTokenRow, type TokenHolder } from './queries.ts'

/** Project or group of a token, with the caller's level there. */
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

/**
 * Creates a token of a project or group: it acts as a new bot, a member with the requested role. The secret is returned
 * once.
 */
export async function createResourceToken(
  ctx: Ctx,
  { holder, membership, level }: Place,
  request: ResourceTokenWish,
): Promise<ResourceTokenRow & { token: string }> {
  const actor = ctx.actor!
  // A token created by a bot would survive revocation of the bot's own token.
  if (actor.bot) throw forbidden()
  if (!isStorable(membership, request.level)) throw invalidFields({ access_level: ['is not included in the list'] })
  if (!actor.admin && request.level > level)
    throw inadmissible("Access level of the token can't be greater the access level of the user who created the token")
  return ctx.transaction(async (tx) => {
    const held = await lockMembership(tx, ctx.plan, membership)
    const userId = await makeBot(tx, ctx, holder, request.name)
    // A bot is not a person, so the lock of members does not apply.
    await admitMember(
      tx,
      { ...held, locked: false },
      { userId, level: request.level, expiresAt: null, actorId: actor.id, bot: true },
    )
    const made = await createToken(tx, { ...request, kind: 'resource', userId })
    await emit(tx, {
      kind: 'resource_access_token_created',
      ...placeOf(holder),
      actorId: actor.id,
      payload: { token_id: made.id },
      facts: { name: request.name, access_level: request.level, scopes: request.scopes },
    })
    return { ...made, access_level: request.level }
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

/** Revokes a token, and closes the account of its bot unless this has another usable one. No effect on a token that was rotated. */
export async function endResourceToken(ctx: Ctx, { holder }: Place, id: number): Promise<void> {
  await ctx.transaction(async (tx) => {
    await lockAccess(tx)
    // A rotation, which does not wait for the lock of access, replaces the token.
    await lockFamilyOf(tx, id)
    const row = await findResourceToken(tx, holder, id)
    if (!row) throw rowNotFound()
    const actorId = ctx.actor?.id ?? null
    const isRevoked = await revokeToken(tx, id)
    if (!(await hasUsableToken(tx, row.user_id)))
      await emitAllRemoved(tx, await closeAccounts(tx, [row.user_id], false), { actorId, bot: true })
    if (!isRevoked) return
    await emit(tx, {
      kind: 'resource_access_token_revoked',
      ...placeOf(holder),
      actorId,
      payload: { token_id: id },
    })
  })
}

/** Rotates a token; the bot stays the same. */
export async function rotateResourceToken(
  ctx: Ctx,
  place: Place,
  id: number,
  expiresAt: DateOnly | undefined,
): Promise<ResourceTokenRow & { token: string }> {
  const { access_level, user_id } = await getResourceToken(ctx, place, id)
  const actor = ctx.actor!
  // With the token of another bot, a bot would survive revocation of its own token.
  if (actor.bot && actor.id !== user_id) throw forbidden()
  // The new token would have rights that the caller lacks.
  if (!actor.admin && (access_level ?? levels.none) > place.level) throw forbidden()
  return { ...(await rotateToken(ctx, id, expiresAt, placeOf(place.holder))), access_level }
}
