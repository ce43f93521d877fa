import { expect } from 'vitest'
import { auditOfNoun, caughtUp, eventsOf } from '../../../../test/tables/events.ts'
import { test, unique } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { remove, settle } from './testing.ts'

test('user_deleted names the administrator, once', async ({ world }) => {
  const ann = await world.user({ name: 'Ann' })
  await remove(world, ann)
  // Repeating the request succeeds without an event.
  expect((await remove(world, ann)).status).toBe(204)
  expect(
    await eventsOf(world, { kind: 'user_deleted', payload: { user_id: String(ann.id) } }, 'actor_id', 'payload'),
  ).toEqual([{ actor_id: 1, payload: { user_id: ann.id, hard_delete: false } }])
})

test('the memberships of a deleted user end in the change feed, the audit log and the activity of the project, without those of what goes with the user', async ({
  world,
}) => {
  await world.settings({ deletion_adjourned_period: 0 })
  const [ann, boss] = [await world.user(), await world.user()]
  const group = await world.group({
    members: [
      [boss, 'owner'],
      [ann, 'developer'],
    ],
  })
  const project = await world.project({ group, members: [[ann, 'maintainer']] })
  expect((await ann.post('/projects', { name: 'Mine' })).status).toBe(201)
  const { id: namespace_id } = await world.group({}, ann)
  expect((await ann.post('/projects', { name: 'Ours', namespace_id })).status).toBe(201)
  await caughtUp(world)
  const start = (await boss.get('/events/changes')).headers['x-next-cursor']
  expect((await remove(world, ann, true)).status).toBe(204)
  const left = () =>
    eventsOf(world, { kind: 'member_removed', payload: { user_id: ann.id } }, 'group_id', 'project_id', 'actor_id')
  const ends = [
    { group_id: group.id, project_id: null, actor_id: 1 },
    { group_id: null, project_id: project.id, actor_id: 1 },
  ]
  expect(await left()).toEqual(ends)
  expect((await world.root.get(`/projects/${project.id}/events?action=left`)).json).toMatchObject([
    { action_name: 'left', author_id: ann.id },
  ])
  await settle(world, ann, true)
  expect(await left()).toEqual(ends)
  await caughtUp(world)
  const changes = (await boss.get(`/events/changes?after=${start}&limit=500`)).json as any[]
  expect(changes.map(({ kind, target_id, on_type, on_id }) => [kind, target_id, on_type, on_id])).toEqual([
    ['member_removed', ann.id, 'Group', group.id],
    ['member_removed', ann.id, 'Project', project.id],
  ])
  for (const path of [`/groups/${group.id}`, `/projects/${project.id}`]) {
    const [audited] = ((await world.root.get(`${path}/audit_events`)).json as any[]).filter(
      ({ event_name }) => event_name === 'member_removed',
    )
    expect(audited, path).toMatchObject({
      author_id: 1,
      details: { remove: 'user_access', target_id: ann.id, target_details: `Name of ${ann.username}` },
    })
  }
})

test('issues, merge requests and epics that hard_delete deletes are deletions in the change feed', async ({
  world,
}) => {
  const [ann, boss] = [await world.user(), await world.user()]
  const group = await world.group({
    visibility: 'public',
    members: [
      [boss, 'owner'],
      [ann, 'developer'],
    ],
  })
  const project = await storedProject(world, { group })
  project.repository.commit({ 'a.txt': 'a\n' })
  const made = async (path: string, body: object) => {
    const { status, json, text } = await ann.post(path, body)
    expect(status, text).toBe(201)
    return json
  }
  const issue = await made(`/projects/${project.id}/issues`, { title: 'Broken', confidential: true })
  const epic = await made(`/groups/${group.id}/epics`, { title: 'Plan' })
  await made(`/projects/${project.id}/repository/commits`, {
    branch: 'mine',
    start_branch: 'main',
    commit_message: 'Mine',
    actions: [{ action: 'create', file_path: 'b.txt', content: 'b' }],
  })
  const merged = { source_branch: 'mine', target_branch: 'main', title: 'Mine' }
  const mergeRequest = await made(`/projects/${project.id}/merge_requests`, merged)
  expect((await remove(world, ann, true)).status).toBe(204)
  await caughtUp(world)
  const start = (await boss.get('/events/changes')).headers['x-next-cursor']
  await settle(world, ann, true)
  await caughtUp(world)
  const changes = (await boss.get(`/events/changes?after=${start}&limit=500`)).json as any[]
  expect(changes.map(({ kind, target_id }) => [kind, target_id])).toEqual([
    ['epic_deleted', epic.id],
    ['issue_deleted', issue.id],
    ['merge_request_deleted', mergeRequest.id],
  ])
})

test('notes that hard_delete deletes are deletions in the change feed, once', async ({ world }) => {
  const [ann, boss] = [await world.user(), await world.user()]
  const group = await world.group({ visibility: 'public', members: [[boss, 'owner']] })
  const { at, project } = await openMergeRequest(world, { visibility: 'public' })
  expect((await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 })).status).toBe(
    201,
  )
  const issue = (await world.root.post(`/projects/${project.id}/issues`, { title: 'Stays' })).json
  const epic = (await boss.post(`/groups/${group.id}/epics`, { title: 'Stays' })).json
  const places = [
    [`/projects/${project.id}/issues/${issue.iid}`, 'Issue', issue.id],
    [at, 'MergeRequest', (await world.root.get(at)).json.id],
    [`/groups/${group.id}/epics/${epic.iid}`, 'Epic', epic.id],
  ] as const
  const expected: unknown[] = []
  for (const [path, type, id] of places) {
    const note = await ann.post(`${path}/notes`, { body: 'Mine' })
    expect(note.status, note.text).toBe(201)
    expected.push(['note_deleted', note.json.id, type, id])
  }
  // Leaves a system note, which has no events.
  expect((await ann.put(`/projects/${project.id}/issues/${issue.iid}`, { title: 'Renamed' })).status).toBe(200)
  const mine = (await ann.post(`/projects/${project.id}/issues`, { title: 'Goes' })).json
  await ann.post(`/projects/${project.id}/issues/${mine.iid}/notes`, { body: 'Goes, too' })
  await caughtUp(world)
  const start = (await boss.get('/events/changes')).headers['x-next-cursor']
  expect((await remove(world, ann, true)).status).toBe(204)
  await settle(world, ann, true)
  await caughtUp(world)
  const changes = (await boss.get(`/events/changes?after=${start}&limit=500`)).json as any[]
  expect(
    changes
      .filter(({ kind }) => kind.endsWith('_deleted'))
      .map(({ kind, target_id, on_type, on_id }) => [kind, target_id, on_type, on_id]),
  ).toEqual([['issue_deleted', mine.id, null, null], ...expected])
})

test('invitations to an address of a deleted user are withdrawn in the audit log, without those of what is deleted', async ({
  world,
}) => {
  const ann = await world.user()
  const [group, project] = [await world.group(), await world.project()]
  const email = `${unique('invited')}@example.com`
  const added = await ann.post('/user/emails', { email })
  expect(added.status).toBe(201)
  for (const place of [`/groups/${group.id}`, `/projects/${project.id}`]) {
    const invited = await world.root.post(`${place}/invitations`, { email, access_level: 30 })
    expect(invited.json).toMatchObject({ status: 'success' })
  }
  await remove(world, ann)
  await settle(world, ann)
  for (const entity of [{ group: group.id }, { project: project.id }])
    expect(await auditOfNoun(world, { noun: 'invitation', ...entity }, 'verb', 'target_details')).toEqual([
      { verb: 'add', target_details: email },
      { verb: 'remove', target_details: email },
    ])
})

test('the token of a bot whose account is deleted is revoked in the audit log of its project or group', async ({
  world,
}) => {
  const [group, project] = [await world.group(), await world.project()]
  for (const place of [`/groups/${group.id}`, `/projects/${project.id}`]) {
    const asked = { name: 'bot', scopes: ['api'], access_level: 40 }
    const { json: token } = await world.root.post(`${place}/access_tokens`, asked)
    for (const _ of ['once', 'again']) expect((await world.root.delete(`/users/${token.user_id}`)).status).toBe(204)
    const audited = ((await world.root.get(`${place}/audit_events`)).json as any[]).filter(({ event_name }) =>
      event_name.startsWith('resource_access_token'),
    )
    expect(audited.map(({ event_name, details }) => [event_name, details.target_id])).toEqual([
      ['resource_access_token_revoked', token.id],
      ['resource_access_token_created', token.id],
    ])
  }
})
