import { expression, notEmptyWhen, shortEntries, withoutAt } from './rules.ts'
import { count, countOrNone, flag, text, words } from './schema.ts'

/** Sign-up, sign-in, passwords and tokens. */
export const accounts = {
  signup_enabled: flag(true, 'Allow users to sign up', {
    without: 'a sign-up page',
    guards: 'missing',
  }),
  domain_whitelist: words('Email domains allowed for new users; none allows all', {
    alias: 'domain_allowlist',
    rules: [shortEntries],
  }),
  domain_blacklist_enabled: flag(false, 'Reject email addresses of new users in `domain_blacklist`', {
    alias: 'domain_denylist_enabled',
    sentWith: ['domain_blacklist'],
  }),
  domain_blacklist: words('Email domains forbidden for new users', {
    alias: 'domain_denylist',
    rules: [
      shortEntries,
      notEmptyWhen('domain_blacklist_enabled', 'Domain blacklist cannot be empty if Blacklist is enabled.'),
    ],
  }),
  email_restrictions_enabled: flag(false, 'Reject email addresses of new users that match `email_restrictions`', {
    needs: ['email_restrictions'],
  }),
  email_restrictions: text('Regular expression (RE2) of email addresses forbidden for new users', {
    longest: 1000,
    rules: [expression],
  }),
  send_user_confirmation_email: flag(
    false,
    'Require new users to confirm their email address before they can do anything',
  ),
  user_default_external: flag(false, 'Create new users as external'),
  user_default_internal_regex: text(
    'Regular expression (RE2) of email addresses of new users who are internal even if new users are external',
    { longest: 1000, rules: [expression] },
  ),
  minimum_password_length: count(8, 'Minimum length of new passwords', { minimum: 8, maximum: 128 }),
  password_number_required: flag(false, 'Require a digit in passwords'),
  password_lowercase_required: flag(false, 'Require a lowercase letter in passwords'),
  password_uppercase_required: flag(false, 'Require an uppercase letter in passwords'),
  password_symbol_required: flag(false, 'Require a symbol (neither letter nor digit) in passwords'),
  password_authentication_enabled_for_web: flag(true, 'Allow sign-in with the account password'),
  password_authentication_enabled_for_git: flag(true, 'Allow Git over HTTP with the account password'),
  require_two_factor_authentication: flag(
    false,
    'Require two-factor authentication for all users who sign in with a password',
    {
      sentWith: ['two_factor_grace_period'],
    },
  ),
  two_factor_grace_period: count(48, 'Grace period in hours before required two-factor authentication is enforced'),
  max_personal_access_token_lifetime: countOrNone('Maximum lifetime of new tokens in days; null for no limit', {
    exclusiveMinimum: 0,
    tier: 'ultimate',
  }),
  session_expire_delay: count(10_080, 'Idle timeout of sessions in minutes', { without: 'sessions of pages' }),
  terms: text('Terms of service (Markdown)', { longest: 65_536 }),
  enforce_terms: flag(false, 'Require users to accept the terms of service before anything else', { needs: ['terms'] }),
  user_oauth_applications: flag(true, 'Allow users to register OAuth applications', {
    without: 'applications of users',
    guards: 'missing',
  }),
  user_show_add_ssh_key_message: flag(true, 'Show a message to users without an SSH key', { without: 'pages' }),
  avatar_service_enabled: flag(true, 'Use an avatar service, by email address, for users without an avatar', {
    alias: 'gravatar_enabled',
  }),
  disabled_oauth_sign_in_sources: words('Disabled OAuth sign-in providers', {
    rules: [shortEntries],
    without: 'sign-in with external providers',
    guards: 'missing',
  }),
  allow_group_owners_to_manage_ldap: flag(true, 'Allow group owners to manage LDAP group links', {
    tier: 'premium',
    without: 'LDAP directories',
    guards: 'missing',
  }),
  commit_email_hostname: text(
    'Host name of private commit email addresses; default: `users.noreply.` and the host of the instance',
    {
      rules: [withoutAt],
    },
  ),
}
