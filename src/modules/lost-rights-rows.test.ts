import { describe, expect } from 'vitest'
import { answerDuring } from '../../test/during.ts'
import { removed, twoIssues } from '../../test/lost-rights.ts'
import { lockRow } from '../../test/tables/instance.ts'
import { lockProject } from '../../test/tables/projects.ts'
import { type Answer, type Client, test, unique, type World } from '../../test/world.ts'
import type { Tx } from '../db/db.ts'
import { newPublicKey } from './accounts/ssh-keys/testing.ts'
import { saveCustomAttribute } from './groups/custom-attributes/queries.ts'
import { lockGroup } from './groups/index.ts'
import { updateInvitation } from './groups/invitations/queries.ts'
import { lockVariables } from './groups/variables/queries.ts'
import { setCanPush } from './projects/deploy-keys/queries.ts'
import { claimHousekeeping } from './projects/repositories/housekeeping-queries.ts'
import { insertRelease, lockRelease } from './repository/releases/queries.ts'

const email = 'invited@example.com'
const links = { name: 'link', url: 'https://example.com/' }

/** What a maintainer adds to a project, which waits while the key of the project is changed. */
const additions = {
  'POST variables': (ann, at) => ann.post(`${at}/variables`, { key: 'KEY', value: 'value' }),
  'POST environments': (ann, at) => ann.post(`${at}/environments`, { name: 'production' }),
  'POST badges': (ann, at) =>
    ann.post(`${at}/badges`, { link_url: 'https://example.com/', image_url: 'https://example.com/a.svg' }),
  'POST boards': (ann, at) => ann.post(`${at}/boards`, { name: 'board' }),
  'POST labels': (ann, at) => ann.post(`${at}/labels`, { name: 'label', color: '#000000' }),
  'POST milestones': (ann, at) => ann.post(`${at}/milestones`, { title: 'milestone' }),
  'POST releases': (ann, at) => ann.post(`${at}/releases`, { tag_name: 'v1' }),
} as const satisfies Record<string, (ann: Client, at: string) => Promise<Answer>>

const deployment = (ann: Client, at: string) =>
  ann.post(`${at}/deployments`, { environment: 'staging', sha: 'v1', ref: 'v1', tag: true, status: 'running' })

type Made = { readonly id: number; readonly projectId: number }

type Change = {
  /** Its answer has the id of the row that is changed. */
  make?: ((ann: Client, at: string) => Promise<Answer>) | undefined
  change(ann: Client, at: string, made: Made): Promise<Answer>
  /** The row for which the change waits: of this table, or locked by a function. */
  lock: string | ((tx: Tx, made: Made) => Promise<unknown>)
}

const onVariable = (tx: Tx, { projectId }: Made) =>
  lockVariables(tx, { of: 'project', id: projectId }, 'KEY', undefined)
const onRelease = (tx: Tx, { projectId }: Made) => lockRelease(tx, projectId, 'v1')
const onProject = (tx: Tx, { projectId }: Made) => lockProject(tx, projectId)
const onInvitation = (tx: Tx, { projectId }: Made) =>
  updateInvitation(tx, { of: 'project', id: projectId }, email, { level: 20, expiresAt: undefined })
const onDeployKey = (tx: Tx, { id, projectId }: Made) => setCanPush(tx, projectId, id, true)

const { 'POST variables': variable, 'POST environments': environment, 'POST releases': release } = additions
const { 'POST badges': badge, 'POST boards': board, 'POST labels': label, 'POST milestones': milestone } = additions
const invitation = (ann: Client, at: string) => ann.post(`${at}/invitations`, { email, access_level: 30 })
const deployKey = (ann: Client, at: string) => ann.post(`${at}/deploy_keys`, { title: 'key', key: newPublicKey() })
const issue = (ann: Client, at: string) => ann.post(`${at}/issues`, { title: 'issue' })
const changes: Record<string, Change> = {
  'PUT variables': {
    make: variable,
    change: (ann, at) => ann.put(`${at}/variables/KEY`, { value: 'b' }),
    lock: onVariable,
  },
  'DELETE variables': { make: variable, change: (ann, at) => ann.delete(`${at}/variables/KEY`), lock: onVariable },
  'PUT environments': {
    make: environment,
    change: (ann, at, { id }) => ann.put(`${at}/environments/${id}`, { external_url: 'https://example.com' }),
    lock: onProject,
  },
  'POST environments/stop': {
    make: environment,
    change: (ann, at, { id }) => ann.post(`${at}/environments/${id}/stop`),
    lock: onProject,
  },
  'POST deployments': { change: deployment, lock: onProject },
  'PUT deployments': {
    make: deployment,
    change: (ann, at, { id }) => ann.put(`${at}/deployments/${id}`, { status: 'success' }),
    lock: onProject,
  },
  'POST housekeeping': {
    change: (ann, at) => ann.post(`${at}/housekeeping`),
    lock: (tx, { projectId }) => claimHousekeeping(tx, projectId, 1),
  },
  // The tag has been made: its release notes wait for others of the same name.
  'POST tags with release notes': {
    change: (ann, at) => ann.post(`${at}/repository/tags`, { tag_name: 'v2', ref: 'main', release_description: 'b' }),
    lock: (tx, { projectId }) =>
      insertRelease(tx, { projectId, tag: 'v2', authorId: 1 }, { name: null, description: 'a', releasedAt: undefined }),
  },
  'PUT releases': { make: release, change: (ann, at) => ann.put(`${at}/releases/v1`, { name: 'b' }), lock: onRelease },
  'POST tags/release': {
    change: (ann, at) => ann.post(`${at}/repository/tags/v1/release`, { description: 'b' }),
    lock: onProject,
  },
  'PUT tags/release': {
    make: (ann, at) => ann.post(`${at}/repository/tags/v1/release`, { description: 'a' }),
    change: (ann, at) => ann.put(`${at}/repository/tags/v1/release`, { description: 'b' }),
    lock: onRelease,
  },
  'DELETE releases': { make: release, change: (ann, at) => ann.delete(`${at}/releases/v1`), lock: onRelease },
  'POST releases/assets/links': {
    make: release,
    change: (ann, at) => ann.post(`${at}/releases/v1/assets/links`, links),
    lock: onRelease,
  },
  'PUT badges': {
    make: badge,
    change: (ann, at, { id }) => ann.put(`${at}/badges/${id}`, { link_url: 'https://example.com/b' }),
    lock: 'badges',
  },
  'DELETE badges': { make: badge, change: (ann, at, { id }) => ann.delete(`${at}/badges/${id}`), lock: 'badges' },
  'PUT boards': {
    make: board,
    change: (ann, at, { id }) => ann.put(`${at}/boards/${id}`, { name: 'b' }),
    lock: 'boards',
  },
  'DELETE boards': { make: board, change: (ann, at, { id }) => ann.delete(`${at}/boards/${id}`), lock: 'boards' },
  'PUT labels': {
    make: label,
    change: (ann, at, { id }) => ann.put(`${at}/labels/${id}`, { new_name: 'b' }),
    lock: 'labels',
  },
  'DELETE labels': { make: label, change: (ann, at, { id }) => ann.delete(`${at}/labels/${id}`), lock: 'labels' },
  'PUT labels/promote': {
    make: label,
    change: (ann, at, { id }) => ann.put(`${at}/labels/${id}/promote`),
    lock: 'labels',
  },
  'PUT milestones': {
    make: milestone,
    change: (ann, at, { id }) => ann.put(`${at}/milestones/${id}`, { title: 'b' }),
    lock: 'milestones',
  },
  'DELETE milestones': {
    make: milestone,
    change: (ann, at, { id }) => ann.delete(`${at}/milestones/${id}`),
    lock: 'milestones',
  },
  'POST milestones/promote': {
    make: milestone,
    change: (ann, at, { id }) => ann.post(`${at}/milestones/${id}/promote`),
    lock: 'milestones',
  },
  'DELETE deploy_tokens': {
    make: (ann, at) => ann.post(`${at}/deploy_tokens`, { name: 'token', scopes: ['read_repository'] }),
    change: (ann, at, { id }) => ann.delete(`${at}/deploy_tokens/${id}`),
    lock: 'deploy_tokens',
  },
  'PUT deploy_keys': {
    make: deployKey,
    change: (ann, at, { id }) => ann.put(`${at}/deploy_keys/${id}`, { can_push: true }),
    lock: onDeployKey,
  },
  'DELETE deploy_keys': {
    make: deployKey,
    change: (ann, at, { id }) => ann.delete(`${at}/deploy_keys/${id}`),
    lock: onDeployKey,
  },
  'PUT invitations': {
    make: invitation,
    change: (ann, at) => ann.put(`${at}/invitations/${email}`, { access_level: 40 }),
    lock: onInvitation,
  },
  'DELETE invitations': {
    make: invitation,
    change: (ann, at) => ann.delete(`${at}/invitations/${email}`),
    lock: onInvitation,
  },
}

async function maintained(world: World) {
  const ann = await world.user()
  const group = await world.group({ members: [[ann, 'maintainer']] })
  const project = await world.project({ group })
  const at = `/projects/${project.id}`
  return { ann, group, project, at, leaves: () => world.root.delete(`/groups/${group.id}/members/${ann.id}`) }
}

/** A tag, for releases and deployments. */
async function withTag(ann: Client, at: string): Promise<void> {
  const actions = [{ action: 'create', file_path: 'a', content: 'a' }]
  const commit = { branch: 'main', commit_message: 'Add a', actions }
  expect((await ann.post(`${at}/repository/commits`, commit)).status).toBe(201)
  expect((await ann.post(`${at}/repository/tags`, { tag_name: 'v1', ref: 'main' })).status).toBe(201)
}

describe('404 to a maintainer who was removed while the request waited', () => {
  test.for(Object.keys(additions) as (keyof typeof additions)[])('for the project, by %s', async (name, { world }) => {
    const { ann, project, at, leaves } = await maintained(world)
    if (name === 'POST releases') await withTag(ann, at)
    const answer = await answerDuring(
      world,
      () => additions[name](ann, at),
      leaves,
      (tx) => lockProject(tx, project.id),
    )
    expect(answer.status).toBe(404)
  })

  test.for(Object.keys(changes))('for the changed row, by %s', async (name, { world }) => {
    const { ann, project, at, leaves } = await maintained(world)
    const { make, change, lock } = changes[name]!
    if (/release|deployments/.test(name)) await withTag(ann, at)
    const answer = await make?.(ann, at)
    expect(answer?.status ?? 201).toBe(201)
    const made = { id: answer?.json.id, projectId: project.id }
    const refused = await answerDuring(
      world,
      () => change(ann, at, made),
      leaves,
      (tx) => (typeof lock === 'string' ? lockRow(tx, lock, made.id) : lock(tx, made)),
    )
    expect(refused.status).toBe(404)
  })

  test.for(['move', 'clone'] as const)('for the issue, by its %s', async (verb, { world }) => {
    const [source, target] = [await maintained(world), await world.project()]
    const { ann, at, leaves } = source
    const { id, iid } = (await issue(ann, at)).json
    await world.root.post(`/projects/${target.id}/members`, { user_id: ann.id, access_level: 40 })
    const goes = () => ann.post(`${at}/issues/${iid}/${verb}`, { to_project_id: target.id })
    const answer = await answerDuring(world, goes, leaves, (tx) => lockRow(tx, 'issues', id))
    expect(answer.status).toBe(404)
  })
})

test.for(['move', 'clone'] as const)(
  '404 to the %s of an issue to a project that was left meanwhile',
  async (verb, { world }) => {
    const [{ ann, at }, target] = [await maintained(world), await world.project()]
    const { id, iid } = (await issue(ann, at)).json
    await world.root.post(`/projects/${target.id}/members`, { user_id: ann.id, access_level: 40 })
    const goes = () => ann.post(`${at}/issues/${iid}/${verb}`, { to_project_id: target.id })
    const leaves = () => world.root.delete(`/projects/${target.id}/members/${ann.id}`)
    const answer = await answerDuring(world, goes, leaves, (tx) => lockRow(tx, 'issues', id))
    expect(answer.status).toBe(404)
  },
)

test.for(['POST', 'PUT', 'DELETE'] as const)(
  '404 to %s lists of a board that was left meanwhile',
  async (method, { world }) => {
    const { ann, at, leaves } = await maintained(world)
    const [{ json: one }, { json: two }] = [
      await ann.post(`${at}/labels`, { name: 'one', color: '#000000' }),
      await ann.post(`${at}/labels`, { name: 'two', color: '#000000' }),
    ]
    const { id } = (await board(ann, at)).json
    const lists = `${at}/boards/${id}/lists`
    const list = (await ann.post(lists, { label_id: one.id })).json
    const requests = {
      POST: () => ann.post(lists, { label_id: two.id }),
      PUT: () => ann.put(`${lists}/${list.id}`, { position: 0 }),
      DELETE: () => ann.delete(`${lists}/${list.id}`),
    }
    const answer = await answerDuring(world, requests[method], leaves, (tx) => lockRow(tx, 'boards', id))
    expect(answer.status).toBe(404)
  },
)

test.for(['PUT', 'DELETE'] as const)(
  '403 to %s custom_attributes of an administrator who was demoted meanwhile',
  async (method, { world }) => {
    const [admin, user] = [await world.user({ admin: true }), await world.user()]
    const at = `/users/${user.id}/custom_attributes/key`
    await world.root.put(at, { value: 'a' })
    const answer = await answerDuring(
      world,
      () => (method === 'PUT' ? admin.put(at, { value: 'b' }) : admin.delete(at)),
      () => world.root.put(`/users/${admin.id}`, { admin: false }),
      (tx) => saveCustomAttribute(tx, { of: 'user', id: user.id }, { key: 'key', value: 'c' }),
    )
    expect(answer.status).toBe(403)
  },
)

test('403 to a variable of the installation by an administrator who was demoted meanwhile', async ({ world }) => {
  const admin = await world.user({ admin: true })
  const key = unique('KEY').replaceAll('-', '_')
  expect((await world.root.post('/admin/ci/variables', { key, value: 'a' })).status).toBe(201)
  const answer = await answerDuring(
    world,
    () => admin.put(`/admin/ci/variables/${key}`, { value: 'b' }),
    () => world.root.put(`/users/${admin.id}`, { admin: false }),
    (tx) => lockVariables(tx, { of: 'instance' }, key, undefined),
  )
  expect(answer.status).toBe(403)
})

test('404 to the withdrawal of an award by a member who was removed while it waited', async ({ world }) => {
  const { ann, there, leaves } = await twoIssues(world)
  const { id } = (await ann.post(`${there.at}/award_emoji`, { name: 'tada' })).json
  const refused = await answerDuring(
    world,
    () => ann.delete(`${there.at}/award_emoji/${id}`),
    leaves,
    (tx) => lockRow(tx, 'award_emoji', id),
  )
  expect(refused.status).toBe(404)
  expect((await world.root.get(`${there.at}/award_emoji`)).json).toHaveLength(1)
})

test('404 to a description of a group by an owner who was removed while the change waited', async ({ world }) => {
  const ann = await world.user()
  const group = await world.group({ members: [[ann, 'owner']] })
  const refused = await answerDuring(
    world,
    () => ann.put(`/groups/${group.id}`, { description: 'b' }),
    removed(world, 'groups', group, ann),
    (tx) => lockGroup(tx, group.id),
  )
  expect(refused.status).toBe(404)
})
