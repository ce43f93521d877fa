import { describe, expect } from 'vitest'
import { isUnlocked, lockRow } from '../../test/tables/instance.ts'
import { type Answer, type Client, test, unique, type World } from '../../test/world.ts'
import { openMergeRequest } from './review/merge-requests/testing.ts'

/** What a transfer of its project or group may change, too, and a request about it that refers to the project or group. */
type Placed = {
  readonly place: readonly ['projects' | 'namespaces', number]
  readonly row: readonly ['issues' | 'merge_requests' | 'epics', number]
  request(): Promise<Answer>
}

async function placedIssue(world: World, request: (at: string) => Promise<Answer>): Promise<Placed> {
  const project = await world.project({ group: await world.group() })
  const { id, iid } = (await world.root.post(`/projects/${project.id}/issues`, { title: 'Issue' })).json
  const at = `/projects/${project.id}/issues/${iid}`
  return { place: ['projects', project.id], row: ['issues', id], request: () => request(at) }
}

async function placedMergeRequest(
  world: World,
  request: (at: string, ann: Client) => Promise<Answer>,
): Promise<Placed> {
  const ann = await world.user()
  const { project, id, at } = await openMergeRequest(world, { members: [[ann, 'developer']] })
  return { place: ['projects', project.id], row: ['merge_requests', id], request: () => request(at, ann) }
}

async function placedEpic(world: World, request: (at: string, id: number) => Promise<Answer>): Promise<Placed> {
  const group = await world.group()
  const { id, iid } = (await world.root.post(`/groups/${group.id}/epics`, { title: 'Epic' })).json
  const at = `/groups/${group.id}/epics/${iid}`
  return { place: ['namespaces', group.id], row: ['epics', id], request: () => request(at, id) }
}

const placed: Record<string, (world: World) => Promise<Placed>> = {
  'a comment on an issue': (world) => placedIssue(world, (at) => world.root.post(`${at}/notes`, { body: 'A comment' })),
  'an edit of an issue': (world) => placedIssue(world, (at) => world.root.put(at, { title: 'Another title' })),
  'time spent on an issue': (world) =>
    placedIssue(world, (at) => world.root.post(`${at}/add_spent_time`, { duration: '1h' })),
  'a comment on a merge request': (world) =>
    placedMergeRequest(world, (at) => world.root.post(`${at}/notes`, { body: 'A comment' })),
  'an edit of a merge request': (world) =>
    placedMergeRequest(world, (at) => world.root.put(at, { title: 'Another title' })),
  'an approval of a merge request': (world) => placedMergeRequest(world, (at, ann) => ann.post(`${at}/approve`)),
  'a comment on an epic': (world) =>
    placedEpic(world, (at, id) =>
      world.root.post(`${at.slice(0, at.lastIndexOf('/'))}/${id}/notes`, { body: 'A comment' }),
    ),
  'an edit of an epic': (world) => placedEpic(world, (at) => world.root.put(at, { state_event: 'close' })),
}

/** The personal project of a new user, and its namespace. */
async function personal(world: World) {
  const ann = await world.user()
  const { id, namespace } = (await ann.post('/projects', { name: 'personal' })).json
  return { world, ann, projectId: id as number, namespaceId: namespace.id as number }
}

type Personal = Awaited<ReturnType<typeof personal>>
type Row = readonly [table: string, id: number]

const ofAccounts: Record<string, { first(at: Personal): Row; request(at: Personal): Promise<Answer> }> = {
  'a rename waits for the creation of a project in its namespace': {
    first: ({ namespaceId }) => ['namespaces', namespaceId],
    request: ({ world, ann }) => world.root.put(`/users/${ann.id}`, { username: unique('ann') }),
  },
  'another name waits for the creation of a project in its namespace': {
    first: ({ namespaceId }) => ['namespaces', namespaceId],
    request: ({ world, ann }) => world.root.put(`/users/${ann.id}`, { name: 'Another name' }),
  },
  'its deletion waits for the creation of a project in its namespace': {
    first: ({ namespaceId }) => ['namespaces', namespaceId],
    request: ({ world, ann }) => world.root.delete(`/users/${ann.id}`),
  },
  'its deletion waits for an issue in its project': {
    first: ({ projectId }) => ['projects', projectId],
    request: ({ world, ann }) => world.root.delete(`/users/${ann.id}`),
  },
}

describe('an account is not locked yet,', () => {
  test.for(Object.keys(ofAccounts))('while %s', async (name, { world }) => {
    const at = await personal(world)
    const { first, request } = ofAccounts[name]!
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, ...first(at), 'share')
      const waiting = request(at)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'users', at.ann.id) }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(unlocked).toBe(true)
  })

  test('while its deletion with the group that it owns waits for an issue there', async ({ world }) => {
    const ann = await world.user()
    const group = (await ann.post('/groups', { name: unique('group'), path: unique('group') })).json
    const project = (await ann.post('/projects', { name: 'inside', namespace_id: group.id })).json
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'projects', project.id, 'share')
      const waiting = world.root.delete(`/users/${ann.id}?hard_delete=true`)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'users', ann.id, 'key share') }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(unlocked).toBe(true)
  })
})

describe('what a transfer of the project or group changes, too, is not locked yet,', () => {
  test.for(Object.keys(placed))('while %s waits for the transfer', async (name, { world }) => {
    const { place, row, request } = await placed[name]!(world)
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, ...place)
      const waiting = request()
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, ...row) }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(unlocked).toBe(true)
  })
})
