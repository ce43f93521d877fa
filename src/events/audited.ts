/** Where an event is written down in the audit log, and as what. */
export type Audited = {
  readonly verb: 'add' | 'change' | 'remove'
  /** What is added to the entity, changed of it, or removed from it. */
  readonly noun: string
  /** The entity is the account named by `user_id` of the payload, where the event names no project or group. */
  readonly ofUser?: true
  /** With this in the payload, another event of the same operation stands for it. */
  readonly unless?: string
  /** What it was done to, with the names in the payload of its id and of what to call it. Default: the entity itself. */
  readonly target?: { readonly type: string; readonly id?: string; readonly name?: string }
}

const member = { type: 'User', id: 'user_id' }
const token = { type: 'PersonalAccessToken', id: 'token_id', name: 'name' }
const sshKey = { type: 'Key', id: 'key_id', name: 'title' }
const gpgKey = { type: 'GPGKey', id: 'gpg_key_id', name: 'fingerprint' }
const deployKey = { type: 'DeployKey', id: 'deploy_key_id', name: 'title' }
const deployToken = { type: 'DeployToken', id: 'deploy_token_id', name: 'name' }
const invitation = { type: 'Invitation', name: 'email' }
const email = { type: 'Email', id: 'email_id', name: 'email' }
const ref = { type: 'ProtectedRef', name: 'name' }
const feature = { type: 'Feature', name: 'name' }
const broadcast = { type: 'BroadcastMessage', id: 'broadcast_message_id' }
const variable = { type: 'Variable', name: 'key' }

/**
 * The kinds of events that administrators, owners and maintainers read in the audit log: who belongs where, what comes and goes,
 * who sees it, settings, credentials, protection, and the states of accounts. An operation is in it once: of several events
 * of one operation, one stands here.
 */
const kinds: Readonly<Record<string, Audited>> = {
  // A bot is made with its token.
  member_added: { verb: 'add', noun: 'user_access', target: member, unless: 'bot' },
  member_updated: { verb: 'change', noun: 'access_level', target: member },
  member_removed: { verb: 'remove', noun: 'user_access', target: member },
  member_invited: { verb: 'add', noun: 'invitation', target: invitation },
  invitation_updated: { verb: 'change', noun: 'invitation', target: invitation },
  invitation_withdrawn: { verb: 'remove', noun: 'invitation', target: invitation },

  project_created: { verb: 'add', noun: 'project' },
  project_updated: { verb: 'change', noun: 'project_settings' },
  project_archived: { verb: 'change', noun: 'archived' },
  project_unarchived: { verb: 'change', noun: 'archived' },
  project_transferred: { verb: 'change', noun: 'namespace' },
  project_marked_for_deletion: { verb: 'change', noun: 'marked_for_deletion' },
  project_restored: { verb: 'change', noun: 'marked_for_deletion' },
  project_deleted: { verb: 'remove', noun: 'project' },
  project_shared: { verb: 'add', noun: 'group_access', target: { type: 'Group', id: 'group_id' } },
  project_unshared: { verb: 'remove', noun: 'group_access', target: { type: 'Group', id: 'group_id' } },
  group_created: { verb: 'add', noun: 'group' },
  group_updated: { verb: 'change', noun: 'group_settings' },
  group_transferred: { verb: 'change', noun: 'namespace' },
  group_marked_for_deletion: { verb: 'change', noun: 'marked_for_deletion' },
  group_restored: { verb: 'change', noun: 'marked_for_deletion' },
  group_deleted: { verb: 'remove', noun: 'group' },
  group_shared: { verb: 'add', noun: 'group_access', target: { type: 'Group', id: 'with_group_id' } },
  group_unshared: { verb: 'remove', noun: 'group_access', target: { type: 'Group', id: 'with_group_id' } },
  settings_updated: { verb: 'change', noun: 'application_settings' },
  feature_switched: { verb: 'change', noun: 'feature', target: feature },
  feature_forgotten: { verb: 'remove', noun: 'feature', target: feature },
  appearance_updated: { verb: 'change', noun: 'appearance' },
  broadcast_message_created: { verb: 'add', noun: 'broadcast_message', target: broadcast },
  broadcast_message_updated: { verb: 'change', noun: 'broadcast_message', target: broadcast },
  broadcast_message_deleted: { verb: 'remove', noun: 'broadcast_message', target: broadcast },

  ref_protected: { verb: 'add', noun: 'protection', target: ref },
  ref_protection_changed: { verb: 'change', noun: 'protection', target: ref },
  ref_unprotected: { verb: 'remove', noun: 'protection', target: ref },
  variable_created: { verb: 'add', noun: 'variable', target: variable },
  variable_updated: { verb: 'change', noun: 'variable', target: variable },
  variable_deleted: { verb: 'remove', noun: 'variable', target: variable },
  deploy_key_added: { verb: 'add', noun: 'deploy_key', target: deployKey },
  deploy_key_enabled: { verb: 'add', noun: 'deploy_key', target: deployKey },
  deploy_key_updated: { verb: 'change', noun: 'deploy_key', target: deployKey },
  deploy_key_removed: { verb: 'remove', noun: 'deploy_key', target: deployKey },
  deploy_token_created: { verb: 'add', noun: 'deploy_token', target: deployToken },
  deploy_token_revoked: { verb: 'remove', noun: 'deploy_token', target: deployToken },

  ssh_key_added: { verb: 'add', noun: 'key', ofUser: true, target: sshKey },
  ssh_key_removed: { verb: 'remove', noun: 'key', ofUser: true, target: sshKey },
  gpg_key_added: { verb: 'add', noun: 'gpg_key', ofUser: true, target: gpgKey },
  gpg_key_removed: { verb: 'remove', noun: 'gpg_key', ofUser: true, target: gpgKey },
  gpg_key_revoked: { verb: 'remove', noun: 'gpg_key', ofUser: true, target: gpgKey },
  access_token_created: { verb: 'add', noun: 'access_token', ofUser: true, target: token },
  access_token_rotated: { verb: 'change', noun: 'access_token', ofUser: true, target: token },
  access_token_revoked: { verb: 'remove', noun: 'access_token', ofUser: true, target: token },
  resource_access_token_created: { verb: 'add', noun: 'access_token', target: token },
  resource_access_token_revoked: { verb: 'remove', noun: 'access_token', target: token },
  access_token_reused: { verb: 'remove', noun: 'access_token_family', ofUser: true },
  oauth_token_created: { verb: 'add', noun: 'oauth_token', ofUser: true },
  oauth_token_revoked: { verb: 'remove', noun: 'oauth_token', ofUser: true },
  two_factor_enabled: { verb: 'add', noun: 'two_factor', ofUser: true },
  two_factor_disabled: { verb: 'remove', noun: 'two_factor', ofUser: true },
  recovery_codes_renewed: { verb: 'change', noun: 'recovery_codes', ofUser: true },

  user_created: { verb: 'add', noun: 'user', ofUser: true },
  user_updated: { verb: 'change', noun: 'user', ofUser: true },
  user_deleted: { verb: 'remove', noun: 'user', ofUser: true },
  user_blocked: { verb: 'change', noun: 'state', ofUser: true },
  user_unblocked: { verb: 'change', noun: 'state', ofUser: true },
  user_deactivated: { verb: 'change', noun: 'state', ofUser: true },
  user_activated: { verb: 'change', noun: 'state', ofUser: true },
  user_banned: { verb: 'change', noun: 'state', ofUser: true },
  user_unbanned: { verb: 'change', noun: 'state', ofUser: true },
  user_email_added: { verb: 'add', noun: 'email', ofUser: true, target: email },
  user_email_confirmed: { verb: 'change', noun: 'email', ofUser: true, target: email },
  user_email_removed: { verb: 'remove', noun: 'email', ofUser: true, target: email },
  user_identity_removed: {
    verb: 'remove',
    noun: 'identity',
    ofUser: true,
    target: { type: 'Identity', name: 'provider' },
  },
  terms_accepted: { verb: 'add', noun: 'terms_agreement', ofUser: true },
  user_password_changed: { verb: 'change', noun: 'password', ofUser: true },
  sign_in_failed: { verb: 'change', noun: 'failed_sign_in', ofUser: true },
}

/** `undefined` for what is not audited. */
export const auditedAs = (kind: string): Audited | undefined => (Object.hasOwn(kinds, kind) ? kinds[kind] : undefined)
