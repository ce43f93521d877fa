import { describe, expect } from 'vitest'
import { newPublicKey } from '../../src/modules/accounts/ssh-keys/testing.ts'
import { type Client, test, unique, type World } from '../world.ts'

type Body = Record<string, unknown>

/** Something that clients make several of in one place. */
type Noun = {
  /** The list, below the place. */
  readonly list: string
  readonly make: (n: number) => Body
  /** Undefined if it cannot be changed. */
  readonly change?: Body
  readonly method?: 'PUT' | 'PATCH'
  /** What else is done to one, in this order, before it is deleted. */
  readonly acts?: readonly (readonly ['POST' | 'PUT' | 'DELETE', string, Body?])[]
  /** What names one in its path. */
  readonly key?: string
  readonly query?: string
}

const color = '#ff0000'
const url = 'https://203.0.114.9/'

const inBoth: readonly Noun[] = [
  { list: 'labels', make: (n) => ({ name: `label ${n}`, color }), change: { description: 'changed' } },
  { list: 'milestones', make: (n) => ({ title: `milestone ${n}` }), change: { state_event: 'close' } },
  { list: 'boards', make: (n) => ({ name: `board ${n}` }), change: { name: 'changed' } },
  {
    list: 'badges',
    make: (n) => ({ link_url: `${url}${n}`, image_url: url }),
    change: { image_url: `${url}changed` },
  },
  { list: 'variables', make: (n) => ({ key: `KEY_${n}`, value: 'x' }), change: { value: 'changed' }, key: 'key' },
  { list: 'hooks', make: (n) => ({ url: `${url}${n}` }), change: { url: `${url}changed` } },
  { list: 'deploy_tokens', make: (n) => ({ name: `token ${n}`, scopes: ['read_repository'] }) },
  { list: 'access_tokens', make: (n) => ({ name: `token ${n}`, scopes: ['api'], expires_at: '2099-01-01' }) },
]

const inProjects: readonly Noun[] = [
  ...inBoth,
  { list: 'deploy_keys', make: (n) => ({ title: `key ${n}`, key: newPublicKey() }), change: { title: 'changed' } },
  {
    list: 'snippets',
    make: (n) => ({ title: `snippet ${n}`, file_name: 'a', content: 'x', visibility: 'private' }),
    change: { title: 'changed', content: 'changed' },
  },
  {
    list: 'issues',
    make: (n) => ({ title: `issue ${n}` }),
    change: { title: 'changed', description: 'changed', labels: 'changed' },
    acts: [
      ['POST', 'time_estimate', { duration: '1h' }],
      ['POST', 'add_spent_time', { duration: '1h' }],
      ['POST', 'reset_spent_time'],
      ['POST', 'reset_time_estimate'],
      ['POST', 'unsubscribe'],
      ['POST', 'todo'],
      ['POST', 'notes', { body: '/close' }],
      ['POST', 'notes', { body: '/reopen' }],
    ],
    key: 'iid',
  },
  {
    list: 'merge_requests',
    make: (n) => ({ title: `change ${n}`, source_branch: `branch-${n}`, target_branch: 'main' }),
    change: { title: 'changed', description: 'changed', labels: 'changed' },
    acts: [
      ['POST', 'time_estimate', { duration: '1h' }],
      ['POST', 'add_spent_time', { duration: '1h' }],
      ['POST', 'reset_time_estimate'],
      ['POST', 'unsubscribe'],
      ['POST', 'todo'],
      ['POST', 'approve'],
      ['POST', 'approvals', { approvals_required: 1 }],
      ['POST', 'approvals', { approvals_required: 0 }],
      ['POST', 'unapprove'],
      ['PUT', 'approvers', { approver_ids: [], approver_group_ids: [] }],
      ['POST', 'notes', { body: '/close' }],
      ['POST', 'notes', { body: '/reopen' }],
    ],
    key: 'iid',
  },
  { list: 'approval_rules', make: (n) => ({ name: `rule ${n}`, approvals_required: 1 }), change: { name: 'changed' } },
  {
    list: 'protected_branches',
    make: (n) => ({ name: `protected-${n}` }),
    change: { allow_force_push: true },
    method: 'PATCH',
    key: 'name',
  },
  { list: 'protected_tags', make: (n) => ({ name: `protected-${n}` }), key: 'name' },
  { list: 'remote_mirrors', make: (n) => ({ url: `${url}${n}.git` }), change: { enabled: true } },
  {
    list: 'environments',
    make: (n) => ({ name: `environment ${n}` }),
    change: { external_url: url },
    acts: [['POST', 'stop']],
  },
  {
    list: 'releases',
    make: (n) => ({ tag_name: `tag-${n}`, ref: 'main', description: 'x' }),
    change: { description: 'changed' },
    key: 'tag_name',
  },
  { list: 'repository/branches', make: (n) => ({ branch: `new-${n}`, ref: 'main' }), key: 'name' },
]

const inGroups: readonly Noun[] = [
  ...inBoth,
  { list: 'epics', make: (n) => ({ title: `epic ${n}` }), change: { state_event: 'close' }, key: 'iid' },
]

const inIssues: readonly Noun[] = [
  { list: 'notes', make: (n) => ({ body: `note ${n}` }), change: { body: 'changed' } },
  { list: 'award_emoji', make: (n) => ({ name: ['rocket', 'eyes', 'star'][n] }) },
]

const inUsers: readonly Noun[] = [
  { list: 'keys', make: (n) => ({ title: `key ${n}`, key: newPublicKey() }) },
  { list: 'emails', make: () => ({ email: `${unique('further')}@example.com`, skip_confirmation: true }) },
  { list: 'impersonation_tokens', make: (n) => ({ name: `token ${n}`, scopes: ['api'] }) },
]

/** What is done to a project, and its content. */
const projectActs: NonNullable<Noun['acts']> = [
  [
    'POST',
    'repository/commits',
    { branch: 'master', commit_message: 'x', actions: [{ action: 'create', file_path: 'a.ts', content: 'x' }] },
  ],
  ['POST', 'star'],
  ['POST', 'unstar'],
  ['POST', 'push_rule', { max_file_size: 1 }],
  ['PUT', 'push_rule', { max_file_size: 2 }],
  ['DELETE', 'push_rule'],
  ['POST', 'approvals', { reset_approvals_on_push: false }],
  ['PUT', 'services/slack', { webhook: 'https://203.0.114.9/' }],
  ['DELETE', 'services/slack'],
  ['POST', 'wikis', { title: 'page', content: 'x' }],
  ['PUT', 'notification_settings', { level: 'watch' }],
  ['POST', 'export'],
  ['POST', 'archive'],
  ['POST', 'unarchive'],
]

const inInstance: readonly Noun[] = [
  {
    list: 'projects',
    make: () => ({ name: unique('one'), initialize_with_readme: true }),
    change: { description: 'changed', topics: ['changed'], path: unique('changed') },
    acts: projectActs,
    query: '?statistics=true',
  },
  {
    list: 'groups',
    make: () => ({ name: unique('one'), path: unique('one') }),
    change: { description: 'changed', path: unique('changed') },
    acts: [
      ['POST', 'push_rule', { max_file_size: 1 }],
      ['DELETE', 'push_rule'],
      ['PUT', 'notification_settings', { level: 'watch' }],
      ['POST', 'wikis', { title: 'page', content: 'x' }],
      ['POST', 'export'],
    ],
    query: '?statistics=true',
  },
  {
    list: 'users',
    make: () => {
      const username = unique('one')
      const email = `${username}@example.com`
      const identity = { provider: 'ldap', extern_uid: username }
      return { ...identity, username, name: 'One', email, password: unique('long password'), skip_confirmation: true }
    },
    change: { bio: 'changed', username: unique('changed'), email: `${unique('changed')}@example.com` },
    acts: [
      ['POST', 'block'],
      ['POST', 'unblock'],
      ['POST', 'deactivate'],
      ['POST', 'activate'],
      ['POST', 'ban'],
      ['POST', 'unban'],
      ['POST', 'follow'],
      ['POST', 'unfollow'],
      ['DELETE', 'identities/ldap'],
    ],
  },
  { list: 'topics', make: () => ({ name: unique('topic'), title: 'x' }), change: { title: 'changed' } },
  { list: 'broadcast_messages', make: (n) => ({ message: `message ${n}` }), change: { message: 'changed' } },
  { list: 'hooks', make: (n) => ({ url: `${url}${n}` }), change: { url: `${url}changed` } },
  {
    list: 'snippets',
    make: (n) => ({ title: `snippet ${n}`, file_name: 'a', content: 'x', visibility: 'private' }),
    change: { title: 'changed', content: 'changed' },
  },
]

async function projectAt(world: World): Promise<string> {
  const at = `/projects/${(await world.project()).id}`
  const commit = (branch: string, more: Body) =>
    world.root.post(`${at}/repository/commits`, {
      branch,
      commit_message: 'x',
      actions: [{ action: 'create', file_path: branch, content: 'x' }],
      ...more,
    })
  await world.root.post(`${at}/approvals`, { merge_requests_author_approval: true })
  await commit('main', {})
  for (const n of [1, 2]) expect((await commit(`branch-${n}`, { start_branch: 'main' })).status).toBe(201)
  return at
}

const groupAt = async (world: World) => `/groups/${(await world.group()).id}`

const issueAt = async (world: World) => {
  const at = `/projects/${(await world.project()).id}/issues`
  return `${at}/${(await world.root.post(at, { title: unique('discussed') })).json.iid}`
}

/**
 * Makes two in one place and one in another; changes and deletes the first; the others stay as they are, also when another place is named
 * in the path of one of them.
 */
async function leavesOthers(who: Client, places: readonly [string, string], noun: Noun): Promise<void> {
  const { list, make, change, method: by = 'PUT', acts = [], key = 'id', query = '' } = noun
  const make1 = async (place: string, n: number) => {
    const made = await who.post(`${place}/${list}`, make(n))
    expect(made.status, made.text).toBe(201)
    return `${place}/${list}/${encodeURIComponent(made.json[key])}`
  }
  const first = await make1(places[0], 1)
  const others = [await make1(places[0], 2), await make1(places[1], 1)]
  const read = async () => {
    const answers = await Promise.all(others.map((at) => who.get(`${at}${query}`)))
    return answers.map(({ status, json }) => ({ status, json }))
  }
  const before = await read()
  expect(before.map(({ status }) => status)).toEqual([200, 200])
  if (key === 'id' && places[0] !== places[1]) {
    const elsewhere = others[0]!.replace(places[0], places[1])
    expect((await who.get(elsewhere)).status).toBe(404)
    if (change) expect((await who.send(by, elsewhere, { json: change })).status).toBe(404)
    await who.delete(elsewhere)
    expect(await read(), 'through another place').toEqual(before)
  }
  if (change) {
    const changed = await who.send(by, first, { json: change })
    expect(changed.status, changed.text).toBe(200)
    expect(await read()).toEqual(before)
  }
  for (const [method, action, json] of acts) {
    const { status, text } = await who.send(method, `${first}/${action}`, json && { json })
    expect(`${action} ${status} ${text}`).toMatch(new RegExp(`^${action} 20[0-4]`))
    expect(await read(), `${method} ${action}`).toEqual(before)
  }
  expect(String((await who.delete(first)).status)).toMatch(/^20[024]$/)
  expect(await read()).toEqual(before)
}

describe('a change and a deletion of one leave others in the same place and elsewhere as they are', () => {
  test.for(inProjects)('in projects: $list', async (noun, { world }) =>
    leavesOthers(world.root, [await projectAt(world), await projectAt(world)], noun),
  )

  test.for(inGroups)('in groups: $list', async (noun, { world }) =>
    leavesOthers(world.root, [await groupAt(world), await groupAt(world)], noun),
  )

  test.for(inUsers)('of users: $list', async (noun, { world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    await leavesOthers(world.root, [`/users/${ann.id}`, `/users/${bob.id}`], noun)
  })

  test.for(inInstance)('in the installation: $list', async (noun, { world }) =>
    leavesOthers(world.root, ['', ''], noun),
  )

  test.for(inIssues)('in issues: $list', async (noun, { world }) =>
    leavesOthers(world.root, [await issueAt(world), await issueAt(world)], noun),
  )
})

describe('what belongs to one record stays when that of another is removed', () => {
  test('labels of boards, milestones of releases, subscriptions to labels', async ({ world }) => {
    const { root } = world
    const ann = await world.user()
    const at = await projectAt(world)
    await root.post(`${at}/members`, { user_id: ann.id, access_level: 30 })
    await root.post(`${at}/labels`, { name: 'bug', color })
    await root.post(`${at}/milestones`, { title: 'm' })
    const boards: string[] = []
    for (const n of [1, 2]) {
      boards.push(`${at}/boards/${(await root.post(`${at}/boards`, { name: `board ${n}` })).json.id}`)
      expect((await root.put(boards.at(-1)!, { labels: 'bug' })).json.labels).toHaveLength(1)
      const release = { tag_name: `v${n}`, ref: 'main', description: 'x', milestones: ['m'] }
      expect((await root.post(`${at}/releases`, release)).json.milestones).toHaveLength(1)
    }
    for (const who of [ann, root]) expect((await who.post(`${at}/labels/bug/subscribe`)).status).toBe(201)
    expect((await root.put(boards[0]!, { labels: '' })).json.labels).toEqual([])
    expect((await root.put(`${at}/releases/v1`, { milestones: [] })).json.milestones ?? []).toEqual([])
    expect((await root.post(`${at}/labels/bug/unsubscribe`)).status).toBe(201)
    expect((await root.get(boards[1]!)).json.labels).toHaveLength(1)
    expect((await root.get(`${at}/releases/v2`)).json.milestones).toHaveLength(1)
    expect((await ann.get(`${at}/labels/bug`)).json.subscribed).toBe(true)
  })
})
