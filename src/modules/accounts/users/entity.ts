import { Type } from 'typebox'
import { memberLevels } from '../../../access/levels.ts'
import { cachedRecords } from '../../../api/cached-records.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { entity } from '../../../api/entity.ts'
import { cacheableEntity, type RecordView } from '../../../api/record-view.ts'
import { accessLevel, dateOnly, nullable, timestamp } from '../../../api/schema.ts'
import { avatarUrl } from '../../namespaces/index.ts'
import { commitEmail } from './commit-email.ts'
import { type CustomAttribute, findReferences, type UserReferenceRow, type UserRow, type UserStamp } from './queries.ts'
import { isPrivateTo } from './subject.ts'

/** Field of users, groups and projects. */
export const customAttributes = Type.Optional(
  Type.Array(
    Type.Object(
      {
        key: Type.String({ description: 'Name of the attribute' }),
        value: Type.String({ description: 'Value of the attribute' }),
      },
      { title: 'CustomAttribute' },
    ),
    { description: 'Custom attributes; present with `with_custom_attributes=true`' },
  ),
)

const reference = {
  id: Type.Integer({ description: 'ID of the user' }),
  name: Type.String({ description: 'Full name of the user' }),
  username: Type.String({ description: 'Username, unique on the instance' }),
  state: Type.String({
    description: 'State of the account; only `active` accounts can sign in',
    enum: ['active', 'blocked', 'ldap_blocked', 'deactivated', 'banned'],
  }),
  avatar_url: nullable(Type.String(), { description: 'URL of the avatar; null if there is none' }),
  web_url: Type.String({ description: 'URL of the profile page' }),
}

export const UserReferenceSchema = Type.Object(reference, { title: 'UserReference' })

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
  bio: nullable(Type.String(), { description: 'Text about the user; null if it was never set' }),
  location: nullable(Type.String(), { description: 'Place, as the user entered it; null if it was never set' }),
  public_email: Type.String({ description: 'Email address on the profile; empty if none is public' }),
  skype: Type.String({ description: 'Skype name; may be empty' }),
  linkedin: Type.String({ description: 'LinkedIn name; may be empty' }),
  twitter: Type.String({ description: 'Twitter name; may be empty' }),
  website_url: Type.String({ description: "URL of the user's website; may be empty" }),
  organization: nullable(Type.String(), { description: 'Organization; null if it was never set' }),
  job_title: Type.String({ description: 'Job title; may be empty' }),
  bot: Type.Boolean({ description: 'True for the user of a project or group access token' }),
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
  last_sign_in_at: nullable(timestamp(), {
    description: 'Time of the sign-in before the current one; null if there is none',
  }),
  confirmed_at: nullable(timestamp(), {
    description: 'Time at which the email address was confirmed; null until then',
  }),
  last_activity_on: nullable(dateOnly(), { description: 'Day of the last activity, in UTC; null if there is none' }),
  email: Type.String({ description: 'Primary email address' }),
  commit_email: Type.String({ description: 'Address of the author in commits that are made through the API' }),
  theme_id: Type.Integer({ description: 'Number of the color theme' }),
  color_scheme_id: Type.Integer({ description: 'Number of the syntax highlighting scheme' }),
  projects_limit: Type.Integer({ description: 'Maximum number of personal projects' }),
  current_sign_in_at: nullable(timestamp(), { description: 'Time of the latest sign-in; null if there is none' }),
  identities: Type.Array(
    Type.Object(
      {
        provider: Type.String({ description: 'Name of the sign-in provider' }),
        extern_uid: Type.String({ description: 'ID of the user at the provider' }),
        saml_provider_id: Type.Optional(nullable(Type.Integer({ description: 'ID of the group SAML provider' }))),
      },
      { title: 'UserIdentity' },
    ),
    { description: 'Identities with external sign-in providers' },
  ),
  can_create_group: Type.Boolean({ description: 'True if the user may create top-level groups' }),
  can_create_project: Type.Boolean({ description: 'True if the user may create personal projects' }),
  two_factor_enabled: Type.Boolean({ description: 'True if sign-in requires a second factor' }),
  external: Type.Boolean({
    description: 'True for an external user, who sees only projects and groups they are a member of',
  }),
  private_profile: Type.Boolean({ description: "True if the user's activity and lists are hidden from others" }),
  shared_runners_minutes_limit: Type.Optional(
    nullable(Type.Integer(), {
      description: 'Limit of CI minutes per month; null for the default of the instance',
      tier: 'starter',
    }),
  ),
  extra_shared_runners_minutes_limit: Type.Optional(
    nullable(Type.Integer(), {
      description: 'Additional CI minutes per month; null if there are none',
      tier: 'starter',
    }),
  ),
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

/** Fields for administrators. */
export const UserAdmin = entity({
  name: 'UserAdmin',
  schema: Type.Object({
    ...account,
    is_admin: Type.Boolean({ description: 'True for administrators' }),
    current_sign_in_ip: nullable(Type.String(), {
      description: 'IP address of the latest sign-in; null if there is none',
    }),
    last_sign_in_ip: nullable(Type.String(), {
      description: 'IP address of the sign-in before the current one; null if there is none',
    }),
    note: Type.Optional(
      nullable(Type.String(), {
        description: 'Note of administrators about the user; null if there is none',
        tier: 'starter',
      }),
    ),
    highest_role: Type.Optional(
      accessLevel('Highest access level in any project or group, only for a single user', [0, ...memberLevels]),
    ),
    custom_attributes: customAttributes,
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
