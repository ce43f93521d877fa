import { expression, notEmptyWhen, shortEntries, withoutAt } from '../rules.ts'
import { count, countOrNone, flag, text, words } from '../schema.ts'

/** Who gets an account, and how people show who they are. */
export const accounts = {
  signup_enabled: flag(true, 'People may make accounts for themselves', {
    without: 'a page to sign up',
    guards: 'missing',
  }),
  domain_whitelist: words('Domains that new users must have their e-mail address in; none for any', {
    rules: [shortEntries],
  }),
  domain_blacklist_enabled: flag(false, 'New users may not have their e-mail address in `domain_blacklist`', {
    sentWith: ['domain_blacklist'],
  }),
  domain_blacklist: words('Domains of e-mail addresses that new users may not have', {
    rules: [
      shortEntries,
      notEmptyWhen('domain_blacklist_enabled', 'Domain blacklist cannot be empty if Blacklist is enabled.'),
    ],
  }),
  email_restrictions_enabled: flag(false, 'New users may not have an e-mail address like `email_restrictions`', {
    needs: ['email_restrictions'],
  }),
  email_restrictions: text('E-mail addresses that new users may not have (RE2)', {
    longest: 1000,
    rules: [expression],
  }),
  send_user_confirmation_email: flag(false, 'New users confirm their e-mail address before they may do anything'),
  user_default_external: flag(false, 'New users are external'),
  user_default_internal_regex: text(
    'E-mail addresses of new users who are internal although new users are external (RE2)',
    { longest: 1000, rules: [expression] },
  ),
  minimum_password_length: count(8, 'Characters that new passwords have at least', { minimum: 8, maximum: 128 }),
  password_number_required: flag(false, 'Passwords need a digit'),
  password_lowercase_required: flag(false, 'Passwords need a small letter'),
  password_uppercase_required: flag(false, 'Passwords need a capital letter'),
  password_symbol_required: flag(false, 'Passwords need something that is no letter and no digit'),
  password_authentication_enabled_for_web: flag(true, 'People sign in with the password of their account'),
  password_authentication_enabled_for_git: flag(true, 'Account passwords are accepted by git over HTTP'),
  require_two_factor_authentication: flag(false, 'Everybody needs a second factor to sign in with a password', {
    sentWith: ['two_factor_grace_period'],
  }),
  two_factor_grace_period: count(48, 'Hours in which somebody may still sign in without the second factor he needs'),
  max_personal_access_token_lifetime: countOrNone('Most days that a new token is good for; null for any', {
    exclusiveMinimum: 0,
    tier: 'ultimate',
  }),
  session_expire_delay: count(10_080, 'Minutes after which a session ends that nobody used'),
  terms: text('Terms of service (Markdown) that people accept', { longest: 65_536 }),
  enforce_terms: flag(false, 'Who did not accept the terms may do nothing else', { needs: ['terms'] }),
  user_oauth_applications: flag(true, 'People may register applications', {
    without: 'applications of people',
    guards: 'missing',
  }),
  user_show_add_ssh_key_message: flag(true, 'People without a key are told that they need one', { without: 'pages' }),
  avatar_service_enabled: flag(true, 'People without a picture of their own show one by e-mail address', {
    alias: 'gravatar_enabled',
  }),
  disabled_oauth_sign_in_sources: words('Providers that people cannot sign in with', {
    rules: [shortEntries],
    without: 'sign-in by other providers',
    guards: 'missing',
  }),
  allow_group_owners_to_manage_ldap: flag(true, 'Owners of groups may say which people of a directory belong to them', {
    tier: 'premium',
    without: 'directories of people',
    guards: 'missing',
  }),
  commit_email_hostname: text('Host of the private addresses of commits; by default `users.noreply.` and our own', {
    rules: [withoutAt],
  }),
}
