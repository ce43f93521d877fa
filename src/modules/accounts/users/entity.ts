import { Type } from 'typebox'
import { cachedRecords } from '../../../api/cached-records.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { cacheableEntity, type RecordView } from '../../../api/record-view.ts'
import { dateOnly, nullable, timestamp } from '../../../api/schema.ts'
import { avatarUrl } from '../../namespaces/index.ts'
import { commitEmail } from './commit-email.ts'
import { type CustomAttribute, findReferences, type UserReferenceRow, type UserRow, type UserStamp } from './queries.ts'
import { isPrivateTo } from './subject.ts'

const reference = {
  id: Type.Integer(),
  name: Type.String(),
  username: Type.String(),
  state: Type.String({ enum: ['active', 'blocked', 'ldap_blocked', 'deactivated', 'banned'] }),
  avatar_url: nullable(Type.String()),
  web_url: Type.String(),
}

export const UserReferenceSchema = Type.Object(reference)

/** A user as embedded in other records. */
export const userReference = (user: UserReferenceRow, ctx: Pick<RecordView, 'site' | 'settings'>) => ({
  id: user.id,
  name: user.name,
  username: user.username,
  state: user.state,
  avatar_url: avatarUrl(user, ctx),
  web_url: `${ctx.site.url}/${user.username}`,
})

export const UserListItem = cacheableEntity({
  name: 'UserListItem',
  schema: Type.Object(reference),
  present: (user: UserReferenceRow, view) => userReference(user, view),
})

/** The same, cached as text. */
export const keptUserListItems = cachedRecords<UserStamp, UserReferenceRow & UserStamp>({
  entity: UserListItem,
  stamp: ({ stamp }) => stamp,
  load: (ids, { db }) => findReferences(db, ids),
})

const profile = {
  ...reference,
  created_at: Type.Optional(timestamp('Absent for private profiles of other users')),
  bio: nullable(Type.String()),
  location: nullable(Type.String()),
  public_email: Type.String(),
  skype: Type.String(),
  linkedin: Type.String(),
  twitter: Type.String(),
  website_url: Type.String(),
  organization: nullable(Type.String()),
  job_title: Type.String(),
  bot: Type.Boolean(),
}

const profileOf = (user: UserRow, ctx: Ctx) => ({
  ...userReference(user, ctx),
  ...(isPrivateTo(ctx, user) ? {} : { created_at: user.created_at }),
  bio: user.bio,
  location: user.location,
  public_email: user.public_email,
  skype: user.skype,
  linkedin: user.linkedin,
  twitter: user.twitter,
  website_url: user.website_url,
  organization: user.organization,
  job_title: user.job_title,
  bot: user.kind === 'bot',
})

export const User = entity({
  name: 'User',
  schema: Type.Object(profile),
  present: (user: UserRow, ctx) => profileOf(user, ctx),
})

const account = {
  ...profile,
  last_sign_in_at: nullable(timestamp()),
  confirmed_at: nullable(timestamp()),
  last_activity_on: nullable(dateOnly()),
  email: Type.String(),
  commit_email: Type.String({ description: 'What commits say that are made here' }),
  theme_id: Type.Integer(),
  color_scheme_id: Type.Integer(),
  projects_limit: Type.Integer(),
  current_sign_in_at: nullable(timestamp()),
  identities: Type.Array(
    Type.Object({
      provider: Type.String(),
      extern_uid: Type.String(),
      saml_provider_id: Type.Optional(nullable(Type.Integer({ description: 'ID of the group SAML provider' }))),
    }),
  ),
  can_create_group: Type.Boolean(),
  can_create_project: Type.Boolean(),
  two_factor_enabled: Type.Boolean(),
  external: Type.Boolean(),
  private_profile: Type.Boolean(),
  shared_runners_minutes_limit: Type.Optional(nullable(Type.Integer(), { tier: 'starter' })),
  extra_shared_runners_minutes_limit: Type.Optional(nullable(Type.Integer(), { tier: 'starter' })),
}

const accountOf = (user: UserRow, ctx: Ctx) => ({
  ...profileOf(user, ctx),
  last_sign_in_at: user.last_sign_in_at,
  confirmed_at: user.confirmed_at,
  last_activity_on: user.last_activity_on,
  email: user.email,
  commit_email: commitEmail(user, user.commit_email, ctx),
  theme_id: user.theme_id,
  color_scheme_id: user.color_scheme_id,
  projects_limit: user.projects_limit,
  current_sign_in_at: user.current_sign_in_at,
  identities: user.identities.map(({ provider, extern_uid, saml_provider_id }) =>
    provider === 'group_saml' ? { provider, extern_uid, saml_provider_id } : { provider, extern_uid },
  ),
  can_create_group: user.can_create_group,
  can_create_project: user.projects_limit > 0,
  two_factor_enabled: user.two_factor_enabled,
  external: user.external,
  private_profile: user.private_profile,
  shared_runners_minutes_limit: user.shared_runners_minutes_limit,
  extra_shared_runners_minutes_limit: user.extra_shared_runners_minutes_limit,
})

/** The caller's own record. */
export const CurrentUser = entity({
  name: 'CurrentUser',
  schema: Type.Object(account),
  present: (user: UserRow, ctx) => accountOf(user, ctx),
})

/** What administrators see. */
export const UserAdmin = entity({
  name: 'UserAdmin',
  schema: Type.Object({
    ...account,
    is_admin: Type.Boolean(),
    current_sign_in_ip: nullable(Type.String()),
    last_sign_in_ip: nullable(Type.String()),
    note: Type.Optional(nullable(Type.String(), { tier: 'starter' })),
    highest_role: Type.Optional(Type.Integer({ description: 'Highest role; present for a single user only' })),
    custom_attributes: Type.Optional(Type.Array(Type.Object({ key: Type.String(), value: Type.String() }))),
  }),
  present: (user: UserRow & { highest_role?: number; custom_attributes?: CustomAttribute[] }, ctx) => ({
    ...accountOf(user, ctx),
    is_admin: user.admin,
    current_sign_in_ip: user.current_sign_in_ip,
    last_sign_in_ip: user.last_sign_in_ip,
    note: user.note,
    ...(user.highest_role !== undefined && { highest_role: user.highest_role }),
    ...(user.custom_attributes && { custom_attributes: user.custom_attributes }),
  }),
})
