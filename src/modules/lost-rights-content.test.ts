import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { lockRow } from '../../test/tables/instance.ts'
import { pushesInState } from '../../test/tables/pushes.ts'
import { sideRepositoryRows } from '../../test/tables/side-repositories.ts'
import { type Answer, type Client, git, temporaryFolder, test, unique, type World } from '../../test/world.ts'
import type { Tx } from '../db/db.ts'
import { newGpgKey } from './accounts/gpg-keys/testing.ts'
import { newPublicKey } from './accounts/ssh-keys/testing.ts'
import { saveTexts } from './administration/appearance/queries.ts'
import { lockFeature } from './administration/features/queries.ts'
import { lockTree } from './planning/epics/tree-queries.ts'
import { storedProject } from './repository/commits/testing.ts'
import { openMergeRequest } from './review/merge-requests/testing.ts'

/** An owner of a group with a project, who can be removed from both. */
async function owned(world: World) {
  const ann = await world.user()
  const group = await world.group({ members: [[ann, 'owner']] })
  const project = await storedProject(world, { group, visibility: 'private' })
  return {
    ann,
    group,
    project,
    at: `/projects/${project.id}`,
    leaves: () => world.root.delete(`/groups/${group.id}/members/${ann.id}`),
  }
}
type Owned = Awaited<ReturnType<typeof owned>>

/** What is changed, and the row for which the change waits. */
type Made = { readonly at: string; readonly table: string; readonly id: number; readonly other?: any }

const made = async (request: Promise<Answer>): Promise<any> => {
  const { status, json } = await request
  expect(status).toBe(201)
  return json
}

const places: Record<string, (world: World, place: Owned) => Promise<Made>> = {
  async issues(_, { ann, at }) {
    const { id, iid } = await made(ann.post(`${at}/issues`, { title: 'issue' }))
    const other = await made(ann.post(`${at}/issues`, { title: 'other' }))
    return { at: `${at}/issues/${iid}`, table: 'issues', id, other }
  },
  async epics(_, { ann, group }) {
    const { id, iid } = await made(ann.post(`/groups/${group.id}/epics`, { title: 'epic' }))
    const other = await made(ann.post(`/groups/${group.id}/epics`, { title: 'other' }))
    return { at: `/groups/${group.id}/epics/${iid}`, table: 'epics', id, other }
  },
  async merge_requests(world, { project }) {
    // Authors do not approve.
    const { id, at } = await openMergeRequest(world, { project })
    return { at, table: 'merge_requests', id }
  },
  async snippets(_, { ann, at }) {
    const snippet = { title: 'snippet', visibility: 'private', files: [{ file_path: 'a', content: 'a' }] }
    const { id } = await made(ann.post(`${at}/snippets`, snippet))
    return { at: `${at}/snippets/${id}`, table: 'snippets', id }
  },
  async projects(_, { project, at }) {
    return { at, table: 'projects', id: project.id }
  },
}

type Change = (
  ann: Client,
  at: string,
  about: Made & { readonly note: number; readonly discussion: string },
) => Promise<Answer>

const edits: Record<string, Change> = {
  PUT: (ann, at) => ann.put(at, { title: 'b' }),
  DELETE: (ann, at) => ann.delete(at),
}

const discussing: Record<string, Change> = {
  'POST notes': (ann, at) => ann.post(`${at}/notes`, { body: 'b' }),
  'PUT notes': (ann, at, { note }) => ann.put(`${at}/notes/${note}`, { body: 'b' }),
  'DELETE notes': (ann, at, { note }) => ann.delete(`${at}/notes/${note}`),
  'POST discussions': (ann, at) => ann.post(`${at}/discussions`, { body: 'b' }),
  'POST discussions/notes': (ann, at, { discussion }) =>
    ann.post(`${at}/discussions/${discussion}/notes`, { body: 'b' }),
  'POST award_emoji': (ann, at) => ann.post(`${at}/award_emoji`, { name: 'thumbsup' }),
}

const timed: Record<string, Change> = {
  'POST time_estimate': (ann, at) => ann.post(`${at}/time_estimate`, { duration: '1h' }),
  'POST add_spent_time': (ann, at) => ann.post(`${at}/add_spent_time`, { duration: '1h' }),
}

const changes: Record<string, Record<string, Change>> = {
  issues: {
    ...edits,
    ...discussing,
    ...timed,
    'POST links': (ann, at, { other }) =>
      ann.post(`${at}/links`, { target_project_id: other.project_id, target_issue_iid: other.iid }),
  },
  epics: {
    ...edits,
    ...discussing,
    'POST epics': (ann, at, { other }) => ann.post(`${at}/epics/${other.id}`),
  },
  merge_requests: {
    ...edits,
    ...discussing,
    ...timed,
    'PUT discussions': (ann, at, { discussion }) => ann.put(`${at}/discussions/${discussion}`, { resolved: true }),
    'POST approve': (ann, at) => ann.post(`${at}/approve`),
    'POST unapprove': async (ann, at) => ann.post(`${at}/unapprove`),
    'POST approvals': (ann, at) => ann.post(`${at}/approvals`, { approvals_required: 1 }),
    'PUT merge': (ann, at) => ann.put(`${at}/merge`),
    'PUT rebase': (ann, at) => ann.put(`${at}/rebase`),
    'POST cancel_merge_when_pipeline_succeeds': (ann, at) => ann.post(`${at}/cancel_merge_when_pipeline_succeeds`),
  },
  snippets: {
    ...edits,
    ...discussing,
  },
  projects: {
    'POST issues': (ann, at) => ann.post(`${at}/issues`, { title: 'b' }),
    'POST merge_requests': (ann, at) =>
      ann.post(`${at}/merge_requests`, { title: 'b', source_branch: 'topic', target_branch: 'main' }),
    'POST snippets': (ann, at) =>
      ann.post(`${at}/snippets`, { title: 'b', visibility: 'private', files: [{ file_path: 'a', content: 'a' }] }),
    'POST statuses': (ann, at, { other }) => ann.post(`${at}/statuses/${other}`, { state: 'success' }),
    'POST commits/comments': (ann, at, { other }) =>
      ann.post(`${at}/repository/commits/${other}/comments`, { note: 'b' }),
    'POST uploads': (ann, at) => {
      const body = new FormData()
      body.append('file', new File(['a'], 'a.txt'))
      return ann.send('POST', `${at}/uploads`, { body })
    },
  },
}

describe('404 to an owner who was removed while the request waited', () => {
  const cases = Object.entries(changes).flatMap(([noun, of]) => Object.keys(of).map((name) => [noun, name] as const))
  test.for(cases)('for the row of %s, by %s', async ([noun, name], { world }) => {
    const place = await owned(world)
    const { ann, project, leaves } = place
    let thing = await places[noun]!(world, place)
    if (noun === 'projects') {
      const { head } = await openMergeRequest(world, { project, author: ann, branch: 'first' })
      project.repository.commit({ c: 'c\n' }, { branch: 'topic', parents: [head], message: 'c\n' })
      thing = { ...thing, other: head }
    }
    const ofDiscussion =
      noun !== 'projects' ? await made(ann.post(`${thing.at}/discussions`, { body: 'a' })) : undefined
    if (name === 'POST unapprove') await made(ann.post(`${thing.at}/approve`))
    const about = { ...thing, discussion: ofDiscussion?.id, note: ofDiscussion?.notes[0].id }
    const refused = await answerDuring(
      world,
      () => changes[noun]![name]!(ann, thing.at, about),
      leaves,
      (tx) => lockRow(tx, thing.table, thing.id),
    )
    expect(refused.status).toBe(404)
  })
})

/** Changes of a repository, of which the record waits for the row of the project. */
const moves: Record<string, Change> = {
  'POST commits': (ann, at) =>
    ann.post(`${at}/repository/commits`, {
      branch: 'main',
      commit_message: 'b',
      actions: [{ action: 'create', file_path: 'new', content: 'b' }],
    }),
  'POST branches': (ann, at) => ann.post(`${at}/repository/branches`, { branch: 'new', ref: 'main' }),
  'POST tags': (ann, at) => ann.post(`${at}/repository/tags`, { tag_name: 'new', ref: 'main' }),
}

test.for(Object.keys(moves))(
  '404 to %s by an owner who was removed while the record of the move waited, and nothing moves',
  async (name, { world }) => {
    const { ann, project, at, leaves } = await owned(world)
    project.repository.commit({ a: 'a\n' })
    const refs = project.repository.git('show-ref')
    const refused = await answerDuring(
      world,
      () => moves[name]!(ann, at, {} as Parameters<Change>[2]),
      leaves,
      (tx) => lockRow(tx, 'projects', project.id),
    )
    expect(refused.status).toBe(404)
    expect(project.repository.git('show-ref')).toBe(refs)
    expect(await pushesInState(world, project.id, 'intended')).toEqual([])
  },
)

test('404 to a page of a wiki by an owner who was removed while the record of the move waited', async ({ world }) => {
  const { ann, at, project, leaves } = await owned(world)
  await made(ann.post(`${at}/wikis`, { title: 'first', content: 'a' }))
  const [{ id }] = await sideRepositoryRows(world, { project_id: project.id })
  const refused = await answerDuring(
    world,
    () => ann.post(`${at}/wikis`, { title: 'second', content: 'b' }),
    leaves,
    (tx) => lockRow(tx, 'side_repositories', id),
  )
  expect(refused.status).toBe(404)
  expect((await world.root.get(`${at}/wikis`)).json).toHaveLength(1)
})

test('a push over HTTP by an owner who was removed while the record of the move waited is refused', async ({
  world,
}) => {
  const ann = await world.user()
  const group = await world.group({ members: [[ann, 'owner']] })
  const project = await world.project({ group, visibility: 'private' })
  const at = `/projects/${project.id}`
  const leaves = () => world.root.delete(`/groups/${group.id}/members/${ann.id}`)
  await using work = await temporaryFolder()
  await git(work.path, 'clone', '-q', world.remote(project, ann), '.')
  await git(work.path, 'commit', '-qm', 'First', '--allow-empty')
  const push = async () => {
    const text = await git(work.path, 'push', 'origin', 'HEAD:refs/heads/new').catch(String)
    return { status: 200, text } as Answer
  }
  const { text } = await answerDuring(world, push, leaves, (tx) => lockRow(tx, 'projects', project.id))
  expect(text).toMatch('You are not allowed to push code to this project.')
  expect((await world.root.get(`${at}/repository/branches`)).json).toEqual([])
  expect(await pushesInState(world, project.id, 'intended')).toEqual([])
})

/** What an administrator changes, and the row for which it waits. */
type OfInstance = {
  make?(world: World): Promise<any>
  change(admin: Client, of: any): Promise<Answer>
  lock: string | ((tx: Tx) => Promise<unknown>)
}

const feature = unique('feature').replaceAll('-', '_')
const topic = async (world: World) => made(world.root.post('/topics', { name: unique('topic'), title: 'topic' }))
const withUser = (path: string, values: () => object | Promise<object>) => async (world: World) => {
  const user = await world.user()
  return { ...(await made(world.root.post(`/users/${user.id}/${path}`, await values()))), of: user.id }
}

const ofInstance: Record<string, OfInstance> = {
  'PUT topics': { make: topic, change: (admin, { id }) => admin.put(`/topics/${id}`, { title: 'b' }), lock: 'topics' },
  'DELETE topics': { make: topic, change: (admin, { id }) => admin.delete(`/topics/${id}`), lock: 'topics' },
  'PUT application/appearance': {
    change: (admin) => admin.put('/application/appearance', { title: 'b' }),
    lock: (tx) => saveTexts(tx, {}),
  },
  'DELETE features': {
    make: (world) => made(world.root.post(`/features/${feature}`, { value: 'true' })),
    change: (admin) => admin.delete(`/features/${feature}`),
    lock: (tx) => lockFeature(tx, feature),
  },
  'DELETE emails': {
    make: withUser('emails', () => ({ email: `${unique('new')}@example.com`, skip_confirmation: true })),
    change: (admin, { of, id }) => admin.delete(`/users/${of}/emails/${id}`),
    lock: 'emails',
  },
  'DELETE keys': {
    make: withUser('keys', () => ({ title: 'key', key: newPublicKey() })),
    change: (admin, { of, id }) => admin.delete(`/users/${of}/keys/${id}`),
    lock: 'ssh_keys',
  },
  'DELETE gpg_keys': {
    make: withUser('gpg_keys', async () => ({ key: await newGpgKey(`${unique('new')}@example.com`) })),
    change: (admin, { of, id }) => admin.delete(`/users/${of}/gpg_keys/${id}`),
    lock: 'gpg_keys',
  },
  'POST gpg_keys/revoke': {
    make: withUser('gpg_keys', async () => ({ key: await newGpgKey(`${unique('new')}@example.com`) })),
    change: (admin, { of, id }) => admin.post(`/users/${of}/gpg_keys/${id}/revoke`),
    lock: 'gpg_keys',
  },
  'DELETE hooks': {
    make: (world) => made(world.root.post('/hooks', { url: 'https://93.184.216.34/' })),
    change: (admin, { id }) => admin.delete(`/hooks/${id}`),
    lock: 'hooks',
  },
}

describe('403 to an administrator who was demoted while the request waited', () => {
  test.for(Object.keys(ofInstance))('by %s', async (name, { world }) => {
    const admin = await world.user({ admin: true })
    const { make, change, lock } = ofInstance[name]!
    const of = await make?.(world)
    const answer = await answerDuring(
      world,
      () => change(admin, of),
      () => world.root.put(`/users/${admin.id}`, { admin: false }),
      (tx) => (typeof lock === 'string' ? lockRow(tx, lock, of.id) : lock(tx)),
    )
    expect(answer.status).toBe(403)
  })
})

test.for(['DELETE hooks', 'PUT labels'])(
  '404 to %s of a maintainer who was removed meanwhile',
  async (name, { world }) => {
    const { ann, at, leaves } = await owned(world)
    const isHook = name === 'DELETE hooks'
    const { id } = await made(
      isHook
        ? ann.post(`${at}/hooks`, { url: 'https://93.184.216.34/' })
        : ann.post(`${at}/labels`, { name: 'label', color: '#000000' }),
    )
    const answer = await answerDuring(
      world,
      () => (isHook ? ann.delete(`${at}/hooks/${id}`) : ann.put(`${at}/labels/${id}`, { priority: 1 })),
      leaves,
      (tx) => lockRow(tx, isHook ? 'hooks' : 'labels', id),
    )
    expect(answer.status).toBe(404)
  },
)

test('a quick action does nothing for a member who was removed meanwhile', async ({ world }) => {
  const place = await owned(world)
  const { ann, leaves } = place
  const { at, id } = await places['issues']!(world, place)
  await answerDuring(
    world,
    () => ann.post(`${at}/notes`, { body: '/close' }),
    leaves,
    (tx) => lockRow(tx, 'issues', id),
  )
  expect((await world.root.get(at)).json.state).toBe('opened')
})

test('404 to a new order of child epics by a member who was removed meanwhile', async ({ world }) => {
  const { ann, group, leaves } = await owned(world)
  const at = `/groups/${group.id}/epics`
  const parent = await made(ann.post(at, { title: 'parent' }))
  const one = await made(ann.post(at, { title: 'one', parent_id: parent.id }))
  const two = await made(ann.post(at, { title: 'two', parent_id: parent.id }))
  const answer = await answerDuring(
    world,
    () => ann.put(`${at}/${parent.iid}/epics/${two.id}`, { move_before_id: one.id }),
    leaves,
    (tx) => lockTree(tx, group.id),
  )
  expect(answer.status).toBe(404)
})

test.for([
  ['issues', 20, 10],
  ['merge_requests', 30, 20],
] as const)(
  '403 to labels of %s by an author who was made a lower member meanwhile',
  async ([noun, before, after], { world }) => {
    const ann = await world.user()
    const project = await storedProject(world, { visibility: 'private', members: [[ann, 'maintainer']] })
    const at = `/projects/${project.id}`
    const { id, iid } =
      noun === 'issues'
        ? await made(ann.post(`${at}/issues`, { title: 'issue' }))
        : await openMergeRequest(world, { project, author: ann })
    const becomes = (access_level: number) => world.root.put(`${at}/members/${ann.id}`, { access_level })
    expect((await becomes(before)).status).toBe(200)
    const edit = () => ann.put(`${at}/${noun}/${iid}`, { labels: 'label' })
    const answer = await answerDuring(
      world,
      edit,
      () => becomes(after),
      (tx) => lockRow(tx, noun, id),
    )
    expect(answer.status).toBe(403)
    expect((await world.root.get(`${at}/${noun}/${iid}`)).json.labels).toEqual([])
  },
)
