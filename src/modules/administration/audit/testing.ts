import { type Answer, type Client, unique } from '../../../../test/world.ts'
import { newGpgKey } from '../../accounts/gpg-keys/testing.ts'
import { newPublicKey } from '../../accounts/ssh-keys/testing.ts'

/** Fixtures of one test, and the ids that its operations leave for later ones. */
export type Place = {
  ann: Client
  bob: Client
  root: Client
  group: number
  other: number
  project: number
  made: Record<string, any>
}

type Operation = readonly [
  event: string,
  entity: 'Project' | 'Group' | 'User',
  call: (place: Place) => Promise<Answer>,
  more?: { by?: 'root'; keep?: string; details?: object },
]

const at = ({ project }: Place, path = '') => `/projects/${project}${path}`
const inGroup = ({ group }: Place, path = '') => `/groups/${group}${path}`

const inAMonth = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)

/** Operations in an order in which each finds what it needs, with the event that it has. */
export const operations: readonly Operation[] = [
  [
    'group_created',
    'Group',
    ({ ann }) => ann.post('/groups', { name: 'x', path: unique('audited') }),
    { keep: 'group' },
  ],
  [
    'group_updated',
    'Group',
    (p) => p.ann.put(`/groups/${p.made['group'].id}`, { visibility: 'public', path: unique('moved') }),
  ],
  ['group_transferred', 'Group', (p) => p.ann.post(`/groups/${p.made['group'].id}/transfer`, { group_id: p.group })],
  [
    'member_added',
    'Group',
    (p) => p.ann.post(inGroup(p, '/members'), { user_id: p.bob.id, access_level: 10 }),
    { details: { add: 'user_access', target_type: 'User' } },
  ],
  ['member_updated', 'Group', (p) => p.ann.put(inGroup(p, `/members/${p.bob.id}`), { access_level: 20 })],
  [
    'member_removed',
    'Group',
    (p) => p.ann.delete(inGroup(p, `/members/${p.bob.id}`)),
    { details: { remove: 'user_access' } },
  ],
  [
    'member_invited',
    'Group',
    (p) => p.ann.post(inGroup(p, '/invitations'), { email: 'new@example.org', access_level: 10 }),
  ],
  [
    'invitation_updated',
    'Group',
    (p) => p.ann.put(inGroup(p, '/invitations/new@example.org'), { access_level: 20 }),
    { details: { target_details: 'new@example.org' } },
  ],
  ['invitation_withdrawn', 'Group', (p) => p.ann.delete(inGroup(p, '/invitations/new@example.org'))],
  [
    'hook_created',
    'Group',
    (p) => p.ann.post(inGroup(p, '/hooks'), { url: 'https://203.0.114.9/?token=secret%20value' }),
    { keep: 'groupHook' },
  ],
  [
    'hook_updated',
    'Group',
    (p) =>
      p.ann.put(inGroup(p, `/hooks/${p.made['groupHook'].id}`), { url: 'https://203.0.114.9/', push_events: false }),
  ],
  ['hook_deleted', 'Group', (p) => p.ann.delete(inGroup(p, `/hooks/${p.made['groupHook'].id}`))],
  [
    'group_shared',
    'Group',
    (p) => p.ann.post(inGroup(p, '/share'), { group_id: p.other, group_access: 20 }),
    { details: { target_type: 'Group' } },
  ],
  ['group_unshared', 'Group', (p) => p.ann.delete(inGroup(p, `/share/${p.other}`))],
  [
    'deploy_token_created',
    'Group',
    (p) => p.ann.post(inGroup(p, '/deploy_tokens'), { name: 'robot', scopes: ['read_repository'] }),
    { keep: 'deployToken', details: { target_details: 'robot' } },
  ],
  ['deploy_token_revoked', 'Group', (p) => p.ann.delete(inGroup(p, `/deploy_tokens/${p.made['deployToken'].id}`))],
  [
    'variable_created',
    'Group',
    (p) => p.ann.post(inGroup(p, '/variables'), { key: 'KEY', value: 'secret value' }),
    { details: { target_details: 'KEY' } },
  ],

  [
    'project_created',
    'Project',
    (p) => p.ann.post('/projects', { path: unique('audited'), namespace_id: p.group }),
    { keep: 'project' },
  ],
  ['project_updated', 'Project', (p) => p.ann.put(at(p), { path: unique('renamed'), description: 'x' })],
  ['member_added', 'Project', (p) => p.ann.post(at(p, '/members'), { user_id: p.bob.id, access_level: 30 })],
  ['member_removed', 'Project', (p) => p.ann.delete(at(p, `/members/${p.bob.id}`))],
  ['project_shared', 'Project', (p) => p.ann.post(at(p, '/share'), { group_id: p.other, group_access: 30 })],
  ['project_unshared', 'Project', (p) => p.ann.delete(at(p, `/share/${p.other}`))],
  [
    'ref_protected',
    'Project',
    (p) => p.ann.post(at(p, '/protected_branches'), { name: 'stable' }),
    { details: { target_details: 'stable' } },
  ],
  ['ref_unprotected', 'Project', (p) => p.ann.delete(at(p, '/protected_branches/stable'))],
  ['ref_protected', 'Project', (p) => p.ann.post(at(p, '/protected_tags'), { name: 'v*' })],
  ['variable_created', 'Project', (p) => p.ann.post(at(p, '/variables'), { key: 'KEY', value: 'secret value' })],
  ['variable_updated', 'Project', (p) => p.ann.put(at(p, '/variables/KEY'), { value: 'another secret value' })],
  ['variable_deleted', 'Project', (p) => p.ann.delete(at(p, '/variables/KEY'))],
  [
    'deploy_key_added',
    'Project',
    (p) => p.ann.post(at(p, '/deploy_keys'), { title: 'robot', key: newPublicKey() }),
    { keep: 'deployKey', details: { target_details: 'robot' } },
  ],
  [
    'deploy_key_updated',
    'Project',
    (p) => p.ann.put(at(p, `/deploy_keys/${p.made['deployKey'].id}`), { can_push: true }),
  ],
  ['deploy_key_removed', 'Project', (p) => p.ann.delete(at(p, `/deploy_keys/${p.made['deployKey'].id}`))],
  [
    'deploy_key_enabled',
    'Project',
    (p) => p.ann.post(at(p, `/deploy_keys/${p.made['publicKey'].id}/enable`)),
    { details: { target_details: 'shared' } },
  ],
  ['hook_created', 'Project', (p) => p.ann.post(at(p, '/hooks'), { url: 'https://203.0.114.9/' }), { keep: 'hook' }],
  [
    'hook_updated',
    'Project',
    (p) => p.ann.put(at(p, `/hooks/${p.made['hook'].id}`), { url: 'https://203.0.114.9/', push_events: false }),
  ],
  ['hook_deleted', 'Project', (p) => p.ann.delete(at(p, `/hooks/${p.made['hook'].id}`))],
  [
    'service_enabled',
    'Project',
    (p) => p.ann.put(at(p, '/integrations/slack'), { webhook: 'https://203.0.114.9/secret value' }),
  ],
  ['service_updated', 'Project', (p) => p.ann.put(at(p, '/integrations/slack'), { push_events: false })],
  ['service_disabled', 'Project', (p) => p.ann.delete(at(p, '/integrations/slack'))],
  [
    'push_mirror_created',
    'Project',
    (p) => p.ann.post(at(p, '/remote_mirrors'), { url: 'https://ann:secret%20value@203.0.114.9/x.git' }),
    { keep: 'mirror' },
  ],
  [
    'push_mirror_updated',
    'Project',
    (p) => p.ann.put(at(p, `/remote_mirrors/${p.made['mirror'].id}`), { keep_divergent_refs: true }),
  ],
  ['push_mirror_deleted', 'Project', (p) => p.ann.delete(at(p, `/remote_mirrors/${p.made['mirror'].id}`))],
  [
    'resource_access_token_created',
    'Project',
    (p) =>
      p.ann.post(at(p, '/access_tokens'), {
        name: 'bot',
        scopes: ['read_api'],
        access_level: 20,
        expires_at: inAMonth,
      }),
    { keep: 'botToken', details: { target_details: 'bot' } },
  ],
  [
    'access_token_rotated',
    'Project',
    (p) => p.ann.post(at(p, `/access_tokens/${p.made['botToken'].id}/rotate`)),
    { keep: 'botToken', details: { target_details: 'bot' } },
  ],
  ['resource_access_token_revoked', 'Project', (p) => p.ann.delete(at(p, `/access_tokens/${p.made['botToken'].id}`))],
  ['project_archived', 'Project', (p) => p.ann.post(at(p, '/archive'))],
  ['project_unarchived', 'Project', (p) => p.ann.post(at(p, '/unarchive'))],
  ['project_transferred', 'Project', (p) => p.ann.put(at(p, '/transfer'), { namespace: p.other })],
  ['project_marked_for_deletion', 'Project', (p) => p.ann.delete(at(p))],
  ['project_restored', 'Project', (p) => p.root.post(at(p, '/restore')), { by: 'root' }],

  [
    'ssh_key_added',
    'User',
    (p) => p.ann.post('/user/keys', { title: 'laptop', key: newPublicKey() }),
    { keep: 'key', details: { add: 'key', target_details: 'laptop' } },
  ],
  ['ssh_key_removed', 'User', (p) => p.ann.delete(`/user/keys/${p.made['key'].id}`)],
  [
    'gpg_key_added',
    'User',
    async (p) => p.ann.post('/user/gpg_keys', { key: await newGpgKey('a@example.com') }),
    { keep: 'gpg' },
  ],
  ['gpg_key_revoked', 'User', (p) => p.ann.post(`/user/gpg_keys/${p.made['gpg'].id}/revoke`)],
  [
    'gpg_key_added',
    'User',
    async (p) => p.ann.post('/user/gpg_keys', { key: await newGpgKey('b@example.com') }),
    { keep: 'gpg' },
  ],
  ['gpg_key_removed', 'User', (p) => p.ann.delete(`/user/gpg_keys/${p.made['gpg'].id}`)],
  [
    'access_token_created',
    'User',
    (p) => p.ann.post('/user/personal_access_tokens', { name: 'reader', scopes: ['read_api'] }),
    { keep: 'token', details: { target_type: 'PersonalAccessToken', target_details: 'reader' } },
  ],
  [
    'access_token_rotated',
    'User',
    (p) => p.ann.post(`/personal_access_tokens/${p.made['token'].id}/rotate`),
    { keep: 'token' },
  ],
  ['access_token_revoked', 'User', (p) => p.ann.delete(`/personal_access_tokens/${p.made['token'].id}`)],
  [
    'user_created',
    'User',
    (p) =>
      p.root.post('/users', {
        username: unique('made'),
        name: 'Made',
        email: `${unique('made')}@example.com`,
        password: 'correct horse battery',
        skip_confirmation: true,
      }),
    { by: 'root', keep: 'user', details: { target_details: 'Made' } },
  ],
  ['user_updated', 'User', (p) => p.root.put(`/users/${p.made['user'].id}`, { name: 'Renamed' }), { by: 'root' }],
  ['user_blocked', 'User', (p) => p.root.post(`/users/${p.made['user'].id}/block`), { by: 'root' }],
  ['user_unblocked', 'User', (p) => p.root.post(`/users/${p.made['user'].id}/unblock`), { by: 'root' }],
  [
    'user_email_added',
    'User',
    (p) =>
      p.root.post(`/users/${p.made['user'].id}/emails`, {
        email: `${unique('more')}@example.com`,
        skip_confirmation: true,
      }),
    { by: 'root', keep: 'email' },
  ],
  [
    'user_email_removed',
    'User',
    (p) => p.root.delete(`/users/${p.made['user'].id}/emails/${p.made['email'].id}`),
    { by: 'root' },
  ],
  ['user_deactivated', 'User', (p) => p.root.post(`/users/${p.made['user'].id}/deactivate`), { by: 'root' }],
  ['user_activated', 'User', (p) => p.root.post(`/users/${p.made['user'].id}/activate`), { by: 'root' }],
  ['user_banned', 'User', (p) => p.root.post(`/users/${p.made['user'].id}/ban`), { by: 'root' }],
  ['user_unbanned', 'User', (p) => p.root.post(`/users/${p.made['user'].id}/unban`), { by: 'root' }],
  [
    'user_deleted',
    'User',
    (p) => p.root.delete(`/users/${p.made['user'].id}`),
    { by: 'root', details: { target_details: 'Renamed' } },
  ],
]
