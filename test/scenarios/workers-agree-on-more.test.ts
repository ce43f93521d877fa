import { FormData } from 'undici'
import { expect, test } from 'vitest'
import { Registry } from '../../src/edges/registry/testing.ts'
import { newGpgKey } from '../../src/modules/accounts/gpg-keys/testing.ts'
import { newPublicKey } from '../../src/modules/accounts/ssh-keys/testing.ts'
import { codeAt } from '../../src/modules/accounts/two-factor/testing.ts'
import { type Answer, type Ask, madeBy, passwordOfUsers, twoWorkers, userBy } from '../two-workers.ts'

/** What the calls of `workers-agree.test.ts` leave out: avatars, keys, settings, protections, images, moves and more. */

/** The smallest picture, with other bytes at its end for another picture. */
const picture = (end = '') =>
  Buffer.concat([
    Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    ),
    Buffer.from(end),
  ])

function form(field: string, bytes: Buffer): FormData {
  const sent = new FormData()
  sent.append(field, new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'image/png' }), 'a.png')
  return sent
}

type Look = {
  readonly path: string
  readonly show: (answer: Answer) => unknown
  readonly token: string | null | undefined
}
const at = (path: string, show: Look['show'], token?: string | null): Look => ({ path: `/api/v4${path}`, show, token })
const atFile = (path: string, show: Look['show'], token?: string | null): Look => ({ path, show, token })
const status = ({ status }: Answer) => status
const total = ({ total }: Answer) => total
const field =
  (name: string) =>
  ({ json }: Answer) =>
    json[name]

type Change = readonly [
  write: (ask: Ask) => Promise<Answer>,
  looks: readonly (readonly [look: Look, before: unknown, after: unknown])[],
]

const write =
  (method: string, path: string, body?: object | FormData, token?: string) =>
  (ask: Ask): Promise<Answer> =>
    ask(method, `/api/v4${path}`, body, token)

const ask = (worker: Ask, { path, token }: Look, headers?: Record<string, string>) =>
  worker('GET', path, undefined, token, headers)

/** Both workers show the same, with the same ETag, and neither calls it unchanged that was changed. */
async function compare(
  workers: readonly Ask[],
  look: Look,
  expected: unknown,
  when: string,
  etagBefore?: string,
): Promise<string | undefined> {
  const where = `${look.path} ${when}`
  const answers: Answer[] = []
  for (const worker of workers) {
    const answer = await ask(worker, look, etagBefore === undefined ? {} : { 'if-none-match': etagBefore })
    expect(look.show(answer), `${where}: ${JSON.stringify(answer.json).slice(0, 500)}`).toEqual(expected)
    answers.push(answer)
  }
  const [first, second] = answers as [Answer, Answer]
  expect([second.status, second.etag, second.json], where).toEqual([first.status, first.etag, first.json])
  if (first.etag !== undefined)
    for (const worker of workers)
      expect((await ask(worker, look, { 'if-none-match': first.etag })).status, where).toBe(304)
  return first.etag
}

/** The workers take turns in making a change; the other reads first. */
async function compareAfter([one, other]: readonly [Ask, Ask], changes: readonly Change[]): Promise<void> {
  for (const [index, [change, looks]] of changes.entries()) {
    const [maker, onlooker] = index % 2 === 0 ? [one, other] : [other, one]
    const etags: (string | undefined)[] = []
    // The second time, it is cached.
    for (const [look, before] of looks) {
      await compare([onlooker, maker], look, before, `before change ${index}`)
      etags.push(await compare([onlooker, maker], look, before, `again before change ${index}`))
    }
    const answer = await change(maker)
    expect(answer.status, `change ${index}: ${JSON.stringify(answer.json)}`).toBeLessThan(300)
    for (const [each, [look, , after]] of looks.entries())
      await compare([onlooker, maker], look, after, `after change ${index}`, etags[each])
  }
}

/** A public group with a project of a member. */
async function scene(one: Ask) {
  const [ann, bob] = [await userBy(one, 'ann'), await userBy(one, 'bob')]
  const group = await madeBy(one, '/groups', { name: 'Tools', path: 'tools', visibility: 'public' })
  const friends = await madeBy(one, '/groups', { name: 'Friends', path: 'friends', visibility: 'public' })
  const project = await madeBy(one, '/projects', {
    name: 'hammer',
    namespace_id: group.id,
    initialize_with_readme: true,
    default_branch: 'main',
    visibility: 'public',
    request_access_enabled: true,
  })
  await madeBy(one, `/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 })
  return { ann, bob, group, friends, project, P: `/projects/${project.id}`, G: `/groups/${group.id}` }
}

test('accounts, avatars, keys and tokens are those of the last write, in each worker', async () => {
  const { workers } = await twoWorkers()
  const [one] = workers
  const { ann, bob, project, P } = await scene(one)
  await madeBy(one, `${P}/issues`, { title: 'One', assignee_ids: [ann.id] })
  const [annsKey, key] = [newPublicKey(), newPublicKey()]
  const avatars = '/uploads/-/system'
  const [ofProject, ofAnn] = [`${avatars}/project/avatar/${project.id}/a.png`, `${avatars}/user/avatar/${ann.id}/a.png`]
  const hasPicture = (path: string) => (answer: Answer) => JSON.stringify(answer.json).includes(path)
  await compareAfter(workers, [
    [
      write('PUT', P, form('avatar', picture())),
      [
        [at(P, hasPicture(ofProject)), false, true],
        [at('/projects', hasPicture(ofProject), null), false, true],
        [atFile(ofProject, status, null), 404, 200],
      ],
    ],
    [
      write('PUT', P, form('avatar', picture('another'))),
      [[atFile(ofProject, ({ json }) => String(json).endsWith('another'), null), false, true]],
    ],
    [
      write('PUT', P, { visibility: 'private' }),
      [
        [atFile(ofProject, status, null), 200, 404],
        // She has it already, and it is the same.
        [atFile(ofProject, status, ann.token), 200, 304],
      ],
    ],
    [
      write('PUT', P, { visibility: 'public' }),
      [
        [atFile(ofProject, status, null), 404, 200],
        [at(`${P}/issues`, status, bob.token), 404, 200],
      ],
    ],
    [
      write('PUT', '/user/avatar', form('avatar', picture()), ann.token),
      [
        [at(`/users/${ann.id}`, hasPicture(ofAnn), bob.token), false, true],
        [at(`${P}/issues`, hasPicture(ofAnn)), false, true],
        [at(`${P}/members`, hasPicture(ofAnn)), false, true],
        [atFile(ofAnn, status, null), 404, 200],
      ],
    ],
    [
      write('PUT', '/user/status', { message: 'away' }, ann.token),
      [[at(`/users/${ann.id}/status`, field('message')), null, 'away']],
    ],
    [
      write('POST', `/users/${ann.id}/follow`, undefined, bob.token),
      [
        [at(`/users/${ann.id}/followers`, total), 0, 1],
        [at(`/users/${bob.id}/following`, total), 0, 1],
      ],
    ],
    [
      write('POST', '/user/keys', { title: 'laptop', key: annsKey }, ann.token),
      [[at(`/users/${ann.id}/keys`, total), 0, 1]],
    ],
    [write('DELETE', '/user/keys/1', undefined, ann.token), [[at(`/users/${ann.id}/keys`, total), 1, 0]]],
    [
      write('POST', '/user/gpg_keys', { key: await newGpgKey('ann@example.com') }, ann.token),
      [[at(`/users/${ann.id}/gpg_keys`, total), 0, 1]],
    ],
    [
      write('POST', `/users/${ann.id}/emails`, { email: 'more@example.com', skip_confirmation: true }),
      [
        [at(`/users/${ann.id}/emails`, total), 0, 1],
        [at('/users?search=more@example.com', total), 0, 1],
      ],
    ],
    [
      write('PUT', `/users/${ann.id}/custom_attributes/place`, { value: 'here' }),
      [[at(`/users?with_custom_attributes=true&username=ann`, ({ json }) => json[0].custom_attributes.length), 0, 1]],
    ],
    [
      write('POST', `${P}/deploy_keys`, { title: 'robot', key }),
      [
        [at(`${P}/deploy_keys`, total), 0, 1],
        [at('/deploy_keys', total), 0, 1],
      ],
    ],
    [
      write('POST', `${P}/deploy_tokens`, { name: 'd', scopes: ['read_repository'] }),
      [[at(`${P}/deploy_tokens`, total), 0, 1]],
    ],
    [
      write('POST', `${P}/access_tokens`, { name: 't', scopes: ['api'], access_level: 30 }),
      [
        [at(`${P}/access_tokens`, total), 0, 1],
        [at(`${P}/members/all`, total), 2, 3],
      ],
    ],
    [
      write('PUT', `/users/${ann.id}`, { private_profile: true }),
      [[at(`/users/${ann.id}/events`, ({ json }) => json.length > 0, bob.token), true, false]],
    ],
    [
      write('PUT', `/users/${ann.id}`, { name: 'Annie' }),
      [[at(`${P}/users`, ({ json }) => json.some(({ name }: any) => name === 'Annie')), false, true]],
    ],
    [
      write('POST', `/users/${bob.id}/ban`),
      [[at('/users?search=bob', ({ json }) => json[0].state), 'active', 'banned']],
    ],
  ])
})

test('what surrounds issues is that of the last write, in each worker', async () => {
  const { workers } = await twoWorkers()
  const [one] = workers
  const { ann, group, project, P, G } = await scene(one)
  const issue = await madeBy(one, `${P}/issues`, { title: 'One', labels: 'bug' })
  const { id: bug } = (await one('GET', `/api/v4${P}/labels/bug`)).json
  const { id: soon } = await madeBy(one, `${P}/milestones`, { title: 'soon' })
  await one('PUT', `/api/v4${P}/issues/1`, { milestone_id: soon })
  const epic = await madeBy(one, `${G}/epics`, { title: 'Epic' })
  const board = await madeBy(one, `${P}/boards`, { name: 'Work' })
  const badge = await madeBy(one, `${G}/badges`, { link_url: 'https://one.example', image_url: 'https://one.example' })
  await compareAfter(workers, [
    [
      write('POST', `${P}/boards/${board.id}/lists`, { label_id: bug }),
      [[at(`${P}/boards`, ({ json }) => json[0].lists.length), 0, 1]],
    ],
    [
      write('PUT', `${P}/labels/${bug}/promote`),
      [
        [at(`${G}/labels`, total), 0, 1],
        [at(`${P}/labels`, ({ json }) => json[0].is_project_label), true, false],
        [at(`${P}/labels?include_ancestor_groups=false`, total), 1, 0],
        [at(`${P}/issues?with_labels_details=true`, ({ json }) => json[0].labels[0].name), 'bug', 'bug'],
      ],
    ],
    [
      write('PUT', `${G}/labels/bug`, { new_name: 'fault' }),
      [
        [at(`${P}/issues/1`, field('labels')), ['bug'], ['fault']],
        [at(`${P}/issues?labels=fault`, total), 0, 1],
      ],
    ],
    [
      write('POST', `${P}/milestones/${soon}/promote`),
      [
        [at(`${G}/milestones`, total), 0, 1],
        [at(`${P}/milestones`, total), 1, 0],
        [at(`${P}/issues`, ({ json }) => json[0].milestone.group_id ?? null), null, group.id],
      ],
    ],
    [
      write('POST', `${G}/epics/${epic.iid}/issues/${issue.id}`),
      [
        [at(`${P}/issues/1`, ({ json }) => json.epic?.title ?? null), null, 'Epic'],
        [at(`${G}/epics/1/issues`, total), 0, 1],
      ],
    ],
    [
      write('PUT', `${G}/epics/1`, { title: 'Saga', state_event: 'close' }),
      [
        [at(`${G}/epics?state=closed`, total), 0, 1],
        [at(`${P}/issues/1`, ({ json }) => json.epic.title), 'Epic', 'Saga'],
      ],
    ],
    [
      write('POST', `${G}/epics/1/award_emoji`, { name: 'tada' }, ann.token),
      [[at(`${G}/epics/1/award_emoji`, total), 0, 1]],
    ],
    [
      write('PUT', `${P}/boards/${board.id}`, { name: 'Play' }),
      [[at(`${P}/boards/${board.id}`, field('name')), 'Work', 'Play']],
    ],
    [write('POST', `${P}/issues/1/todo`, undefined, ann.token), [[at('/todos', total, ann.token), 0, 1]]],
    [write('POST', '/todos/mark_as_done', undefined, ann.token), [[at('/todos', total, ann.token), 1, 0]]],
    [
      write('PUT', `${P}/notification_settings`, { level: 'watch' }, ann.token),
      [[at(`${P}/notification_settings`, field('level'), ann.token), 'global', 'watch']],
    ],
    [
      write('POST', `${P}/issues`, { title: 'Two' }),
      [
        [
          at(`${P}/events`, ({ json }) => json.some((each: any) => each.target_title === 'Two'), ann.token),
          false,
          true,
        ],
      ],
    ],
    [
      write('PUT', `${G}/badges/${badge.id}`, { link_url: 'https://two.example' }),
      [[at(`${P}/badges`, ({ json }) => json[0].link_url), 'https://one.example', 'https://two.example']],
    ],
    [
      write('POST', `${P}/wikis`, { title: 'home', content: 'text' }),
      [[at(`${P}/wikis`, ({ json }) => json.length), 0, 1]],
    ],
    [
      write('PUT', `${P}/wikis/home`, { title: 'home', content: 'more' }),
      [[at(`${P}/wikis/home`, field('content')), 'text', 'more']],
    ],
    [write('POST', `${P}/issues/2/clone`, { to_project_id: project.id }), [[at(`${P}/issues`, total), 2, 3]]],
    [write('DELETE', `${P}/issues/3`), [[at(`${P}/issues?scope=all`, total), 3, 2]]],
  ])
})

test('settings of projects, groups and the installation are those of the last write, in each worker', async () => {
  const { workers } = await twoWorkers()
  const [one] = workers
  const { ann, P, G, project } = await scene(one)
  const topic = await madeBy(one, '/topics', { name: 'wood', title: 'Wood' })
  const message = await madeBy(one, '/broadcast_messages', { message: 'hello' })
  await madeBy(one, `${P}/repository/tags`, { tag_name: 'v1', ref: 'main' })
  const hooks = [`${P}/hooks`, `${G}/hooks`, '/hooks']
  await compareAfter(workers, [
    ...hooks.map((path): Change => [write('POST', path, { url: 'https://hook.example' }), [[at(path, total), 0, 1]]]),
    ...[`${P}/variables`, `${G}/variables`, '/admin/ci/variables'].map(
      (path): Change => [
        write('POST', path, { key: 'KEY', value: 'value' }),
        [
          [at(path, total), 0, 1],
          [at(`${path}/KEY`, status), 404, 200],
        ],
      ],
    ),
    ...[P, G].map(
      (path): Change => [
        write('PUT', `${path}/custom_attributes/place`, { value: 'here' }),
        [[at(`${path}?with_custom_attributes=true`, ({ json }) => json.custom_attributes.length), 0, 1]],
      ],
    ),
    ...[P, G, '/application'].map(
      (path): Change => [
        write('POST', `${path}/push_rule`, { max_file_size: 7 }),
        [[at(`${path}/push_rule`, ({ json }) => json?.max_file_size ?? null), null, 7]],
      ],
    ),
    [write('PUT', P, { topics: ['wood'] }), [[at(`/topics/${topic.id}`, field('total_projects_count')), 0, 1]]],
    [
      write('PUT', `/topics/${topic.id}`, { title: 'Iron' }),
      [[at('/topics', ({ json }) => json[0].title, null), 'Wood', 'Iron']],
    ],
    [
      write('PUT', `/broadcast_messages/${message.id}`, { message: 'bye' }),
      [[at('/broadcast_messages', ({ json }) => json[0].message, null), 'hello', 'bye']],
    ],
    [
      write('PUT', '/application/appearance', { title: 'Forge' }),
      [[at('/application/appearance', field('title')), '', 'Forge']],
    ],
    [write('POST', '/features/quick', { value: 'true' }), [[at('/features', ({ json }) => json.length), 0, 1]]],
    [
      write('PUT', `${P}/integrations/slack`, { webhook: 'https://hooks.slack.com/x' }),
      [
        [at(`${P}/integrations`, ({ json }) => json.length), 0, 1],
        [at(`${P}/integrations/slack`, status), 404, 200],
      ],
    ],
    [
      write('POST', `${P}/remote_mirrors`, { url: 'https://mirror.example/a.git' }),
      [[at(`${P}/remote_mirrors`, total), 0, 1]],
    ],
    [
      write('POST', `${P}/protected_branches`, { name: 'm*', push_access_level: 0 }),
      [
        [at(`${P}/protected_branches`, total), 1, 2],
        [at(`${P}/protected_branches/m%2A`, status), 404, 200],
      ],
    ],
    [
      write('DELETE', `${P}/protected_branches/main`),
      [
        [
          at(`${P}/repository/branches/main`, ({ json }) => [json.protected, json.can_push], ann.token),
          [true, true],
          [true, false],
        ],
      ],
    ],
    [
      write('DELETE', `${P}/protected_branches/m%2A`),
      [[at(`${P}/repository/branches`, ({ json }) => json[0].protected, ann.token), true, false]],
    ],
    [
      write('POST', `${P}/protected_tags`, { name: 'v*' }),
      [[at(`${P}/repository/tags`, ({ json }) => json[0].protected), false, true]],
    ],
    [
      write('POST', `${P}/approval_rules`, { name: 'all', approvals_required: 1 }),
      [[at(`${P}/approval_rules`, total), 0, 1]],
    ],
    [
      write('PUT', `${P}/approvers`, { approver_ids: [ann.id], approver_group_ids: [] }),
      [[at(`${P}/approvals`, ({ json }) => json.approvers.length), 0, 1]],
    ],
    [
      write('PUT', P, { merge_method: 'ff', description: 'Steel' }),
      [[at('/projects', ({ json }) => json.find(({ id }: any) => id === project.id).description, null), null, 'Steel']],
    ],
    [write('PUT', P, { issues_access_level: 'disabled' }), [[at(`${P}/issues`, status, ann.token), 200, 403]]],
  ])
})

test('projects and groups that move, end and come back do so in each worker at once', async () => {
  const { workers } = await twoWorkers()
  const [one] = workers
  const { ann, bob, group, friends, P, G } = await scene(one)
  const shared = ({ json }: Answer) => json.shared_with_groups.map((each: any) => each.group_full_path)
  const path = field('path_with_namespace')
  await compareAfter(workers, [
    [
      write('POST', `${P}/share`, { group_id: friends.id, group_access: 30 }),
      [
        [at(P, shared), [], ['friends']],
        [at(`/groups/${friends.id}/projects/shared`, total), 0, 1],
      ],
    ],
    [
      write('PUT', `/groups/${friends.id}`, { path: 'mates' }),
      [
        [at(P, shared), ['friends'], ['mates']],
        [at('/projects', ({ json }) => json[0].shared_with_groups[0].group_full_path, ann.token), 'friends', 'mates'],
      ],
    ],
    [
      write('PUT', `/groups/${friends.id}`, { visibility: 'private' }),
      [
        [at(P, shared, bob.token), ['mates'], []],
        [at(`/groups/${friends.id}`, status, bob.token), 200, 404],
      ],
    ],
    [write('POST', `${P}/archive`), [[at('/projects?archived=true', total), 0, 1]]],
    [write('POST', `${P}/unarchive`), [[at(P, field('archived')), true, false]]],
    [write('POST', `${P}/access_requests`, undefined, bob.token), [[at(`${P}/access_requests`, total), 0, 1]]],
    [
      write('PUT', `${P}/access_requests/${bob.id}/approve`),
      [
        [at(`${P}/members`, total), 2, 3],
        [at('/projects?membership=true', total, bob.token), 0, 1],
      ],
    ],
    [
      write('PUT', `${P}/transfer`, { namespace: friends.id }),
      [
        [at(P, path, ann.token), 'tools/hammer', 'mates/hammer'],
        [at('/projects/mates%2Fhammer', status, ann.token), 404, 200],
        [at(`${G}/projects`, total), 1, 0],
      ],
    ],
    [
      write('PUT', `${P}/transfer`, { namespace: group.id }),
      [[at(P, path, ann.token), 'mates/hammer', 'tools/hammer']],
    ],
    [
      write('POST', `${G}/transfer`, { group_id: friends.id }),
      [
        [at(G, field('full_path')), 'tools', 'mates/tools'],
        [at(P, path, ann.token), 'tools/hammer', 'mates/tools/hammer'],
      ],
    ],
    [write('DELETE', P), [[at(P, ({ json }) => json.marked_for_deletion_on !== null), false, true]]],
    [write('POST', `${P}/restore`), [[at(P, ({ json }) => json.marked_for_deletion_on !== null), true, false]]],
    [write('DELETE', G), [[at(G, ({ json }) => json.marked_for_deletion_on !== null), false, true]]],
    [write('POST', `${G}/restore`), [[at(G, ({ json }) => json.marked_for_deletion_on !== null), true, false]]],
    [write('DELETE', `/users/${bob.id}`), [[at(`${P}/members`, total), 3, 2]]],
  ])
})

test('container tags that are deleted and restored are so in each worker at once', async () => {
  const { workers, root } = await twoWorkers()
  const [one] = workers
  const { P } = await scene(one)
  const image = await Registry.open(root, 'tools/hammer')
  for (const tag of ['a', 'b', 'c']) await image.image(tag)
  const [{ id }] = (await one('GET', `/api/v4${P}/registry/repositories`)).json
  const tags = `${P}/registry/repositories/${id}/tags`
  const counted = at(`/registry/repositories/${id}?tags_count=true`, field('tags_count'))
  await compareAfter(workers, [
    [
      write('DELETE', `${tags}/a`),
      [
        [at(tags, total), 3, 2],
        [at(`${tags}/a`, status), 200, 404],
        [counted, 3, 2],
      ],
    ],
    [write('POST', `${tags}/a/restore`), [[at(`${tags}/a`, status), 404, 200]]],
  ])
  const repositories = at(`${P}/registry/repositories`, total)
  await one('DELETE', `/api/v4${P}/registry/repositories/${id}`)
  // Until the job has run, it is listed as scheduled for deletion.
  for (const worker of workers) await expect.poll(async () => total(await ask(worker, repositories))).toBe(0)
  await compareAfter(workers, [[write('POST', `${P}/registry/repositories/${id}/restore`), [[repositories, 0, 1]]]])
})

type Call = readonly [
  method: string,
  path: string,
  body?: object | undefined,
  token?: string | null | undefined,
  headers?: Record<string, string> | undefined,
]

test('of two equal writes, one after the other or in two workers at once, one succeeds, and the other gets the status that says why not', async () => {
  const { workers } = await twoWorkers()
  const [one, other] = workers
  const { ann, P, G } = await scene(one)
  let count = 0
  const name = () => `name${++count}`
  const issue = async () => (await madeBy(one, `${P}/issues`, { title: 'x' })).iid
  const api = (method: string, path: string, body?: object, token?: string): Call => [
    method,
    `/api/v4${path}`,
    body,
    token,
  ]
  const label = () => madeBy(one, `${P}/labels`, { name: name(), color: '#112233' })
  const tokenOf = (grant: object, headers?: Record<string, string>): Call => [
    'POST',
    '/oauth/token',
    grant,
    null,
    headers,
  ]
  const signIn = (username: string) => ({ grant_type: 'password', username, password: passwordOfUsers })
  const secured = async () => {
    const user = await userBy(one, name())
    const { secret } = await madeBy(one, '/user/two_factor', { password: passwordOfUsers }, user.token)
    // Workers have their own clock: the codes of this step and of the next are accepted for half a minute at least.
    const now = Date.now()
    const code = codeAt(secret, now)
    const { recovery_codes } = await madeBy(one, '/user/two_factor/confirm', { code }, user.token)
    return { ...user, code: codeAt(secret, now + 30_000), recovery: recovery_codes[0] }
  }
  const races: readonly (readonly [call: () => Promise<Call> | Call, statuses: readonly number[]])[] = [
    [() => api('POST', '/projects', { name: name() }), [201, 400]],
    [() => api('POST', '/groups', { name: name(), path: `group${count}` }), [201, 400]],
    [() => api('POST', '/users', { ...signIn(name()), name: 'x', email: `${name()}@example.com` }), [201, 409]],
    [() => api('POST', `/users/${ann.id}/emails`, { email: `${name()}@example.com` }), [201, 400]],
    [() => api('POST', '/user/keys', { title: 'x', key: newPublicKey() }), [201, 400]],
    [async () => api('POST', '/user/gpg_keys', { key: await newGpgKey('a@example.com') }), [201, 400]],
    [() => api('POST', '/topics', { name: name(), title: 'x' }), [201, 400]],
    [() => api('POST', `${P}/labels`, { name: name(), color: '#112233' }), [201, 409]],
    [() => api('POST', `${P}/milestones`, { title: name() }), [201, 400]],
    [() => api('POST', `${P}/variables`, { key: name(), value: 'x' }), [201, 400]],
    [() => api('POST', `${P}/environments`, { name: name() }), [201, 400]],
    [() => api('POST', `${P}/protected_branches`, { name: name() }), [201, 409]],
    [() => api('POST', `${P}/protected_tags`, { name: name() }), [201, 409]],
    [() => api('POST', `${P}/releases`, { tag_name: name(), ref: 'main' }), [201, 409]],
    [() => api('POST', `${P}/wikis`, { title: name(), content: 'x' }), [201, 400]],
    [() => api('POST', `${P}/repository/branches`, { branch: name(), ref: 'main' }), [201, 400]],
    [() => api('POST', `${P}/repository/tags`, { tag_name: name(), ref: 'main' }), [201, 400]],
    [async () => api('POST', `${P}/issues/${await issue()}/award_emoji`, { name: 'tada' }), [201, 404]],
    [async () => api('POST', `${P}/issues/${await issue()}/todo`), [201, 304]],
    [async () => api('DELETE', `${P}/issues/${await issue()}`), [204, 404]],
    [async () => api('PUT', `${P}/labels/${(await label()).id}/promote`), [200, 404]],
    [async () => api('DELETE', `${P}/labels/${(await label()).id}`), [204, 404]],
    [async () => api('POST', `/users/${(await userBy(one, name())).id}/follow`), [201, 304]],
    [
      async () => api('POST', `${P}/members`, { user_id: (await userBy(one, name())).id, access_level: 30 }),
      [201, 409],
    ],
    [() => api('PUT', `${P}/approvers`, { approver_ids: [++count % 2 ? ann.id : 1] }), [200, 200]],
    [() => api('PUT', `${P}/custom_attributes/${name()}`, { value: 'x' }), [200, 200]],
    [async () => api('PUT', '/user/status', { message: 'x' }, (await userBy(one, name())).token), [200, 200]],
    [
      async () => {
        const { id } = await madeBy(one, `${G}/access_tokens`, { name: 'x', scopes: ['api'], access_level: 30 })
        return api('POST', `${G}/access_tokens/${id}/rotate`)
      },
      [200, 400],
    ],
    [
      async () => {
        const { username } = await userBy(one, name())
        const { refresh_token } = (await one(...tokenOf(signIn(username)))).json
        return tokenOf({ grant_type: 'refresh_token', refresh_token })
      },
      [200, 400],
    ],
    [
      async () => {
        const { username, code } = await secured()
        return tokenOf(signIn(username), { 'x-service-otp': code })
      },
      [200, 400],
    ],
    [
      async () => {
        const { username, recovery } = await secured()
        return tokenOf(signIn(username), { 'x-service-otp': recovery })
      },
      [200, 400],
    ],
  ]
  for (const [call, statuses] of races) {
    for (let round = 0; round < 3; round++) {
      const made = await call()
      const answers =
        round === 0
          ? [await one(...made), await other(...made)]
          : await Promise.all(round === 1 ? [one(...made), other(...made)] : [other(...made), one(...made)])
      const found = answers.map(({ status }) => status).sort()
      expect(found, `${made.slice(0, 2).join(' ')}: ${JSON.stringify(answers.map(({ json }) => json))}`).toEqual(
        statuses,
      )
    }
  }
})
