import { day, event, flag, id, optional, text, texts } from './declare.ts'

const token = { type: 'PersonalAccessToken', id: 'token_id', name: 'name' } as const
const tokenFields = {
  payload: { user_id: id, token_id: id },
  facts: { token_kind: text, name: text, scopes: texts, expires_at: day },
}
const sshKey = {
  payload: { user_id: id, key_id: id },
  facts: { title: text, fingerprint: text, key: text },
}
const gpgKey = { payload: { user_id: id, gpg_key_id: id }, facts: { fingerprint: text } }
const sshTarget = { type: 'Key', id: 'key_id', name: 'title' } as const
const gpgTarget = { type: 'GPGKey', id: 'gpg_key_id', name: 'fingerprint' } as const
const ofUser = { payload: { user_id: id } }
const state = { payload: { user_id: id, from: text }, audit: { verb: 'change', noun: 'state' } } as const

/** Events of accounts, their credentials and their keys. */
export const accountEvents = {
  user_created: event('An administrator creates an account', ['user'], {
    payload: { user_id: id, confirmed: flag },
    facts: { username: text, name: text, email: text },
    audit: { verb: 'add', noun: 'user' },
  }),
  user_updated: event('The attributes of an account change', ['user'], {
    payload: { user_id: id, changed: texts, email_confirmed: flag },
    facts: { username: text, old_username: optional(text) },
    audit: { verb: 'change', noun: 'user' },
  }),
  user_deleted: event('An administrator deletes an account; a job removes the rest of it', ['user'], {
    payload: { user_id: id, hard_delete: flag },
    facts: { username: text, name: text },
    audit: { verb: 'remove', noun: 'user', path: 'username' },
  }),
  user_blocked: event('An administrator blocks an account', ['user'], state),
  user_unblocked: event('An administrator unblocks an account', ['user'], state),
  user_deactivated: event('An administrator deactivates an account', ['user'], state),
  user_activated: event('An account becomes active again, by an administrator or by signing in', ['user'], {
    payload: { user_id: id, from: optional(text), by: optional(text) },
    audit: { verb: 'change', noun: 'state' },
  }),
  user_banned: event('An administrator bans an account', ['user'], state),
  user_unbanned: event('An administrator lifts the ban of an account', ['user'], state),
  user_email_added: event('An account gets a further e-mail address', ['user'], {
    payload: { user_id: id, email_id: id, confirmed: flag },
    facts: { email: text },
    audit: { verb: 'add', noun: 'email', target: { type: 'Email', id: 'email_id', name: 'email' } },
  }),
  user_email_confirmed: event('A user confirms an e-mail address', ['user'], {
    payload: { user_id: id, address: text },
    facts: { email: text },
    audit: { verb: 'change', noun: 'email', target: { type: 'Email', name: 'email' } },
  }),
  user_email_removed: event('An account loses a further e-mail address', ['user'], {
    payload: { user_id: id, email_id: id },
    audit: { verb: 'remove', noun: 'email', target: { type: 'Email', id: 'email_id' } },
  }),
  user_identity_removed: event('An account loses its identity at a provider', ['user'], {
    payload: { user_id: id, provider: text },
    audit: { verb: 'remove', noun: 'identity', target: { type: 'Identity', name: 'provider' } },
  }),
  user_password_changed: event('A user chooses another password by a link in a mail', ['user'], {
    payload: { user_id: id, email_confirmed: flag },
    audit: { verb: 'change', noun: 'password' },
  }),
  sign_in_failed: event('A sign-in is refused', ['user', 'instance'], {
    payload: { user_id: optional(id) },
    facts: { login: text },
    audit: { verb: 'change', noun: 'failed_sign_in' },
  }),

  ssh_key_added: event('A user gets an SSH key', ['user'], {
    ...sshKey,
    audit: { verb: 'add', noun: 'key', target: sshTarget },
  }),
  ssh_key_removed: event('A user loses an SSH key', ['user'], {
    ...sshKey,
    audit: { verb: 'remove', noun: 'key', target: sshTarget },
  }),
  gpg_key_added: event('A user gets a GPG key', ['user'], {
    ...gpgKey,
    audit: { verb: 'add', noun: 'gpg_key', target: gpgTarget },
  }),
  gpg_key_removed: event('A user loses a GPG key; what it verified stays verified', ['user'], {
    ...gpgKey,
    audit: { verb: 'remove', noun: 'gpg_key', target: gpgTarget },
  }),
  gpg_key_revoked: event('A GPG key is revoked, with what it verified', ['user'], {
    ...gpgKey,
    audit: { verb: 'remove', noun: 'gpg_key', target: gpgTarget },
  }),

  access_token_created: event('An access token is created', ['user'], {
    ...tokenFields,
    audit: { verb: 'add', noun: 'access_token', target: token },
  }),
  access_token_rotated: event('A new access token replaces one', ['project', 'group', 'user'], {
    ...tokenFields,
    audit: { verb: 'change', noun: 'access_token', target: token },
  }),
  access_token_revoked: event('An access token is revoked', ['user'], {
    ...tokenFields,
    audit: { verb: 'remove', noun: 'access_token', target: token },
  }),
  access_token_reused: event('A replaced token is used, which revokes all that came from it', ['user'], {
    payload: { user_id: id, family_id: id },
    audit: { verb: 'remove', noun: 'access_token_family' },
  }),
  oauth_token_created: event('A user signs in by OAuth', ['user'], {
    ...ofUser,
    facts: { scopes: texts },
    audit: { verb: 'add', noun: 'oauth_token' },
  }),
  oauth_token_revoked: event('A client revokes its OAuth token', ['user'], {
    ...ofUser,
    audit: { verb: 'remove', noun: 'oauth_token' },
  }),
  two_factor_enabled: event('A user enables the second factor', ['user'], {
    ...ofUser,
    audit: { verb: 'add', noun: 'two_factor' },
  }),
  two_factor_disabled: event('The second factor of an account is disabled', ['user'], {
    ...ofUser,
    audit: { verb: 'remove', noun: 'two_factor' },
  }),
  recovery_codes_renewed: event('A user gets new recovery codes', ['user'], {
    ...ofUser,
    audit: { verb: 'change', noun: 'recovery_codes' },
  }),
  terms_accepted: event('A user accepts the terms of service', ['user'], {
    payload: { user_id: id, terms_id: id },
    audit: { verb: 'add', noun: 'terms_agreement' },
  }),
}
