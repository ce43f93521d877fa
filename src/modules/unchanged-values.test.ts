import { FormData } from 'undici'
import { expect } from 'vitest'
import { eventsOf } from '../../test/tables/events.ts'
import { type Client, test, unique, type World } from '../../test/world.ts'
import { newPublicKey } from './accounts/ssh-keys/testing.ts'

const png = Buffer.from('89504e470d0a1a0a0000000d', 'hex')

const picture = () => {
  const form = new FormData()
  form.set('avatar', new Blob([png]), 'face.png')
  return form
}

type Sent = Record<string, unknown> | (() => FormData)
type Case = {
  readonly kind: string
  readonly method?: 'PATCH'
  /** The path of a new record. */
  readonly make: (world: World, who: Client) => Promise<string>
  /** Requests, each of which changes something the first time. */
  readonly sent: readonly Sent[]
}

const madeIn = async (who: Client, path: string, json: object, name = 'id') => {
  const made = await who.post(path, json)
  expect(made.status, made.text).toBe(201)
  return `${path}/${made.json[name]}`
}
const projectOf = (who: Client) => madeIn(who, '/projects', { name: unique('same'), initialize_with_readme: true })
const inProject = (tail: string, json: object, name?: string) => async (_world: World, who: Client) =>
  madeIn(who, `${await projectOf(who)}/${tail}`, json, name)

const cases: Readonly<Record<string, Case>> = {
  project: {
    kind: 'project_%',
    make: (_world, who) => projectOf(who),
    sent: [
      { description: 'x' },
      { visibility: 'internal' },
      { name: 'Renamed', path: unique('renamed') },
      { topics: ['b', 'a'] },
      { tag_list: 'c,d' },
      { issues_enabled: false },
      { wiki_access_level: 'private', merge_method: 'ff', ci_config_path: 'ci.yml' },
      { public_jobs: false },
      // What applied before, of the group or of the plan, is no value of the project.
      { lfs_enabled: true },
      { service_desk_enabled: true },
      { remove_source_branch_after_merge: null },
      { container_expiration_policy_attributes: { keep_n: 5, name_regex_delete: 'x.*' } },
      { approvals_before_merge: 2 },
      picture,
      { avatar: '' },
    ],
  },
  group: {
    kind: 'group_%',
    make: (_world, who) => madeIn(who, '/groups', { name: unique('same'), path: unique('same') }),
    sent: [
      { description: 'x' },
      { visibility: 'internal' },
      { name: 'Renamed', path: unique('renamed') },
      { share_with_group_lock: true, request_access_enabled: true },
      { membership_lock: true },
      { project_creation_level: 'maintainer', emails_disabled: true, two_factor_grace_period: 3 },
      picture,
      { avatar: '' },
    ],
  },
  user: {
    kind: 'user_%',
    make: async (world) => `/users/${(await world.user()).id}`,
    sent: [
      { name: 'Renamed', username: unique('renamed') },
      { email: `${unique('new')}@example.com`, skip_reconfirmation: true },
      { bio: 'x', location: 'y', private_profile: true },
      { external: true },
      { provider: 'ldap', extern_uid: 'uid=x' },
      { admin: true },
      picture,
      { avatar: '' },
    ],
  },
  'member of a group': {
    kind: 'member_%',
    make: async (world) => {
      const [group, user] = [await world.group(), await world.user()]
      const made = await world.root.post(`/groups/${group.id}/members`, { user_id: user.id, access_level: 10 })
      expect(made.status).toBe(201)
      return `/groups/${group.id}/members/${user.id}`
    },
    sent: [{ access_level: 30 }, { access_level: 30, expires_at: '2031-02-03' }, { access_level: 40, expires_at: '' }],
  },
  milestone: {
    kind: 'milestone_%',
    make: inProject('milestones', { title: 'x' }),
    sent: [{ title: 'y', description: 'z', due_date: '2031-02-03' }, { state_event: 'close' }],
  },
  label: {
    kind: 'label_%',
    make: inProject('labels', { name: 'x', color: '#123456' }),
    sent: [{ new_name: 'y', color: '#654321', priority: 3 }],
  },
  issue: {
    kind: 'issue_%',
    make: inProject('issues', { title: 'x' }, 'iid'),
    sent: [
      { title: 'y', description: 'z', labels: 'a,b', due_date: '2031-02-03', weight: 3, discussion_locked: true },
      { confidential: true },
      { assignee_ids: [1] },
      { state_event: 'close' },
    ],
  },
  'merge request': {
    kind: 'merge_request_%',
    make: async (_world, who) => {
      const project = await projectOf(who)
      const commit = {
        branch: 'feature',
        start_branch: (await who.get(project)).json.default_branch,
        commit_message: 'x',
        actions: [{ action: 'create', file_path: 'x', content: 'x' }],
      }
      expect((await who.post(`${project}/repository/commits`, commit)).status).toBe(201)
      return madeIn(
        who,
        `${project}/merge_requests`,
        { source_branch: 'feature', target_branch: commit.start_branch, title: 'x' },
        'iid',
      )
    },
    sent: [
      { title: 'y', description: 'z', labels: 'a,b', squash: true, discussion_locked: true },
      { assignee_ids: [1], reviewer_ids: [1] },
      { remove_source_branch: false },
      { state_event: 'close' },
    ],
  },
  topic: {
    kind: 'topic_%',
    make: (_world, who) => madeIn(who, '/topics', { name: unique('topic'), title: 'x' }),
    sent: [{ title: 'y', description: 'z' }, { name: unique('renamed') }, picture, { avatar: '' }],
  },
  hook: {
    kind: 'hook_%',
    make: inProject('hooks', { url: 'https://example.com/x' }),
    sent: [
      { url: 'https://example.com/y' },
      { url: 'https://example.com/y', token: 'x', push_events_branch_filter: 'main' },
      { url: 'https://example.com/y', token: '' },
      { url: 'https://example.com/y', issues_events: true, enable_ssl_verification: false },
    ],
  },
  note: {
    kind: 'note_%',
    make: async (_world, who) => {
      const issue = await madeIn(who, `${await projectOf(who)}/issues`, { title: 'x' }, 'iid')
      return madeIn(who, `${issue}/notes`, { body: 'x' })
    },
    sent: [{ body: 'y' }],
  },
  snippet: {
    kind: 'snippet_%',
    make: inProject('snippets', { title: 'x', file_name: 'x', content: 'x', visibility: 'private' }),
    sent: [{ title: 'y', description: 'z', visibility: 'public' }],
  },
  epic: {
    kind: 'epic_%',
    make: async (_world, who) =>
      madeIn(
        who,
        `${await madeIn(who, '/groups', { name: unique('same'), path: unique('same') })}/epics`,
        { title: 'x' },
        'iid',
      ),
    sent: [{ title: 'y', description: 'z', labels: 'a' }, { state_event: 'close' }],
  },
  release: {
    kind: 'release_%',
    make: async (_world, who) => {
      const project = await projectOf(who)
      const { default_branch: ref } = (await who.get(project)).json
      return madeIn(who, `${project}/releases`, { tag_name: 'v1', ref, description: 'x' }, 'tag_name')
    },
    sent: [{ name: 'y', description: 'z' }, { released_at: '2031-02-03T00:00:00Z' }],
  },
  environment: {
    kind: 'environment_%',
    make: inProject('environments', { name: 'x' }),
    sent: [{ external_url: 'https://example.com', tier: 'testing' }],
  },
  variable: {
    kind: 'variable_%',
    make: inProject('variables', { key: 'X', value: 'x' }, 'key'),
    sent: [{ value: 'y' }, { value: 'y', protected: true, description: 'z' }],
  },
  badge: {
    kind: 'badge_%',
    make: inProject('badges', { link_url: 'https://example.com/x', image_url: 'https://example.com/x.png' }),
    sent: [{ name: 'y', link_url: 'https://example.com/y' }],
  },
  'deploy key': {
    kind: 'deploy_key_%',
    make: async (_world, who) =>
      madeIn(who, `${await projectOf(who)}/deploy_keys`, { title: 'x', key: newPublicKey() }),
    sent: [{ title: 'y' }, { can_push: true }],
  },
  'push mirror': {
    kind: 'push_mirror_%',
    make: inProject('remote_mirrors', { url: 'https://example.com/x.git' }),
    sent: [{ enabled: true }, { only_protected_branches: true }],
  },
  'approval rule': {
    kind: 'approval_rule_%',
    make: inProject('approval_rules', { name: 'x', approvals_required: 1 }),
    sent: [
      { name: 'y', approvals_required: 2 },
      { name: 'y', approvals_required: 2, user_ids: [1] },
    ],
  },
  'push rule': {
    kind: 'push_rule_%',
    make: async (_world, who) => {
      const path = `${await projectOf(who)}/push_rule`
      expect((await who.post(path, { deny_delete_tag: false })).status).toBe(201)
      return path
    },
    sent: [{ deny_delete_tag: true, max_file_size: 3 }],
  },
  'broadcast message': {
    kind: 'broadcast_message_%',
    make: (_world, who) => madeIn(who, '/broadcast_messages', { message: 'x' }),
    sent: [{ message: 'y', font: '#ffffff' }],
  },
  'service of a project': {
    kind: 'service_%',
    make: async (_world, who) => {
      const path = `${await projectOf(who)}/services/slack`
      expect((await who.put(path, { webhook: 'https://example.com/x' })).status).toBe(200)
      return path
    },
    sent: [
      { webhook: 'https://example.com/y' },
      { webhook: 'https://example.com/y', channel: 'z', issues_events: false },
    ],
  },
  invitation: {
    kind: 'invitation_%',
    make: async (_world, who) => {
      const path = `${await projectOf(who)}/invitations`
      const email = `${unique('invited')}@example.com`
      expect((await who.post(path, { email, access_level: 10 })).status).toBe(201)
      return `${path}/${email}`
    },
    sent: [{ access_level: 30 }, { expires_at: '2031-02-03' }],
  },
  'custom attribute': {
    kind: 'custom_attribute_%',
    make: async (_world, who) => `${await projectOf(who)}/custom_attributes/x`,
    sent: [{ value: 'x' }, { value: 'y' }],
  },
  appearance: {
    kind: 'appearance_%',
    make: async () => '/application/appearance',
    sent: [{ title: unique('title') }, { description: '', header_message: unique('x') }],
  },
  'settings of the installation': {
    kind: 'settings_%',
    make: async () => '/application/settings',
    sent: [{ help_text: unique('help') }],
  },
  'protected branch': {
    kind: 'ref_%',
    method: 'PATCH',
    make: inProject('protected_branches', { name: 'stable' }, 'name'),
    sent: [{ allow_force_push: true }, { code_owner_approval_required: true }],
  },
}

/** The number of events of the kind that one request leaves. */
const eventsDuring = async (world: World, kind: string, request: () => Promise<void>) => {
  const count = async () => (await eventsOf(world, { kind }, 'payload')).length
  const before = await count()
  await request()
  return (await count()) - before
}

test.for(Object.entries(cases))('an edit that changes nothing has no event: %s', async ([, each], { world }) => {
  const { root } = world
  const path = await each.make(world, root)
  for (const sent of each.sent) {
    const edit = async () => {
      const answer = await root.send(
        each.method ?? 'PUT',
        path,
        typeof sent === 'function' ? { body: sent() } : { json: sent },
      )
      expect(answer.status, `${JSON.stringify(sent)} ${answer.text}`).toBe(200)
    }
    const what = JSON.stringify(sent) ?? 'picture'
    expect(await eventsDuring(world, each.kind, edit), `first: ${what}`).toBeGreaterThan(0)
    expect(await eventsDuring(world, each.kind, edit), `again: ${what}`).toBe(0)
  }
})

test('the event of an edit names what it changed, of all that a client sends', async ({ world }) => {
  const { root } = world
  const path = await projectOf(root)
  const { name, description, visibility, merge_method } = (await root.get(path)).json
  const edit = { name, description, visibility, merge_method, issues_enabled: true, topics: ['a'] }
  expect((await root.put(path, edit)).status).toBe(200)
  const project = Number(path.split('/').at(-1))
  expect(await eventsOf(world, { project, kind: 'project_updated' }, 'payload')).toEqual([
    { payload: { changed: ['topics'] } },
  ])
})

test('levels of a branch that it has already have no event, by the older call', async ({ world }) => {
  const { root } = world
  const path = await projectOf(root)
  const branch = (await root.get(path)).json.default_branch
  const protect = async (developers: boolean) => {
    const at = `${path}/repository/branches/${branch}/protect`
    expect((await root.put(at, { developers_can_push: developers, developers_can_merge: developers })).status).toBe(200)
  }
  await protect(false)
  expect(await eventsDuring(world, 'ref_%', () => protect(false))).toBe(0)
  expect(await eventsDuring(world, 'ref_%', () => protect(true))).toBe(1)
  expect(await eventsDuring(world, 'ref_%', () => protect(true))).toBe(0)
})
