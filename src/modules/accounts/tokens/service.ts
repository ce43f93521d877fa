import type { Actor } from '../../../access/actor.ts'
import { isScope, type Scope } from '../../../access/scopes.ts'
import type { Ctx } from '../../../api/ctx.ts'
import type { Tx } from '../../../db/db.ts'
import type { DateOnly } from '../../../db/types.ts'
import type { EventPlace } from '../../../events/catalogue.ts'
import { emit } from '../../../events/log.ts'
import { inadmissible, invalidFields } from '../../../kernel/failure.ts'
import { digestOf, newSecret } from '../../../kernel/token-secret.ts'
import { blank, tooLong } from '../../../kernel/violations.ts'
import { accessTokenMail } from '../users/mails.ts'
import { sendNotice } from '../users/notices.ts'
import {
  copyLimits,
  findRevokedFamily,
  foundFamily,
  getToken,
  insertToken,
  limitToGroups,
  limitToProjects,
  lockFamily,
  lockFamilyOf,
  lockToken,
  revokeFamily,
  revokeToken,
  type TokenKind,
  type TokenRow,
} from './queries.ts'

const maxNameLength = 255

/** Validates the scopes of a new token; throws `invalid` with the field. */
export function tokenScopes(names: readonly string[], admin: boolean): Scope[] {
  if (names.length === 0) throw invalidFields({ scopes: [blank] })
  const known = [...new Set(names)].filter(isScope)
  // Only administrators may act for others, so only they may use `sudo`.
  if (known.length < new Set(names).size || (known.includes('sudo') && !admin))
    throw invalidFields({ scopes: ['can only contain available scopes'] })
  return known
}

/** Scopes that `api` includes. */
const insideApi = new Set<Scope>([
  'read_api',
  'read_user',
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
])

/** Whether a token with these scopes grants no more than the caller's token. */
export const mayGive = ({ scopes: held }: Actor, wanted: readonly Scope[]): boolean =>
  held === undefined || wanted.every((scope) => held.has(scope) || (held.has('api') && insideApi.has(scope)))

/** Scopes of a token that is created with another: at most those of that token, and never `sudo`. */
export function ownTokenScopes(names: readonly string[], actor: Actor): Scope[] {
  const wanted = tokenScopes(names, false)
  if (!mayGive(actor, wanted)) throw invalidFields({ scopes: ['can only contain available scopes'] })
  return wanted
}

const lastDay = Date.UTC(9999, 11, 31)
const dayIn = (days: number): DateOnly =>
  new Date(Math.min(Date.now() + days * 86_400_000, lastDay)).toISOString().slice(0, 10)

/** Expiry date of a new token: the requested day, within the maximum lifetime of the settings. */
export function tokenExpiry(ctx: Ctx, wanted: DateOnly | null): DateOnly | null {
  const maxDays = ctx.settings.max_personal_access_token_lifetime
  if (maxDays === null) return wanted
  const latest = dayIn(maxDays)
  if (wanted !== null && wanted > latest) throw invalidFields({ expires_at: [`must be before ${dayIn(maxDays + 1)}`] })
  return wanted ?? latest
}

export type Limits = { readonly projectIds: readonly number[]; readonly groupIds: readonly number[] }

export type NewTokenRequest = {
  readonly kind: Exclude<TokenKind, 'oauth'>
  readonly userId: number
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: DateOnly | null
  /** Projects and groups that the token is limited to. Those in which the user has no level are refused. */
  readonly limits?: Limits | undefined
  /** Chosen by an operator; otherwise random. */
  readonly secret?: string
}

/** Creates a token. Its secret is returned once: only the digest is stored. */
export async function createToken(tx: Tx, request: NewTokenRequest): Promise<TokenRow & { token: string }> {
  const { limits, secret = newSecret() } = request
  if (request.name.trim() === '') throw invalidFields({ name: [blank] })
  if ([...request.name].length > maxNameLength) throw invalidFields({ name: [tooLong(maxNameLength)] })
  const id = await insertToken(tx, {
    ...request,
    digest: digestOf(secret),
    limited: limits !== undefined,
    familyId: null,
  })
  if (limits) await limit(tx, id, request.userId, limits)
  return { ...(await getToken(tx, id))!, token: secret }
}

async function limit(tx: Tx, tokenId: number, userId: number, { projectIds, groupIds }: Limits): Promise<void> {
  const [projects, groups] = [new Set(projectIds), new Set(groupIds)]
  if ((await limitToProjects(tx, tokenId, userId, [...projects])) < projects.size)
    throw invalidFields({ project_ids: ['can only contain projects in which the person has a role'] })
  if ((await limitToGroups(tx, tokenId, userId, [...groups])) < groups.size)
    throw invalidFields({ group_ids: ['can only contain groups in which the person has a role'] })
}

/** As `createToken`, in its own transaction, and emits an event of the caller. */
export const createTokenAs = (ctx: Ctx, request: NewTokenRequest): Promise<TokenRow & { token: string }> =>
  ctx.transaction(async (tx) => {
    const made = await createToken(tx, request)
    // The insert waits for changes of the account.
    await tx.requirePermission?.()
    await record(tx, ctx, 'access_token_created', made)
    if (made.kind === 'personal') await sendNotice(tx, ctx, made.user_id, accessTokenMail(made.name))
    return made
  })

const record = (
  tx: Tx,
  ctx: Ctx,
  kind: 'access_token_created' | 'access_token_rotated' | 'access_token_revoked',
  { id, kind: tokenKind, name, user_id, scopes, expires_at }: TokenRow,
  place: EventPlace = {},
) =>
  emit(tx, {
    kind,
    ...place,
    actorId: ctx.actor?.id ?? null,
    payload: { user_id, token_id: id },
    facts: { token_kind: tokenKind, name, scopes, expires_at },
  })

/** Revokes a token and emits an event; no effect if it is revoked already. */
export async function endToken(tx: Tx, ctx: Ctx, token: TokenRow): Promise<void> {
  // Before the revocation: it may be the token of the request.
  await lockToken(tx, token.id)
  await tx.requirePermission?.()
  if (await revokeToken(tx, token.id)) await record(tx, ctx, 'access_token_revoked', token)
}

/** Default lifetime of a rotated token in days. */
const rotatedDays = 7

/** Rotates a usable token: revokes it and returns its replacement. `place` is the project or group of the event. */
export async function rotateToken(
  ctx: Ctx,
  id: number,
  expiresAt: DateOnly | undefined,
  place?: EventPlace,
): Promise<TokenRow & { token: string }> {
  const expires = tokenExpiry(ctx, expiresAt ?? dayIn(Math.min(rotatedDays, lifetimeOf(ctx))))
  if (expires !== null && expires <= dayIn(0)) throw invalidFields({ expires_at: ['must be in the future'] })
  const secret = newSecret()
  const made = await ctx.transaction(async (tx) => {
    await lockFamilyOf(tx, id)
    const held = await lockToken(tx, id)
    if (!held?.active) throw inadmissible('Token already revoked')
    await tx.requirePermission?.()
    const newId = await insertToken(tx, {
      kind: held.kind as Exclude<TokenKind, 'oauth'>,
      userId: held.user_id,
      name: held.name,
      digest: digestOf(secret),
      scopes: held.scopes,
      expiresAt: expires,
      limited: held.limited_to !== null,
      familyId: await foundFamily(tx, id),
    })
    await copyLimits(tx, id, newId)
    await revokeToken(tx, id)
    const row = (await getToken(tx, newId))!
    await record(tx, ctx, 'access_token_rotated', row, place)
    return row
  })
  return { ...made, token: secret }
}

const lifetimeOf = (ctx: Ctx): number => ctx.settings.max_personal_access_token_lifetime ?? Number.POSITIVE_INFINITY

/** Revokes all tokens of a family, because one of them is compromised. */
export async function endFamily(tx: Tx, familyId: number): Promise<void> {
  await lockFamily(tx, familyId)
  const userId = await revokeFamily(tx, familyId)
  if (userId !== undefined)
    await emit(tx, { kind: 'access_token_reused', actorId: null, payload: { user_id: userId, family_id: familyId } })
}

/** Called when a revoked token is used for rotation: if it was rotated before, revokes its family. */
export async function refuseReuse(ctx: Ctx, secret: string): Promise<void> {
  const familyId = await findRevokedFamily(ctx.db, digestOf(secret))
  if (familyId !== undefined) await ctx.transaction((tx) => endFamily(tx, familyId))
}
