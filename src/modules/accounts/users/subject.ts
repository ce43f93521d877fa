import { Type } from 'typebox'
import { visibilities } from '../../../access/levels.ts'
import type { Facts } from '../../../access/policy.ts'
import { userPolicy } from '../../../access/user-policy.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { subject } from '../../../api/endpoint.ts'
import { Id, Params } from '../../../api/params/types.ts'
import { forbidden, unauthenticated } from '../../../kernel/failure.ts'
import { findUser, findUserByName, type UserRow } from './queries.ts'

export type UserSubject = UserRow & { facts: Facts }

/** Users are public unless the `public` visibility is restricted; then only signed-in users see them. */
const arePeoplePublic = ({ settings }: Ctx): boolean => !settings.restricted_visibility_levels.includes('public')

/** Throws `unauthenticated` for anonymous callers where users are not public. */
export function requireVisiblePeople(ctx: Ctx): void {
  if (ctx.actor === null && !arePeoplePublic(ctx)) throw unauthenticated()
}

/** Whether the profile is private for the caller. `openTo` (queries.ts) is its SQL twin. */
export const isPrivateTo = (
  { actor }: Ctx,
  { id, private_profile }: Pick<UserRow, 'id' | 'private_profile'>,
): boolean => private_profile && actor?.id !== id && !actor?.admin

/** Throws `forbidden` for the account to which the content of deleted users belongs. It never acts. */
export function refuseGhost({ kind }: { readonly kind: string }): void {
  if (kind === 'ghost') throw forbidden('This action cannot be performed on internal users')
}

const factsOf = (ctx: Ctx): Facts => ({
  visibility: arePeoplePublic(ctx) ? visibilities.public : visibilities.internal,
  level: 0,
  features: {},
  flags: { signed_in: ctx.actor !== null },
})

const withFacts = (row: UserRow | undefined, ctx: Ctx): UserSubject | undefined =>
  row && { ...row, facts: factsOf(ctx) }

/** A user by id. */
export const user = subject({
  what: 'User',
  params: Params({ id: Id({ description: 'ID of the user' }) }),
  policy: userPolicy,
  visible: 'read_user',
  load: async ({ id }, ctx) => withFacts(await findUser(ctx.db, id), ctx),
})

/** A user by id (digits only) or name, ignoring case. */
export const userByIdOrName = subject({
  what: 'User',
  params: Type.Object({ user_id: Type.String({ description: 'User ID or username' }) }),
  policy: userPolicy,
  visible: 'read_user',
  load: async ({ user_id }, ctx) =>
    withFacts(
      await (/^\d{1,15}$/.test(user_id) ? findUser(ctx.db, Number(user_id)) : findUserByName(ctx.db, user_id)),
      ctx,
    ),
})
