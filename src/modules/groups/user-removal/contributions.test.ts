import { expect } from 'vitest'
import { closersOf } from '../../../../test/tables/epics.ts'
import { moveTokens } from '../../../../test/tables/tokens.ts'
import { ghosts, referencesToUsers } from '../../../../test/tables/users.ts'
import { test, World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest, refsDropped } from '../../review/merge-requests/testing.ts'
import { contributions } from './contributions.ts'
import { contribution, remove, settle } from './testing.ts'

test('stars, mirrors and snippets of others stay when a user is deleted with their contributions', async ({
  world,
}) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const { id } = await world.project({ visibility: 'public' })
  const snippet = { title: 'x', file_name: 'a', content: 'x', visibility: 'private' }
  const kept = (await bob.post('/snippets', snippet)).json.id
  await ann.post('/snippets', snippet)
  for (const who of [ann, bob]) expect((await who.post(`/projects/${id}/star`)).status).toBe(201)
  const mirror = { url: 'https://203.0.114.9/a.git', enabled: true }
  expect((await world.root.post(`/projects/${id}/remote_mirrors`, mirror)).status).toBe(201)
  await remove(world, ann, true)
  await settle(world, ann, true)
  const { json: starrers } = await world.root.get(`/projects/${id}/starrers`)
  expect(starrers.map(({ user }: { user: { id: number } }) => user.id)).toEqual([bob.id])
  expect((await world.root.get(`/projects/${id}/remote_mirrors`)).json).toMatchObject([{ enabled: true }])
  expect((await bob.get(`/snippets/${kept}`)).status).toBe(200)
})

test('the refs of merge requests are deleted when their author is deleted with their contributions', async ({
  world,
}) => {
  const ann = await world.user()
  const project = await storedProject(world, { members: [[ann, 'developer']] })
  const made = await openMergeRequest(world, { project, author: ann })
  const refs = () => project.repository.git('for-each-ref', '--format=%(refname)', 'refs/merge-requests')
  expect(refs()).toBe(`refs/merge-requests/${made.iid}/head`)
  await remove(world, ann, true)
  await settle(world, ann, true)
  await refsDropped(world, made)
  expect(refs()).toBe('')
})

test('D3-USER-SOFT-DELETE: contributions go to the ghost user, who cannot sign in', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const [of, by] = [await contribution(world, ann), await contribution(world, bob)]
  await ann.post(`/projects/${of.project.id}/star`)
  await bob.post(`/projects/${of.project.id}/star`)
  await remove(world, ann)
  await Promise.all([settle(world, ann), remove(world, bob).then(() => settle(world, bob))])
  for (const made of [of, by]) {
    expect(await made.comments()).toEqual(['ghost'])
    expect(await made.statuses()).toEqual(['ghost'])
  }
  expect((await world.root.get(`/projects/${of.project.id}`)).json.star_count).toBe(0)
  const [ghost] = (await world.root.get('/users?username=ghost')).json
  expect(ghost).toMatchObject({ name: 'Ghost User', state: 'active', is_admin: false })
  const internal = '403 Forbidden - This action cannot be performed by internal users'
  // Earlier versions created tokens of it.
  const eve = await world.user()
  await moveTokens(world, eve.id, ghost.id)
  expect(await eve.get('/user')).toMatchObject({ status: 403, json: { message: internal } })
  for (const call of ['block', 'deactivate', 'ban'])
    expect((await world.root.post(`/users/${ghost.id}/${call}`)).status).toBe(403)
  expect((await world.root.delete(`/users/${ghost.id}`)).status).toBe(403)
  expect((await world.root.get('/users?active=true&search=ghost')).json).toEqual([])
})

test.for([false, true])(
  'closed_by and merged_by of issues, epics and merge requests end with the user, with hard_delete=%s; the state stays',
  async (hard, { world }) => {
    const ann = await world.user()
    const { project, at: merged, ...first } = await openMergeRequest(world, { members: [[ann, 'maintainer']] })
    const closed = (await openMergeRequest(world, { project, branch: 'other' })).at
    const issue = `/projects/${project.id}/issues/${(await world.root.post(`/projects/${project.id}/issues`, { title: 'Closed' })).json.iid}`
    const group = await world.group({ members: [[ann, 'maintainer']] })
    const epic = `/groups/${group.id}/epics/${(await world.root.post(`/groups/${group.id}/epics`, { title: 'Closed' })).json.iid}`
    for (const at of [issue, closed, epic])
      expect(await ann.put(at, { state_event: 'close' })).toMatchObject({ status: 200, json: { state: 'closed' } })
    expect(await ann.put(`${merged}/merge`, { sha: first.head })).toMatchObject({ status: 200 })
    const by = { id: ann.id }
    for (const at of [issue, closed]) expect((await world.root.get(at)).json.closed_by).toMatchObject(by)
    expect((await world.root.get(merged)).json.merged_by).toMatchObject(by)
    await remove(world, ann, hard)
    await settle(world, ann, hard)
    for (const at of [issue, closed]) {
      const after = { state: 'closed', closed_at: expect.any(String), closed_by: null }
      expect((await world.root.get(at)).json).toMatchObject(after)
      expect((await world.root.get(`${at.slice(0, at.lastIndexOf('/'))}?state=closed`)).json).toMatchObject([after])
    }
    const after = { state: 'merged', merged_at: expect.any(String), merged_by: null }
    expect((await world.root.get(merged)).json).toMatchObject(after)
    expect((await world.root.get(epic)).json).toMatchObject({ state: 'closed', closed_at: expect.any(String) })
    expect(await closersOf(world, group.id)).toEqual([null])
  },
)

test('the ghost user has a number in its name when the name is taken', async () => {
  await using world = await World.start()
  await world.root.post('/groups', { name: 'Ghost', path: 'GHOST' })
  await world.user({ username: 'unlike', email: 'ghost1@example.com' })
  const ann = await world.user()
  await remove(world, ann)
  await settle(world, ann)
  expect(await ghosts(world, 'username')).toEqual([{ username: 'ghost2' }])
})

test('D3-USER-HARD-DELETE: hard_delete deletes contributions and solely owned groups', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const { comments, statuses } = await contribution(world, ann)
  const alone = await world.group({}, ann)
  const inside = await world.group({ parent: alone }, ann)
  const shared = await world.group({ members: [[bob, 'owner']] }, ann)
  const refused = { status: 409, json: { message: 'User cannot be removed while is the sole-owner of a group' } }
  expect(await remove(world, ann)).toMatchObject(refused)
  expect((await ann.get('/user')).status).toBe(200)
  expect((await remove(world, ann, true)).status).toBe(204)
  await settle(world, ann, true)
  expect(await comments()).toEqual([])
  // Statuses of commits belong to the project and remain.
  expect(await statuses()).toEqual([undefined])
  for (const { id } of [alone, inside]) expect((await world.root.get(`/groups/${id}`)).status).toBe(404)
  expect((await bob.get(`/groups/${shared.id}`)).status).toBe(200)
})

test('D3-USER-HARD-DELETE: groups with another owner remain, even a blocked one', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const group = await world.group({ members: [[bob, 'owner']] }, ann)
  await world.root.post(`/users/${bob.id}/block`)
  expect((await remove(world, ann, true)).status).toBe(204)
  await settle(world, ann, true)
  await world.root.post(`/users/${bob.id}/unblock`)
  expect((await bob.get(`/groups/${group.id}`)).status).toBe(200)
})

test('D3-USER-HARD-DELETE: subgroups remain if the group above has another owner', async ({ world }) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const group = await world.group({ members: [[ann, 'maintainer']] }, bob)
  const inside = await world.group({ parent: group }, ann)
  const below = await world.group({ parent: inside }, ann)
  const { id } = await world.project({ group: below })
  expect((await remove(world, ann, true)).status).toBe(204)
  await settle(world, ann, true)
  for (const path of [`/groups/${inside.id}`, `/groups/${below.id}`, `/projects/${id}`])
    expect((await bob.get(path)).status, path).toBe(200)
})

test('D3-USER-DELETE: the owner of a subgroup can be deleted if the group above has another owner', async ({
  world,
}) => {
  const [ann, bob] = [await world.user(), await world.user()]
  const group = await world.group({ members: [[ann, 'owner']] }, bob)
  const inside = await world.group({ parent: group }, ann)
  await world.root.post(`/users/${bob.id}/block`)
  expect((await remove(world, ann)).status).toBe(409)
  await world.root.post(`/users/${bob.id}/unblock`)
  expect((await remove(world, ann)).status).toBe(204)
  await settle(world, ann)
  expect((await bob.delete(`/groups/${inside.id}`)).status).toBe(202)
})

test('what waited only for a discussion of a user is merged when hard_delete deletes it', async ({ world }) => {
  const ann = await world.user()
  const { at, project } = await openMergeRequest(world, {})
  await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 30 })
  await world.root.put(`/projects/${project.id}`, { only_allow_merge_if_all_discussions_are_resolved: true })
  const { sha } = (await world.root.get(at)).json
  await world.root.post(`/projects/${project.id}/statuses/${sha}`, { state: 'running' })
  const waits = await world.root.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })
  expect(waits.json, waits.text).toMatchObject({ state: 'opened', merge_when_pipeline_succeeds: true })
  expect((await ann.post(`${at}/discussions`, { body: 'Why?' })).status).toBe(201)
  await world.root.post(`/projects/${project.id}/statuses/${sha}`, { state: 'success' })
  expect((await world.root.get(at)).json.state).toBe('opened')
  await remove(world, ann, true)
  await world.runJobs()
  await expect.poll(async () => (await world.root.get(at)).json.state).toBe('merged')
})

/** Tables whose rows belong to a user and are deleted with the account. */
const belongings: readonly string[] = [
  'access_requests',
  'access_tokens',
  'approval_rule_users',
  'approvals',
  'approvers',
  'archive_imports',
  'board_assignees',
  'board_lists',
  'custom_attributes',
  'email_addresses',
  'emails',
  'export_requests',
  'file_locks',
  'forge_imports',
  'gpg_keys',
  'group_access',
  'idempotency_keys',
  'identities',
  'issue_agents',
  'issue_assignees',
  'label_subscriptions',
  'mail_links',
  'members',
  'mentions',
  'merge_request_assignees',
  'merge_request_committers',
  'merge_request_reviewers',
  'namespaces',
  'notification_settings',
  'project_access',
  'protected_ref_access',
  'resource_bots',
  'snippet_agents',
  'ssh_keys',
  'stars',
  'subscriptions',
  'term_agreements',
  'todos',
  'two_factor_demands',
  'two_factors',
  'user_follows',
  'user_statuses',
]

test('every foreign key to users is a contribution or is deleted with the user', async ({ world }) => {
  const keys: { table: string; column: string; rule: string; indexed: boolean }[] = await referencesToUsers(world)
  const named = (each: { table: string; column: string }) => `${each.table}.${each.column}`
  const listed = new Set(contributions.map(named))
  const others = keys.filter((key) => !listed.has(named(key)))
  expect(others.filter(({ table, rule }) => rule !== 'c' || !belongings.includes(table)).map(named)).toEqual([])
  expect([...listed].filter((each) => !keys.map(named).includes(each))).toEqual([])
  const forgotten = contributions.filter(({ hard }) => hard === 'anonymized').map(named)
  expect(keys.filter((key) => forgotten.includes(named(key)) && key.rule !== 'n').map(named)).toEqual([])
  expect(keys.filter(({ indexed }) => !indexed).map(named)).toEqual([])
})
