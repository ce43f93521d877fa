import { type Static, Type } from 'typebox'

const count = (value: number, description: string) => Type.Integer({ minimum: 0, default: value, description })
const flag = (value: boolean, description: string) => Type.Boolean({ default: value, description })
const visibility = (description: string) =>
  Type.Union([Type.Literal('private'), Type.Literal('internal'), Type.Literal('public')], {
    default: 'private',
    description,
  })

/** A regular expression in the syntax of RE2, which no text makes slow. */
const pattern = Type.String({ maxLength: 1000 })

/** Names of mail domains; `*.example.com` is everything below. */
const domains = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { default: [] as string[], description })

/** What SSH keys of a type must have: 0 nothing, -1 forbids them, else the fewest bits. */
const keyRestriction = (type: string, sizes: readonly number[]) =>
  Type.Unsafe<number>({
    type: 'integer',
    enum: [0, -1, ...sizes],
    default: 0,
    description: `Fewest bits of ${type} keys; 0 for any, -1 for none`,
  })

/** Every setting of the installation with its default. Stored are only those that somebody changed. */
export const Settings = Type.Object({
  default_project_visibility: visibility('Visibility of new projects'),
  default_group_visibility: visibility('Visibility of new groups'),
  default_projects_limit: count(100_000, 'Personal projects a new user may have'),
  default_project_creation: Type.Integer({
    minimum: 0,
    maximum: 2,
    default: 2,
    description: 'Who creates projects in new groups: 0 no one, 1 maintainers, 2 developers and maintainers',
  }),
  default_branch_protection: Type.Integer({
    minimum: 0,
    maximum: 3,
    default: 2,
    description:
      'Protection of first branches: 0 none, 1 developers push, 2 maintainers push and merge, 3 maintainers push and developers merge. With 2 and 3 only maintainers push to empty repositories',
  }),
  restricted_visibility_levels: Type.Array(Type.String(), {
    default: [],
    description:
      'Visibilities that only administrators may choose; with `public`, accounts are hidden from anonymous callers',
  }),
  user_default_external: flag(false, 'New users are external'),
  user_default_internal_regex: Type.Union([pattern, Type.Null()], {
    default: null,
    description: 'E-mail addresses of new users who are internal although new users are external (RE2)',
  }),
  domain_whitelist: domains('Domains that new users must have their e-mail address in; none for any'),
  domain_blacklist_enabled: flag(false, 'New users may not have their e-mail address in `domain_blacklist`'),
  domain_blacklist: domains('Domains of e-mail addresses that new users may not have'),
  email_restrictions_enabled: flag(false, 'New users may not have an e-mail address like `email_restrictions`'),
  email_restrictions: Type.Union([pattern, Type.Null()], {
    default: null,
    description: 'E-mail addresses that new users may not have (RE2)',
  }),
  send_user_confirmation_email: flag(false, 'New users confirm their e-mail address before they may do anything'),
  minimum_password_length: Type.Integer({ minimum: 8, maximum: 128, default: 8, description: 'Characters' }),
  password_number_required: flag(false, 'Passwords need a digit'),
  password_lowercase_required: flag(false, 'Passwords need a small letter'),
  password_uppercase_required: flag(false, 'Passwords need a capital letter'),
  password_symbol_required: flag(false, 'Passwords need something that is no letter and no digit'),
  password_authentication_enabled_for_git: flag(true, 'Account passwords are accepted by git over HTTP'),
  password_authentication_enabled_for_web: flag(true, 'People sign in with the password of their account'),
  require_two_factor_authentication: flag(false, 'Everybody needs a second factor to sign in with a password'),
  two_factor_grace_period: count(48, 'Hours in which somebody may still sign in without the second factor he needs'),
  session_expire_delay: count(10_080, 'Minutes after which a session ends that nobody used'),
  max_personal_access_token_lifetime: Type.Union([Type.Integer({ minimum: 1, maximum: 400 }), Type.Null()], {
    default: null,
    description: 'Most days that a new token is good for; null for any',
  }),
  protected_ci_variables: flag(false, 'New variables of pipelines are protected'),
  deletion_adjourned_period: count(7, 'Days that deleted projects of groups are kept (premium and higher)'),
  limit_projects_in_groups_api: flag(true, 'A group shows at most 100 of its projects and 100 shared with it'),
  enabled_git_access_protocol: Type.Union([Type.Literal('ssh'), Type.Literal('http'), Type.Null()], {
    default: null,
    description: 'The only protocol by which git reaches repositories; null for both',
  }),
  rsa_key_restriction: keyRestriction('RSA', [1024, 2048, 3072, 4096]),
  dsa_key_restriction: keyRestriction('DSA', [1024, 2048, 3072]),
  ecdsa_key_restriction: keyRestriction('ECDSA', [256, 384, 521]),
  ed25519_key_restriction: keyRestriction('ED25519', [256]),
  receive_max_input_size: count(0, 'Largest push in MB; 0 is no limit'),
  allow_local_requests_from_web_hooks_and_services: flag(
    false,
    'Addresses of imports, hooks and services may lead to the local network',
  ),
  outbound_local_requests_whitelist: Type.Array(Type.String(), {
    default: [],
    description:
      'Host names, addresses and ranges (10.1.0.0/16) in the local network that requests may go to all the same',
  }),
  dns_rebinding_protection_enabled: flag(
    true,
    'A request goes to the address that was checked, whatever its name stands for by then',
  ),
  max_import_size: count(10_240, 'Largest repository that is imported, in MB; 0 is no limit'),
  housekeeping_enabled: flag(true, 'Repositories are packed after pushes'),
  housekeeping_bitmaps_enabled: flag(true, 'Full packs have a bitmap, which makes clones fast'),
  housekeeping_incremental_repack_period: count(10, 'Pushes after which new objects are packed; 0 never'),
  housekeeping_full_repack_period: count(50, 'Pushes after which everything is packed anew; 0 never'),
  housekeeping_gc_period: count(200, 'Pushes after which what nothing reaches is removed, too; 0 never'),
  lfs_enabled: flag(true, 'Large files may be stored (git LFS)'),
  max_attachment_size: count(10, 'Largest upload in MB'),
  search_rate_limit: count(300, 'Searches a user may make in a minute; 0 is no limit'),
  push_event_activities_limit: count(3, 'A push of more branches or tags than this is one event'),
  max_lfs_object_size: count(0, 'Largest large file in MB; 0 is no limit'),
  avatar_service_enabled: flag(true, 'People without a picture of their own show one by e-mail address'),
  throttle_unauthenticated_enabled: flag(false, 'Limit requests of each address without credentials'),
  throttle_unauthenticated_requests_per_period: count(3600, 'Requests'),
  throttle_unauthenticated_period_in_seconds: count(3600, 'Seconds'),
  throttle_authenticated_api_enabled: flag(false, 'Limit API requests of each user'),
  throttle_authenticated_api_requests_per_period: count(7200, 'Requests'),
  throttle_authenticated_api_period_in_seconds: count(3600, 'Seconds'),
})
export type Settings = Static<typeof Settings>

const defaults = Object.fromEntries(
  Object.entries(Settings.properties).map(([name, schema]) => [
    name,
    (schema as unknown as { default: unknown }).default,
  ]),
) as Settings

/** The stored values over the defaults. */
export const withDefaults = (stored: Partial<Settings>): Settings => Object.freeze({ ...defaults, ...stored })
