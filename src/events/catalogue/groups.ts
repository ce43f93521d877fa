import { day, event, flag, id, ids, number, optional, text, texts } from './declare.ts'

const member = { type: 'User', id: 'user_id' } as const
const invitation = { type: 'Invitation', name: 'email' } as const
const holder = ['project', 'group'] as const
const anywhere = ['project', 'group', 'instance'] as const
const path = { facts: { full_path: text } }
const variable = {
  payload: { variable_id: id },
  facts: { key: text, variable_type: text, protected: flag, masked: flag, environment_scope: text },
}
const variableTarget = { type: 'Variable', name: 'key' } as const

/** Events of groups, and of what projects and groups share: members, invitations, tokens, variables. */
export const groupEvents = {
  group_created: event('A group is created', ['group'], {
    facts: { name: text, full_path: text },
    audit: { verb: 'add', noun: 'group' },
  }),
  group_updated: event('The attributes of a group change', ['group'], {
    payload: { changed: texts, from_visibility: optional(text), visibility: optional(text) },
    facts: { old_full_path: optional(text) },
    audit: { verb: 'change', noun: 'group_settings' },
  }),
  group_transferred: event('A group moves to another parent', ['group'], {
    facts: { old_full_path: text, full_path: text },
    audit: { verb: 'change', noun: 'namespace' },
  }),
  namespace_renamed: event('The full paths of a namespace and of all below it change', ['instance'], {
    payload: { namespace_id: id },
  }),
  projects_left_groups: event('Projects are no longer below groups', ['project', 'group'], {
    facts: { left_group_ids: ids },
  }),
  group_marked_for_deletion: event('A group is marked for deletion', ['group'], {
    ...path,
    audit: { verb: 'change', noun: 'marked_for_deletion' },
  }),
  group_restored: event('A group that is marked for deletion is restored', ['group'], {
    ...path,
    audit: { verb: 'change', noun: 'marked_for_deletion' },
  }),
  group_deleted: event('A group is deleted; a job removes its rows', ['group'], {
    // Absent in older events, and `parent_id` without a parent.
    payload: { parent_id: optional(id), visibility: optional(number) },
    ...path,
    audit: { verb: 'remove', noun: 'group', path: 'full_path' },
  }),
  group_shared: event('A group is shared with another group', ['group'], {
    payload: { with_group_id: id, group_access: number, expires_at: day },
    audit: { verb: 'add', noun: 'group_access', target: { type: 'Group', id: 'with_group_id' } },
  }),
  group_unshared: event('A group is no longer shared with another group', ['group'], {
    payload: { with_group_id: id },
    audit: { verb: 'remove', noun: 'group_access', target: { type: 'Group', id: 'with_group_id' } },
  }),
  project_shared: event('A project is shared with a group', ['project'], {
    payload: { group_id: id, group_access: number, expires_at: day },
    audit: { verb: 'add', noun: 'group_access', target: { type: 'Group', id: 'group_id' } },
  }),
  project_unshared: event('A project is no longer shared with a group', ['project'], {
    payload: { group_id: id, group_access: number },
    audit: { verb: 'remove', noun: 'group_access', target: { type: 'Group', id: 'group_id' } },
  }),

  member_added: event('A user becomes a member', holder, {
    // `first`: with the creation of the project or group.
    payload: { user_id: id, access_level: number, expires_at: day, bot: optional(flag), first: optional(flag) },
    // For a bot, the event of its token writes the audit row; for the first member, that of the creation.
    audit: { verb: 'add', noun: 'user_access', target: member, unless: ['bot', 'first'] },
    feed: { action: 'joined', author: 'user_id', unless: 'first' },
  }),
  member_updated: event('The membership of a user changes', holder, {
    payload: { user_id: id, access_level: number, expires_at: day },
    audit: { verb: 'change', noun: 'access_level', target: member },
  }),
  member_removed: event('A user is no longer a member', holder, {
    payload: { user_id: id, bot: optional(flag) },
    facts: { access_level: number, expires_at: day },
    // For a bot, the event of its token writes the audit row.
    audit: { verb: 'remove', noun: 'user_access', target: member, unless: ['bot'] },
    feed: { action: 'left', author: 'user_id' },
  }),
  member_invited: event('An e-mail address without an account is invited', holder, {
    payload: { access_level: number, expires_at: day },
    facts: { email: text },
    audit: { verb: 'add', noun: 'invitation', target: invitation },
  }),
  invitation_updated: event('An invitation changes', holder, {
    payload: { access_level: number, expires_at: day },
    facts: { email: text },
    audit: { verb: 'change', noun: 'invitation', target: invitation },
  }),
  invitation_withdrawn: event('An invitation is withdrawn', holder, {
    facts: { email: text },
    audit: { verb: 'remove', noun: 'invitation', target: invitation },
  }),
  access_requested: event('A user requests access', holder, { payload: { user_id: id } }),
  access_request_withdrawn: event('A user withdraws a request for access', holder, { payload: { user_id: id } }),
  access_request_denied: event('A request for access is denied', holder, { payload: { user_id: id } }),

  resource_access_token_created: event('A token of a project or group is created, with its bot', holder, {
    payload: { token_id: id },
    facts: { name: text, access_level: number, scopes: texts },
    audit: {
      verb: 'add',
      noun: 'access_token',
      target: { type: 'PersonalAccessToken', id: 'token_id', name: 'name' },
    },
  }),
  resource_access_token_revoked: event('A token of a project or group is revoked', holder, {
    payload: { token_id: id },
    audit: { verb: 'remove', noun: 'access_token', target: { type: 'PersonalAccessToken', id: 'token_id' } },
  }),
  deploy_token_created: event('A deploy token is created', holder, {
    payload: { deploy_token_id: id },
    facts: { name: text, username: text, scopes: texts, expires_at: day },
    audit: { verb: 'add', noun: 'deploy_token', target: { type: 'DeployToken', id: 'deploy_token_id', name: 'name' } },
  }),
  deploy_token_revoked: event('A deploy token is revoked', holder, {
    payload: { deploy_token_id: id },
    audit: { verb: 'remove', noun: 'deploy_token', target: { type: 'DeployToken', id: 'deploy_token_id' } },
  }),
  variable_created: event('A variable is created', anywhere, {
    ...variable,
    audit: { verb: 'add', noun: 'variable', target: variableTarget },
  }),
  variable_updated: event('A variable changes', anywhere, {
    ...variable,
    audit: { verb: 'change', noun: 'variable', target: variableTarget },
  }),
  variable_deleted: event('A variable is deleted', anywhere, {
    ...variable,
    audit: { verb: 'remove', noun: 'variable', target: variableTarget },
  }),
  badge_created: event('A badge is created', holder, { payload: { badge_id: id } }),
  badge_updated: event('A badge changes', holder, { payload: { badge_id: id } }),
  badge_deleted: event('A badge is deleted', holder, { payload: { badge_id: id } }),
  custom_attribute_set: event('A custom attribute is set', ['project', 'group', 'user'], {
    payload: { key: text, user_id: optional(id) },
  }),
  custom_attribute_removed: event('A custom attribute is removed', ['project', 'group', 'user'], {
    payload: { key: text, user_id: optional(id) },
  }),
}
