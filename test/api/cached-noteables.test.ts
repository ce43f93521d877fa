import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, inject } from 'vitest'
import { createApp } from '../../src/app.ts'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { readTexts } from '../../src/modules/review/closing/testing.ts'
import { forkOf, type OpenedMergeRequest, openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { retarget } from '../tables/review.ts'
import { Client, freePort, type TestGroup, test, unique, type World } from '../world.ts'

/**
 * Caching rows and the texts of records must not change any response, for any caller, after any change of what they show. A second
 * service on the same database, which can cache nothing, answers the same requests.
 */

/** Too little for any row or text. */
const cacheBytes = 100

/** The port of a service that caches nothing. */
async function uncached(world: World) {
  const port = await freePort()
  const app = await createApp(
    { ...world.config, http: { ...world.config.http, port }, sshPort: 0, cacheBytes },
    { databaseUrl: world.databaseUrl, runnerSocket: inject('runnerSocket') },
  )
  await app.listen()
  return { origin: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() }
}

type Scene = {
  merge: OpenedMergeRequest
  project: { id: number; full_path: string }
  /** Private; the developer is a reporter. Texts name its issue. */
  other: { id: number; full_path: string }
  group: TestGroup
  author: Client
  member: Client
  /** IDs of what the records show. */
  label: number
  milestone: number
  viewers: Record<string, Client>
  paths: readonly string[]
}

async function limitedToken(world: World, who: Client, limits: object): Promise<Client> {
  const made = await who.post('/user/personal_access_tokens', { name: 'limited', scopes: ['api'], ...limits })
  expect(made.status, made.text).toBe(201)
  return new Client(world.origin, { id: who.id, username: who.username, token: made.json.token })
}

const made = async (answer: ReturnType<Client['post']>) => {
  const { status, text, json } = await answer
  expect(status, text).toBe(201)
  return json
}

async function scene(world: World): Promise<Scene> {
  const { root } = world
  const [author, member, guest, stranger] = await Promise.all([world.user(), world.user(), world.user(), world.user()])
  const group = await world.group({ visibility: 'public', members: [[author, 'developer']] })
  const project = await storedProject(world, {
    visibility: 'public',
    group,
    members: [
      [member, 'developer'],
      [guest, 'guest'],
    ],
  })
  const of = `/projects/${project.id}`
  const label = await made(root.post(`${of}/labels`, { name: 'bug', color: '#ff0000', description: 'about #1' }))
  const milestone = await made(root.post(`${of}/milestones`, { title: 'first' }))
  const shown = { labels: 'bug', milestone_id: milestone.id, assignee_ids: [author.id] }
  const other = await storedProject(world, { visibility: 'private', group, members: [[member, 'reporter']] })
  await made(root.post(`/projects/${other.id}/issues`, { title: 'Elsewhere' }))
  const ofOther = `${other.full_path}#1, ${other.full_path}~later`
  const names = `#1, #2, !1, ~bug, ~later, %first, &1, ${ofOther} and @${author.username}`
  const description = `Like ${names}.\n\n- [ ] to do\n- [x] done`
  await made(author.post(`${of}/issues`, { title: 'One', description, ...shown }))
  await made(author.post(`${of}/issues`, { title: 'Two', confidential: true, description: 'See #1' }))
  await made(root.post(`/groups/${group.id}/epics`, { title: 'Epic', description, labels: 'bug' }))
  const merge = await openMergeRequest(world, {
    project,
    author,
    title: 'A change of #1',
    description: `${description}\n\nCloses #1`,
    reviewer_ids: [member.id],
    ...shown,
  })
  const details = 'render_html=true&with_labels_details=true'
  const [toProject, elsewhere] = await Promise.all([
    limitedToken(world, member, { project_ids: [project.id] }),
    limitedToken(world, member, { group_ids: [(await world.group({ members: [[member, 'developer']] })).id] }),
  ])
  return {
    merge,
    project,
    other,
    group,
    author,
    member,
    label: label.id,
    milestone: milestone.id,
    // A limited token comes before the account it belongs to: its response must not be served to the other viewers.
    viewers: {
      'a token limited to the project': toProject,
      'a token limited to another group': elsewhere,
      'the author': author,
      'a developer': member,
      'a guest': guest,
      'a user without membership': stranger,
      'an anonymous caller': world.anonymous,
      'an administrator': root,
    },
    paths: [
      merge.at,
      `${merge.at}?render_html=true`,
      `${merge.at}?include_rebase_in_progress=true`,
      `${of}/merge_requests`,
      `${of}/merge_requests?${details}`,
      `${of}/merge_requests?view=simple`,
      `/groups/${group.id}/merge_requests`,
      `${of}/issues/1`,
      `${of}/issues/1?render_html=true`,
      `${of}/issues/2`,
      `${of}/issues`,
      `${of}/issues?${details}`,
      `/groups/${group.id}/issues`,
      `${of}/issues/1/closed_by`,
      `/groups/${group.id}/epics`,
      `/groups/${group.id}/epics?with_labels_details=true`,
    ],
  }
}

type Change = { readonly what: string; readonly make: (scene: Scene, world: World) => Promise<unknown> }

type Edit = readonly [method: 'post' | 'put' | 'delete', path: string, values?: object]

const change = (what: string, edit: (scene: Scene) => Edit, by?: (scene: Scene) => Client): Change => ({
  what,
  async make(at, world) {
    const [method, path, values = {}] = edit(at)
    const { status, text } = await (by?.(at) ?? world.root)[method](path, values)
    expect(status, `${what}: ${text}`).toBeLessThan(300)
  },
})

const of = ({ project }: Scene) => `/projects/${project.id}`
const authorOf = ({ author }: Scene) => author
const memberOf = ({ member }: Scene) => member
const status = (state: string): Change =>
  change(`a pipeline that is ${state}`, (at) => [
    'post',
    `${of(at)}/statuses/${at.merge.head}`,
    { state, ref: at.merge.branch },
  ])

/** Settings take effect in every process within a second. */
const settings = (what: string, values: Parameters<World['settings']>[0]): Change => ({
  what,
  async make(_at, world) {
    await world.settings(values)
    await delay(1000)
  },
})

const changes: readonly Change[] = [
  change('titles', ({ merge }) => ['put', merge.at, { title: 'Draft: another title' }]),
  change('the title of the issue', (at) => ['put', `${of(at)}/issues/1`, { title: 'First' }]),
  change('a label that texts have named', (at) => ['post', `${of(at)}/labels`, { name: 'later', color: '#0000ff' }]),
  change('a label of another project', ({ other }) => [
    'post',
    `/projects/${other.id}/labels`,
    { name: 'later', color: '#00ffff' },
  ]),
  change('the title of an issue of another project', ({ other }) => [
    'put',
    `/projects/${other.id}/issues/1`,
    { title: 'Somewhere' },
  ]),
  change('who may see another project', ({ other }) => ['put', `/projects/${other.id}`, { visibility: 'public' }]),
  change('who may see it no longer', ({ other }) => ['put', `/projects/${other.id}`, { visibility: 'private' }]),
  change('who is a member of it', ({ other, member }) => ['delete', `/projects/${other.id}/members/${member.id}`]),
  change('the description', ({ merge }) => ['put', merge.at, { description: 'See #1 and #2, nothing else' }], authorOf),
  change('the color of a label', (at) => ['put', `${of(at)}/labels/${at.label}`, { color: '#00ff00' }]),
  change('the name of a label', (at) => ['put', `${of(at)}/labels/${at.label}`, { new_name: 'error' }]),
  change('the description of a label', (at) => ['put', `${of(at)}/labels/${at.label}`, { description: 'for #2' }]),
  change('the labels', ({ merge }) => ['put', merge.at, { labels: 'new,error' }]),
  change('the milestone', (at) => ['put', `${of(at)}/milestones/${at.milestone}`, { title: 'second' }]),
  change('the name of the assignee', ({ author }) => ['put', `/users/${author.id}`, { name: unique('Person') }]),
  change('the username of the assignee', ({ author }) => ['put', `/users/${author.id}`, { username: unique('user') }]),
  change('the address of the assignee', ({ author }) => [
    'put',
    `/users/${author.id}`,
    { email: `${unique('mail')}@example.com`, skip_reconfirmation: true },
  ]),
  change('the assignees', ({ merge, member }) => ['put', merge.at, { assignee_ids: [member.id] }]),
  status('pending'),
  status('running'),
  status('success'),
  change('who may read pipelines', (at) => ['put', of(at), { public_builds: false, builds_access_level: 'private' }]),
  change('the protection of the target', (at) => [
    'post',
    `${of(at)}/protected_branches`,
    { name: 'main', merge_access_level: 40, push_access_level: 40 },
  ]),
  change('no protection', (at) => ['delete', `${of(at)}/protected_branches/main`]),
  change('the merge method', (at) => ['put', of(at), { merge_method: 'ff' }]),
  change('estimated time', ({ merge }) => ['post', `${merge.at}/time_estimate`, { duration: '3d 2h' }]),
  change('spent time', (at) => ['post', `${of(at)}/issues/1/add_spent_time`, { duration: '2w' }]),
  settings('the unit of times', { time_tracking_limit_to_hours: true }),
  change('a comment', ({ merge }) => ['post', `${merge.at}/notes`, { body: 'Why?' }]),
  change('a discussion', ({ merge }) => ['post', `${merge.at}/discussions`, { body: 'How?' }]),
  change('a reaction', (at) => ['post', `${of(at)}/issues/1/award_emoji`, { name: 'thumbsup' }]),
  change('a subscription', ({ merge }) => ['post', `${merge.at}/unsubscribe`], memberOf),
  change('a subscription to the issue', (at) => ['post', `${of(at)}/issues/1/subscribe`], memberOf),
  change('what a reference may show', (at) => ['put', `${of(at)}/issues/2`, { confidential: false }]),
  change('what a reference may show no longer', (at) => ['put', `${of(at)}/issues/1`, { confidential: true }]),
  change('the epic of the issue', (at) => ['put', `${of(at)}/issues/2`, { epic_iid: 1, weight: 3 }]),
  change('the title of the epic', ({ group }) => ['put', `/groups/${group.id}/epics/1`, { title: 'Saga' }]),
  change('the path of the project', (at) => ['put', of(at), { path: unique('renamed') }]),
  change('the path of the group', ({ group }) => ['put', `/groups/${group.id}`, { path: unique('moved') }]),
  change('the level of a member', (at) => ['put', `${of(at)}/members/${at.member.id}`, { access_level: 40 }]),
  change('who may read issues', (at) => ['put', of(at), { issues_access_level: 'private' }]),
  settings('avatars', { avatar_service_enabled: false }),
  change('the state', ({ merge }) => ['put', merge.at, { state_event: 'close' }]),
  change('a blocked author', ({ author }) => ['post', `/users/${author.id}/block`]),
  change('the visibility', (at) => ['put', of(at), { visibility: 'private' }]),
  change('a member who left', (at) => ['delete', `${of(at)}/members/${at.member.id}`]),
]

/** Compares the responses of both services, byte by byte. */
async function compare(client: Client, fresh: Client, paths: readonly string[]): Promise<void> {
  await Promise.all(
    paths.map(async (path) => {
      const cached = await client.get(path)
      const expected = await fresh.get(path)
      expect([path, cached.status, cached.text]).toEqual([path, expected.status, expected.text])
    }),
  )
}

/** A project whose issue and merge requests depend on rows of other projects and of their group. */
async function connected(world: World) {
  const { root } = world
  const [author, member, stranger] = await Promise.all([world.user(), world.user(), world.user()])
  const group = await world.group({ visibility: 'public', members: [[member, 'developer']] })
  const [project, sibling] = [await storedProject(world, { group }), await storedProject(world, { group })]
  const label = await made(root.post(`/groups/${group.id}/labels`, { name: 'shared', color: '#ff0000' }))
  const milestone = await made(root.post(`/groups/${group.id}/milestones`, { title: 'shared' }))
  // One of both: each must be followed for itself.
  const [labelled, planned] = [{ labels: 'shared' }, { milestone_id: milestone.id }]
  const of = `/projects/${project.id}`
  await made(root.post(`${of}/issues`, { title: 'One', ...labelled }))
  await made(root.post(`${of}/issues`, { title: 'Two', ...planned }))
  await made(root.post(`/projects/${sibling.id}/issues`, { title: 'Other', ...labelled }))
  const own = await openMergeRequest(world, { project, author: root, title: 'Own', ...labelled })
  const closing = await openMergeRequest(world, {
    project: sibling,
    author: root,
    description: `Closes ${project.full_path}#1`,
    ...planned,
  })
  const fork = await forkOf(world, project, author)
  const forked = await openMergeRequest(world, { project, source: fork, author, branch: 'forked', title: 'Forked' })
  return {
    ...{ group, project, sibling, fork, own, closing, forked, label: label.id, milestone: milestone.id },
    viewers: {
      'the author': author,
      'a member': member,
      'a user without membership': stranger,
      'an administrator': root,
    },
    paths: [
      own.at,
      closing.at,
      forked.at,
      `${of}/issues/1`,
      `${of}/issues/2`,
      `${of}/issues/1/closed_by`,
      `${of}/issues`,
      `${of}/issues?labels=shared&order_by=updated_at`,
      `${of}/merge_requests`,
      `${of}/merge_requests?milestone=shared`,
      `/groups/${group.id}/issues`,
      `/groups/${group.id}/merge_requests?order_by=updated_at`,
      `/issues?scope=all&author_id=${root.id}&order_by=updated_at`,
      `/issues?scope=all&labels=shared`,
      `/merge_requests?scope=all&author_id=${author.id}`,
    ],
  }
}

type Connected = Awaited<ReturnType<typeof connected>>

const elsewhere = (what: string, edit: (at: Connected) => Edit) => ({
  what,
  async make(at: Connected, world: World) {
    const [method, path, values = {}] = edit(at)
    const { status, text } = await world.root[method](path, values)
    expect(status, `${what}: ${text}`).toBeLessThan(300)
  },
})

const reported = (
  what: string,
  where: (at: Connected) => { id: number },
  of: (at: Connected) => OpenedMergeRequest,
  state: string,
) =>
  elsewhere(what, (at) => ['post', `/projects/${where(at).id}/statuses/${of(at).head}`, { state, ref: of(at).branch }])

const changesElsewhere = [
  elsewhere('a note in another project', ({ sibling }) => [
    'post',
    `/projects/${sibling.id}/issues/1/notes`,
    { body: 'a' },
  ]),
  elsewhere('a note in the project', ({ project }) => [
    'post',
    `/projects/${project.id}/issues/1/notes`,
    { body: 'b' },
  ]),
  elsewhere('the color of a label of the group', ({ group, label }) => [
    'put',
    `/groups/${group.id}/labels/${label}`,
    { color: '#00ff00' },
  ]),
  elsewhere('the name of a label of the group', ({ group, label }) => [
    'put',
    `/groups/${group.id}/labels/${label}`,
    { new_name: 'common' },
  ]),
  elsewhere('the title of a milestone of the group', ({ group, milestone }) => [
    'put',
    `/groups/${group.id}/milestones/${milestone}`,
    { title: 'later', due_date: '2030-01-01' },
  ]),
  elsewhere('the title of an issue in another project', ({ sibling }) => [
    'put',
    `/projects/${sibling.id}/issues/1`,
    { title: 'Another' },
  ]),
  reported(
    'a pipeline of the fork',
    ({ fork }) => fork,
    ({ forked }) => forked,
    'running',
  ),
  reported(
    'a pipeline of the fork that fails',
    ({ fork }) => fork,
    ({ forked }) => forked,
    'failed',
  ),
  reported(
    'a pipeline of another project',
    ({ sibling }) => sibling,
    ({ closing }) => closing,
    'success',
  ),
  elsewhere('pipelines that must succeed', ({ project }) => [
    'put',
    `/projects/${project.id}`,
    { only_allow_merge_if_pipeline_succeeds: true },
  ]),
  elsewhere('the path of the fork', ({ fork }) => ['put', `/projects/${fork.id}`, { path: unique('moved') }]),
  elsewhere('the visibility of the closing project', ({ sibling }) => [
    'put',
    `/projects/${sibling.id}`,
    { visibility: 'private' },
  ]),
  elsewhere('what closes the issue, no longer', ({ closing }) => ['put', closing.at, { description: 'Nothing' }]),
  elsewhere('what closes the issue, again', ({ closing, project }) => [
    'put',
    closing.at,
    { description: `Closes ${project.full_path}#1` },
  ]),
  {
    what: 'the target of the closing merge request, in its row alone',
    make: ({ closing }: Connected, world: World) => retarget(world, closing.id, 'elsewhere'),
  },
  {
    what: 'the same target again',
    make: ({ closing }: Connected, world: World) => retarget(world, closing.id, 'main'),
  },
  elsewhere('whether merge requests of the closing project close issues', ({ sibling }) => [
    'put',
    `/projects/${sibling.id}`,
    { autoclose_referenced_issues: false },
  ]),
  elsewhere('a merge in the closing project', ({ closing }) => ['put', `${closing.at}/merge`]),
  elsewhere('the project of the issue', ({ project, sibling }) => [
    'post',
    `/projects/${project.id}/issues/1/move`,
    { to_project_id: sibling.id },
  ]),
  elsewhere('the fork, which is deleted', ({ fork }) => ['delete', `/projects/${fork.id}`]),
]

type Viewers = Record<string, Client>

/** Compares both services for each viewer, at first and after each change. */
async function compareAfter<At extends { readonly viewers: Viewers; readonly paths: readonly string[] }>(
  world: World,
  at: At,
  merges: readonly OpenedMergeRequest[],
  made: readonly { readonly what: string; readonly make: (at: At, world: World) => Promise<unknown> }[],
): Promise<void> {
  await using other = await uncached(world)
  // What texts close is found by a job.
  await readTexts(world)
  const compareAll = async (what: string) => {
    // The first read may queue a check of the merge request, which its record shows.
    for (const merge of merges) await world.root.get(merge.at)
    for (const [viewer, client] of Object.entries(at.viewers)) {
      const { id, username, token } = client
      const fresh = new Client(other.origin, token === undefined ? undefined : { id, username, token })
      await compare(client, fresh, at.paths).catch((error) => {
        error.message = `${viewer} after a change of ${what}: ${error.message}`
        throw error
      })
    }
  }
  await compareAll('nothing')
  for (const { what, make } of made) {
    await make(at, world)
    await readTexts(world)
    await compareAll(what)
  }
}

describe('records of merge requests, issues and epics cached by their rows', () => {
  test('cached records equal uncached records for each viewer after each change', async ({ world }) => {
    const at = await scene(world)
    await compareAfter(world, at, [at.merge], changes)
  })

  test('cached records equal uncached records after each change in other projects and the group', async ({ world }) => {
    const at = await connected(world)
    await compareAfter(world, at, [at.own, at.closing, at.forked], changesElsewhere)
  })
})
