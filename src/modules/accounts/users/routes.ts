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
import { editUser, removeIdentity } from './edit.ts'
import { CurrentUser, keptUserListItems, User, UserAdmin, UserListItem } from './entity.ts'
import { digestPassword } from './password.ts'
import { passwordComplaints } from './password-rules.ts'
import { customAttributesOf, findUser, highestRole, listUsers } from './queries.ts'
import { createUser } from './service.ts'
import { isExternalByDefault } from './sign-up.ts'
import { user } from './subject.ts'

const profileText = (description: string) => Optional(Nullable(Text({ description })))
const minutes = (description: string) => Optional(Nullable(Whole({ minimum: 0, tier: 'starter', description })))

/** What create and edit take alike. */
const profileParams = {
  skype: profileText('Skype'),
  linkedin: profileText('LinkedIn'),
  twitter: profileText('Twitter'),
  website_url: profileText('Web site'),
  organization: profileText('Organisation'),
  job_title: profileText('Job title'),
  bio: profileText('About the person'),
  location: profileText('Place'),
  public_email: profileText('E-mail address shown to all; must be his own'),
  note: Optional(Nullable(Text({ tier: 'starter', description: 'For administrators' }))),
  shared_runners_minutes_limit: minutes('Minutes on shared runners'),
  extra_shared_runners_minutes_limit: minutes('Further minutes on shared runners'),
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
        search: Optional(Text({ description: 'Part of the name or user name, or the whole e-mail address' })),
        username: Optional(Text({ description: 'The user name, in any case' })),
        active: Optional(Flag({ description: 'Only active people' })),
        blocked: Optional(Flag({ description: 'Only blocked people' })),
        external: Optional(Flag({ description: 'Only external people; administrators' })),
        extern_uid: Optional(Text({ description: 'Account at `provider`; administrators' })),
        provider: Optional(Text({ description: 'Provider of `extern_uid`; administrators' })),
        created_before: Optional(Timestamp({ description: 'Of those who show when they came' })),
        created_after: Optional(Timestamp({ description: 'Of those who show when they came' })),
        order_by: Optional(
          OneOf(['id', 'name', 'username', 'created_at', 'updated_at'], { description: 'Administrators' }),
        ),
        sort: Optional(OneOf(['asc', 'desc'], { description: 'Administrators' })),
        two_factor: Optional(
          OneOf(['enabled', 'disabled'], { description: 'With or without a second factor; administrators' }),
        ),
        with_custom_attributes: Flag({ default: false, description: 'Show custom attributes; administrators' }),
        custom_attributes: Optional(
          Hash(Text(), { maxProperties: 100, description: 'With these attributes; administrators' }),
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
        return as(UserAdmin, await fetchPage(ctx.db, listUsers({ order_by: 'id', ...params }, options), page))
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
      with_custom_attributes: Flag({ default: false, description: 'Show custom attributes; administrators' }),
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
        email: Text({ description: 'E-mail address, of one person only' }),
        username: Text({ description: 'Also the path of the personal namespace' }),
        name: Text({ description: 'Name' }),
        password: Optional(Text({ description: 'Password' })),
        reset_password: Optional(Flag({ description: 'The person chooses a password by mail' })),
        force_random_password: Optional(Flag({ description: 'A password nobody knows' })),
        ...profileParams,
        projects_limit: Optional(Whole({ minimum: 0, description: 'Personal projects he may have' })),
        extern_uid: Optional(Text({ description: 'Account at `provider`' })),
        provider: Optional(Text({ description: 'Provider of `extern_uid`' })),
        avatar: Optional(File({ description: 'Picture' })),
        admin: Flag({ default: false, description: 'Administrator' }),
        can_create_group: Optional(Flag({ description: 'May create top-level groups' })),
        skip_confirmation: Flag({ default: false, description: 'The address counts as confirmed' }),
        external: Optional(Flag({ description: 'External' })),
        private_profile: Optional(Nullable(Flag({ description: 'Hides what he does' }))),
        theme_id: Whole({ default: 1, description: 'Colours of the pages' }),
        color_scheme_id: Whole({ default: 1, description: 'Colours of code' }),
      },
      { atLeastOneOf: ['password', 'reset_password', 'force_random_password'], allOrNone: ['extern_uid', 'provider'] },
    ),
    returns: UserAdmin,
    async handle({ params, ctx }) {
      const external = params.external ?? isExternalByDefault(params.email, ctx.settings)
      const chosen = params.force_random_password || params.reset_password ? undefined : params.password
      const random = params.force_random_password || params.reset_password
      const complaints = random ? [] : passwordComplaints(chosen ?? '', ctx.settings)
      if (complaints.length > 0) throw invalidFields({ password: complaints })
      const publicEmail = params.public_email ?? ''
      const isOwn = params.skip_confirmation && publicEmail.toLowerCase() === params.email.toLowerCase()
      if (publicEmail !== '' && !isOwn) throw invalidFields({ public_email: ['is not an email you own'] })
      return createUser(
        ctx,
        {
          ...params,
          passwordDigest: await digestPassword(chosen ?? randomBytes(24).toString('base64url')),
          external,
          // External people create neither, whatever was asked for.
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
          identity:
            params.extern_uid !== undefined && params.provider !== undefined
              ? { provider: params.provider, externUid: params.extern_uid }
              : undefined,
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
        email: Optional(Text({ description: 'E-mail address; in force once it is confirmed' })),
        skip_reconfirmation: Flag({ default: false, description: 'The new address is in force at once' }),
        username: Optional(Text({ description: 'Also the path of the personal namespace' })),
        name: Optional(Text({ description: 'Name' })),
        password: Optional(Text({ description: 'Password, to be changed at the next sign-in' })),
        reset_password: Optional(Flag({ description: 'The person chooses a password by mail' })),
        ...profileParams,
        projects_limit: Optional(Whole({ minimum: 0, description: 'Personal projects he may have' })),
        extern_uid: Optional(Text({ description: 'Account at `provider`' })),
        provider: Optional(Text({ description: 'Provider of `extern_uid`' })),
        group_id_for_saml: Optional(
          Whole({ maximum: Number.MAX_SAFE_INTEGER, description: 'Group whose SAML provider is meant' }),
        ),
        avatar: Optional(Nullable(File({ description: 'Picture' }))),
        admin: Optional(Flag({ description: 'Administrator' })),
        can_create_group: Optional(Flag({ description: 'May create top-level groups' })),
        external: Optional(Flag({ description: 'External' })),
        private_profile: Optional(Nullable(Flag({ description: 'Hides what he does' }))),
        commit_email: Optional(
          Nullable(
            Text({
              description: 'What his commits say: an address of his, or `_private` for one that receives nothing',
            }),
          ),
        ),
        theme_id: Optional(Whole({ description: 'Colours of the pages' })),
        color_scheme_id: Optional(Whole({ description: 'Colours of code' })),
      },
      { allOrNone: ['extern_uid', 'provider'] },
    ),
    returns: UserAdmin,
    handle: ({ subject, params, ctx }) => editUser(ctx, subject, params),
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
