import { randomBytes } from 'node:crypto'
import { as, endpoint, variants } from '../../../api/endpoint.ts'
import { fetchPage, fetchStamps } from '../../../api/page.ts'
import {
  File,
  Flag,
  Hash,
  Nullable,
  OneOf,
  Optional,
  Params,
  Text,
  Timestamp,
  Whole,
} from '../../../api/params/types.ts'
import { forbidden, invalidFields, notFound, unauthenticated } from '../../../kernel/failure.ts'
import { instance } from '../../instance/index.ts'
import { acceptAvatar } from '../../namespaces/index.ts'
import { asRefusedEdit, editUser, removeIdentity } from './edit.ts'
import { CurrentUser, keptUserListItems, User, UserAdmin, UserListItem } from './entity.ts'
import { digestPassword } from './password.ts'
import { passwordViolations } from './password-rules.ts'
import { customAttributesOf, findUser, highestRole, listedUserRow, listUsers } from './queries.ts'
import { createUser } from './service.ts'
import { isExternalByDefault } from './sign-up.ts'
import { user } from './subject.ts'

const profileText = (description: string) => Optional(Nullable(Text({ description })))
const minutes = (description: string) => Optional(Nullable(Whole({ minimum: 0, tier: 'starter', description })))

/** Parameters of both create and edit. */
const profileParams = {
  // Beyond the bounds it is a violation of the record, not an invalid parameter.
  projects_limit: Optional(
    Whole({
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Maximum number of personal projects, from 0 to 2147483647',
    }),
  ),
  skype: profileText('Skype name of the user'),
  linkedin: profileText('LinkedIn name of the user'),
  twitter: profileText('Twitter name of the user'),
  website_url: profileText('URL of a website of the user'),
  organization: profileText('Organization of the user'),
  job_title: profileText('Job title of the user'),
  bio: profileText('Text about the user'),
  location: profileText('Place where the user lives or works'),
  public_email: profileText('Public email address; must be an address of the user'),
  note: Optional(Nullable(Text({ tier: 'starter', description: 'Note about the user, for administrators' }))),
  shared_runners_minutes_limit: minutes('Monthly minutes on shared runners'),
  extra_shared_runners_minutes_limit: minutes('Additional minutes on shared runners'),
}

export const userRoutes = [
  endpoint({
    method: 'GET',
    path: '/user',
    summary: 'Get the current user',
    scopes: ['read_user'],
    subject: instance,
    allow: 'know_oneself',
    returns: variants(CurrentUser, UserAdmin),
    async handle({ ctx }) {
      const row = await findUser(ctx.db, ctx.actor!.id)
      if (!row) throw notFound('User')
      return as(row.admin ? UserAdmin : CurrentUser, row)
    },
  }),

  endpoint({
    method: 'GET',
    path: '/users',
    summary: 'List users',
    scopes: ['read_user'],
    subject: instance,
    allow: 'browse_people',
    params: Params(
      {
        search: Optional(
          Text({
            description: 'Part of the name or username, or the whole email address; an empty text matches no user',
            emptyMatches: true,
          }),
        ),
        username: Optional(
          Text({
            description: 'Only the user with this username, whatever its case; an empty text matches no user',
            emptyMatches: true,
          }),
        ),
        active: Optional(Flag({ description: 'Only active users' })),
        blocked: Optional(Flag({ description: 'Only blocked users' })),
        external: Optional(Flag({ description: 'Only external users; for administrators' })),
        extern_uid: Optional(Text({ description: 'User ID at `provider`; for administrators' })),
        provider: Optional(Text({ description: 'Identity provider of `extern_uid`; for administrators' })),
        created_before: Optional(Timestamp({ description: 'Creation time; only users with a public one match' })),
        created_after: Optional(Timestamp({ description: 'Creation time; only users with a public one match' })),
        order_by: Optional(
          OneOf(['id', 'name', 'username', 'created_at', 'updated_at'], {
            description: 'Field to order by; ignored for others than administrators',
          }),
        ),
        sort: Optional(
          OneOf(['asc', 'desc'], { description: 'Sort direction; ignored for others than administrators' }),
        ),
        two_factor: Optional(
          OneOf(['enabled', 'disabled'], {
            description: 'Two-factor authentication enabled or disabled; for administrators',
          }),
        ),
        with_custom_attributes: Flag({ default: false, description: 'Include custom attributes; for administrators' }),
        custom_attributes: Optional(
          Hash(Text(), { maxProperties: 100, description: 'Only with these custom attributes; for administrators' }),
        ),
      },
      { allOrNone: ['extern_uid', 'provider'] },
    ),
    paged: true,
    returns: variants(UserListItem, UserAdmin),
    async handle({ params, page, ctx }) {
      const { actor } = ctx
      const hidden = ctx.settings.restricted_visibility_levels.includes('public')
      if (!actor && (params.username === undefined || hidden)) throw forbidden('Not authorized to access /api/v4/users')
      if (actor?.admin) {
        const options = { customAttributes: params.with_custom_attributes }
        return as(
          UserAdmin,
          await fetchPage(ctx.db, listedUserRow, listUsers({ order_by: 'id', ...params }, options), page),
        )
      }
      if (params.external || params.extern_uid !== undefined) throw actor ? forbidden() : unauthenticated()
      const { search, username, active, blocked, created_before, created_after } = params
      const open = {
        viewer: actor,
        ...(search !== undefined && { search }),
        ...(username !== undefined && { username }),
        ...(active !== undefined && { active }),
        ...(blocked !== undefined && { blocked }),
        ...(created_before !== undefined && { created_before }),
        ...(created_after !== undefined && { created_after }),
      }
      return as(keptUserListItems, await fetchStamps(ctx.db, listUsers(open, 'stamps'), page))
    },
  }),

  endpoint({
    method: 'GET',
    path: '/users/:id',
    summary: 'Get a user',
    scopes: ['read_user'],
    subject: user,
    allow: 'read_user',
    params: Params({
      with_custom_attributes: Flag({ default: false, description: 'Include custom attributes; for administrators' }),
    }),
    returns: variants(User, UserAdmin),
    async handle({ subject, params, ctx }) {
      if (!ctx.actor?.admin) return as(User, subject)
      const [highest_role, attributes] = await Promise.all([
        highestRole(ctx.db, subject.id),
        params.with_custom_attributes ? customAttributesOf(ctx.db, subject.id) : undefined,
      ])
      return as(UserAdmin, { ...subject, highest_role, ...(attributes && { custom_attributes: attributes }) })
    },
  }),

  endpoint({
    method: 'POST',
    path: '/users',
    summary: 'Create a user',
    subject: instance,
    allow: 'administer',
    params: Params(
      {
        email: Text({ description: 'Email address, unique among users' }),
        username: Text({ description: 'Username; also the path of the personal namespace' }),
        name: Text({ description: 'Full name of the user' }),
        password: Optional(Text({ description: 'Password; absent with `reset_password` or `force_random_password`' })),
        reset_password: Optional(Flag({ description: 'Send an email to set a password' })),
        force_random_password: Optional(Flag({ description: 'Sets a random password' })),
        ...profileParams,
        extern_uid: Optional(Text({ description: 'User ID at `provider`' })),
        provider: Optional(Text({ description: 'Identity provider of `extern_uid`' })),
        avatar: Optional(File({ description: 'Image file of the avatar' })),
        admin: Flag({ default: false, description: 'True for an administrator' }),
        can_create_group: Optional(Flag({ description: 'May create top-level groups' })),
        skip_confirmation: Flag({ default: false, description: 'Skip the confirmation of the email address' }),
        external: Optional(
          Flag({ description: 'True for an external user, who sees only projects and groups they are a member of' }),
        ),
        private_profile: Optional(Nullable(Flag({ description: "Hides the user's activity and lists from others" }))),
        theme_id: Whole({ default: 1, description: 'ID of the color theme' }),
        color_scheme_id: Whole({ default: 1, description: 'ID of the syntax highlighting scheme' }),
      },
      { atLeastOneOf: ['password', 'reset_password', 'force_random_password'], allOrNone: ['extern_uid', 'provider'] },
    ),
    returns: UserAdmin,
    async handle({ params, ctx }) {
      const external = params.external ?? isExternalByDefault(params.email, ctx.settings)
      const chosen = params.force_random_password || params.reset_password ? undefined : params.password
      const random = params.force_random_password || params.reset_password
      const violations = random ? [] : passwordViolations(chosen ?? '', ctx.settings)
      if (violations.length > 0) throw invalidFields({ password: violations })
      const publicEmail = params.public_email ?? ''
      const isOwn = params.skip_confirmation && publicEmail.toLowerCase() === params.email.toLowerCase()
      if (publicEmail !== '' && !isOwn) throw invalidFields({ public_email: ['is not an email you own'] })
      return createUser(
        ctx,
        {
          ...params,
          passwordDigest: await digestPassword(chosen ?? randomBytes(24).toString('base64url')),
          external,
          // External users can create neither, whatever the request says.
          can_create_group: !external && (params.can_create_group ?? true),
          projects_limit: external ? 0 : (params.projects_limit ?? ctx.settings.default_projects_limit),
          private_profile: params.private_profile ?? false,
          confirmed: params.skip_confirmation,
          bio: params.bio ?? null,
          location: params.location ?? null,
          organization: params.organization ?? null,
          job_title: params.job_title ?? '',
          note: params.note ?? null,
          public_email: publicEmail,
          skype: params.skype ?? '',
          linkedin: params.linkedin ?? '',
          twitter: params.twitter ?? '',
          website_url: params.website_url ?? '',
          shared_runners_minutes_limit: params.shared_runners_minutes_limit ?? null,
          extra_shared_runners_minutes_limit: params.extra_shared_runners_minutes_limit ?? null,
        },
        {
          identity: params,
          avatar: await acceptAvatar(ctx, params.avatar),
          choosesPassword: params.reset_password ?? false,
        },
      )
    },
  }),

  endpoint({
    method: 'PUT',
    path: '/users/:id',
    summary: 'Update a user',
    subject: user,
    allow: 'admin_user',
    params: Params(
      {
        email: Optional(Text({ description: 'Email address; takes effect after confirmation' })),
        skip_reconfirmation: Flag({ default: false, description: 'Skip the confirmation of the new email address' }),
        username: Optional(Text({ description: 'Username; also the path of the personal namespace' })),
        name: Optional(Text({ description: 'Full name of the user' })),
        password: Optional(Text({ description: 'Password, to be changed at the next sign-in' })),
        reset_password: Optional(Flag({ description: 'Send an email to set a password' })),
        ...profileParams,
        extern_uid: Optional(Text({ description: 'User ID at `provider`' })),
        provider: Optional(Text({ description: 'Identity provider of `extern_uid`' })),
        group_id_for_saml: Optional(
          Whole({ maximum: Number.MAX_SAFE_INTEGER, description: 'Group with the SAML provider' }),
        ),
        avatar: Optional(Nullable(File({ description: 'Image file of the avatar' }))),
        admin: Optional(Flag({ description: 'True for an administrator' })),
        can_create_group: Optional(Flag({ description: 'May create top-level groups' })),
        external: Optional(
          Flag({ description: 'True for an external user, who sees only projects and groups they are a member of' }),
        ),
        private_profile: Optional(Nullable(Flag({ description: "Hides the user's activity and lists from others" }))),
        commit_email: Optional(
          Nullable(
            Text({
              description:
                'Email address for commits: an address of the user, or `_private` for a private no-reply address',
            }),
          ),
        ),
        theme_id: Optional(Whole({ description: 'ID of the color theme' })),
        color_scheme_id: Optional(Whole({ description: 'ID of the syntax highlighting scheme' })),
      },
      { allOrNone: ['extern_uid', 'provider'] },
    ),
    returns: UserAdmin,
    handle: ({ subject, params, ctx }) => editUser(ctx, subject, params).catch(asRefusedEdit),
  }),

  endpoint({
    method: 'DELETE',
    path: '/users/:id/identities/:provider',
    summary: 'Delete an identity of a user',
    description: 'Unlinks the account of an external sign-in provider.',
    subject: user,
    allow: 'admin_user',
    params: Params({ provider: Text({ description: 'Name of the provider' }) }),
    returns: null,
    handle: ({ subject, params, ctx }) => removeIdentity(ctx, subject, params.provider),
  }),
]
