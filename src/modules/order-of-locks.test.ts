import { describe, expect } from 'vitest'
import { areUnlocked, isUnlocked, lockRow, lockRowsOf } from '../../test/tables/instance.ts'
import { type Answer, type Client, test, unique, type World } from '../../test/world.ts'
import { newPublicKey } from './accounts/ssh-keys/testing.ts'
import { bringRepository } from './lifecycle/forks/testing.ts'
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

  test('while its deletion waits for a merge request that is merged automatically for it', async ({ world }) => {
    const ann = await world.user()
    const { project, id, at, head } = await openMergeRequest(world, { members: [[ann, 'maintainer']] })
    await world.root.post(`/projects/${project.id}/statuses/${head}`, { state: 'pending' })
    expect((await ann.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'merge_requests', id, 'no key update')
      const waiting = world.root.delete(`/users/${ann.id}`)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'users', ann.id, 'key share') }
    })
    expect((await waiting).status).toBe(204)
    expect(unlocked).toBe(true)
    expect((await world.root.get(at)).json.merge_when_pipeline_succeeds).toBe(false)
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

test('the paths of a project are not locked yet while the rename of its owner waits for the rename of the project', async ({
  world,
}) => {
  const { ann, projectId } = await personal(world)
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'projects', projectId, 'no key update')
    const waiting = world.root.put(`/users/${ann.id}`, { username: unique('ann') })
    await world.waitsForLock(1)
    return { waiting, unlocked: await areUnlocked(tx, 'routes', 'project_id', projectId) }
  })
  expect((await waiting).status).toBe(200)
  expect(unlocked).toBe(true)
})

/** A project, and a fork of it that belongs to a group. */
async function forked(world: World) {
  await world.settings({ deletion_adjourned_period: 0 })
  const [source, group] = [await world.project(), await world.group()]
  const fork = await world.project({ group })
  expect((await world.root.post(`/projects/${fork.id}/fork/${source.id}`)).status).toBe(201)
  return { world, source, fork, group }
}

const ofForks: Record<string, (at: Awaited<ReturnType<typeof forked>>) => Promise<Answer>> = {
  'its deletion': ({ world, fork }) => world.root.delete(`/projects/${fork.id}`),
  'the deletion of its group': ({ world, group }) => world.root.delete(`/groups/${group.id}`),
  'the end of the relation': ({ world, fork }) => world.root.delete(`/projects/${fork.id}/fork`),
}

describe('a fork is not locked before its source, as by a limit of their visibility,', () => {
  test.for(Object.keys(ofForks))('while %s waits for the source', async (name, { world }) => {
    const at = await forked(world)
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'projects', at.source.id, 'no key update')
      const waiting = ofForks[name]!(at)
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'projects', at.fork.id) }
    })
    expect((await waiting).status).toBeLessThan(300)
    expect(unlocked).toBe(true)
  })
})

test('the deletion of a group locks those below it before their projects that it shares, as an edit of these does', async ({
  world,
}) => {
  await world.settings({ deletion_adjourned_period: 0 })
  const group = await world.group()
  const below = async () =>
    (await world.root.post('/groups', { name: unique('below'), path: unique('below'), parent_id: group.id })).json
  const [one, other] = [await below(), await below()]
  const project = (await world.root.post('/projects', { name: 'shared', namespace_id: one.id })).json
  const share = { group_id: other.id, group_access: 30 }
  expect((await world.root.post(`/projects/${project.id}/share`, share)).status).toBe(201)
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'namespaces', one.id, 'share')
    const waiting = world.root.delete(`/groups/${group.id}`)
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, 'projects', project.id) }
  })
  expect((await waiting).status).toBeLessThan(300)
  expect(unlocked).toBe(true)
})

test('the end of a share waits for the deletion of the project, which deletes the share, before it locks the share', async ({
  world,
}) => {
  const [project, group] = [await world.project(), await world.group()]
  await world.root.post(`/projects/${project.id}/share`, { group_id: group.id, group_access: 30 })
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'projects', project.id)
    const waiting = world.root.delete(`/projects/${project.id}/share/${group.id}`)
    await world.waitsForLock(1)
    return { waiting, unlocked: await areUnlocked(tx, 'project_group_links', 'project_id', project.id) }
  })
  expect((await waiting).status).toBeLessThan(300)
  expect(unlocked).toBe(true)
})

/** A deploy key of a project. */
async function withDeployKey(world: World) {
  const project = await world.project()
  const keys = `/projects/${project.id}/deploy_keys`
  const made = await world.root.post(keys, { title: 'Key', key: newPublicKey() })
  expect(made.status).toBe(201)
  return { keys, id: made.json.id as number, key: made.json.key as string }
}

test.for(['enabled', 'added'])(
  'a deploy key that is %s again while it is removed is not locked yet',
  async (how, { world }) => {
    const { keys, id, key } = await withDeployKey(world)
    const { waiting, unlocked } = await world.db.transaction(async (tx) => {
      await lockRowsOf(tx, 'deploy_key_projects', 'deploy_key_id', id)
      const waiting =
        how === 'enabled' ? world.root.post(`${keys}/${id}/enable`) : world.root.post(keys, { title: 'Key', key })
      await world.waitsForLock(1)
      return { waiting, unlocked: await isUnlocked(tx, 'ssh_keys', id, 'update') }
    })
    expect((await waiting).status).toBe(201)
    expect(unlocked).toBe(true)
  },
)

test('a deploy key is not locked yet while its use waits for the deletion of the project, which disables it', async ({
  world,
}) => {
  const { id } = await withDeployKey(world)
  const project = await world.project()
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'projects', project.id)
    const waiting = world.root.post(`/projects/${project.id}/deploy_keys/${id}/enable`)
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, 'ssh_keys', id, 'update') }
  })
  expect((await waiting).status).toBe(201)
  expect(unlocked).toBe(true)
})

test('a public deploy key is not locked yet while its deletion waits for its removal from a project', async ({
  world,
}) => {
  const { id } = (await world.root.post('/deploy_keys', { title: 'Key', key: newPublicKey() })).json
  const project = await world.project()
  expect((await world.root.post(`/projects/${project.id}/deploy_keys/${id}/enable`)).status).toBe(201)
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRowsOf(tx, 'deploy_key_projects', 'deploy_key_id', id)
    const waiting = world.root.delete(`/deploy_keys/${id}`)
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, 'ssh_keys', id, 'update') }
  })
  expect((await waiting).status).toBe(204)
  expect(unlocked).toBe(true)
})

test('a project is not locked yet while an edit of an issue that sets its milestone and closes it waits for a transfer of the group', async ({
  world,
}) => {
  const group = await world.group()
  const { id } = await world.project({ group })
  const milestone = (await world.root.post(`/projects/${id}/milestones`, { title: '1.0' })).json
  const { iid } = (await world.root.post(`/projects/${id}/issues`, { title: 'Issue' })).json
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'namespaces', group.id)
    const waiting = world.root.put(`/projects/${id}/issues/${iid}`, {
      state_event: 'close',
      milestone_id: milestone.id,
    })
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, 'projects', id) }
  })
  expect((await waiting).json).toMatchObject({ state: 'closed', milestone: { id: milestone.id } })
  expect(unlocked).toBe(true)
})

test('a transfer of a project locks its issues in the order of ids, whether they leave a label or a milestone of the group behind', async ({
  world,
}) => {
  const group = await world.group()
  const { id } = await world.project({ group })
  const milestone = (await world.root.post(`/groups/${group.id}/milestones`, { title: '1.0' })).json
  await world.root.post(`/groups/${group.id}/labels`, { name: 'bug', color: '#112233' })
  const made = async (attributes: object) =>
    (await world.root.post(`/projects/${id}/issues`, { title: 'Issue', ...attributes })).json.id
  const [first, second] = [await made({ milestone_id: milestone.id }), await made({ labels: 'bug' })]
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'issues', first, 'no key update')
    const waiting = world.root.put(`/projects/${id}/transfer`, { namespace: (await world.group()).id })
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, 'issues', second) }
  })
  expect((await waiting).status).toBe(200)
  expect(unlocked).toBe(true)
})

test('a fork is not locked yet while its repository waits for a transfer of its group', async ({ world }) => {
  const [source, group] = [await world.project(), await world.group()]
  const file = { branch: 'main', content: '# Title', commit_message: 'Add a file' }
  expect((await world.root.post(`/projects/${source.id}/repository/files/README.md`, file)).status).toBe(201)
  const names = { path: unique('fork'), name: unique('fork') }
  const { id } = (await world.root.post(`/projects/${source.id}/fork`, { namespace_id: group.id, ...names })).json
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'namespaces', group.id)
    const waiting = bringRepository(world, id)
    await Promise.race([waiting, world.waitsForLock(1)])
    return { waiting, unlocked: await isUnlocked(tx, 'projects', id) }
  })
  await waiting
  expect(unlocked).toBe(true)
  expect((await world.root.get(`/projects/${id}`)).json.import_status).toBe('finished')
})

test('a first commit does not wait for a transfer of its group, which waits for the project', async ({ world }) => {
  const group = await world.group()
  const project = await world.project({ group })
  const file = { branch: 'main', content: '# Title', commit_message: 'Add a file' }
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'namespaces', group.id)
    const waiting = world.root.post(`/projects/${project.id}/repository/files/README.md`, file)
    await Promise.race([waiting, world.waitsForLock(1)])
    return { waiting, unlocked: await isUnlocked(tx, 'projects', project.id) }
  })
  expect((await waiting).status).toBe(201)
  expect(unlocked).toBe(true)
})

test('a milestone is not locked yet while its promotion waits for an older one of the same title', async ({
  world,
}) => {
  const group = await world.group()
  const [one, other] = [await world.project({ group }), await world.project({ group })]
  const made = async ({ id }: { id: number }) =>
    (await world.root.post(`/projects/${id}/milestones`, { title: '1.0' })).json.id
  const [first, second] = [await made(one), await made(other)]
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'milestones', first, 'no key update')
    const waiting = world.root.post(`/projects/${other.id}/milestones/${second}/promote`)
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, 'milestones', second) }
  })
  expect((await waiting).status).toBeLessThan(300)
  expect(unlocked).toBe(true)
})

test('a milestone is not locked yet while its deletion waits for a list of a board that has it', async ({ world }) => {
  const { id } = await world.project()
  const milestone = (await world.root.post(`/projects/${id}/milestones`, { title: '1.0' })).json
  const board = (await world.root.post(`/projects/${id}/boards`, { name: 'Board' })).json
  const edited = await world.root.put(`/projects/${id}/boards/${board.id}`, { milestone_id: milestone.id })
  expect(edited.json.milestone).toMatchObject({ id: milestone.id })
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'boards', board.id, 'no key update')
    const waiting = world.root.delete(`/projects/${id}/milestones/${milestone.id}`)
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, 'milestones', milestone.id, 'key share') }
  })
  expect((await waiting).status).toBe(204)
  expect(unlocked).toBe(true)
})

test('an issue is not locked yet while its deletion waits for the project that counts it, as one whose text refers to it is created', async ({
  world,
}) => {
  const project = await world.project()
  const { id, iid } = (await world.root.post(`/projects/${project.id}/issues`, { title: 'Issue' })).json
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'projects', project.id, 'no key update')
    await lockRowsOf(tx, 'issue_counts', 'project_id', project.id)
    const waiting = world.root.delete(`/projects/${project.id}/issues/${iid}`)
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, 'issues', id, 'key share') }
  })
  expect((await waiting).status).toBe(204)
  expect(unlocked).toBe(true)
})

test('an issue is not locked yet while its deletion waits for an issue that was moved to it, as a link of both waits', async ({
  world,
}) => {
  const [project, target] = [await world.project(), await world.project()]
  const issue = (await world.root.post(`/projects/${project.id}/issues`, { title: 'Issue' })).json
  const at = `/projects/${project.id}/issues/${issue.iid}`
  const moved = (await world.root.post(`${at}/move`, { to_project_id: target.id })).json
  const { waiting, unlocked } = await world.db.transaction(async (tx) => {
    await lockRow(tx, 'issues', issue.id, 'no key update')
    const waiting = world.root.delete(`/projects/${target.id}/issues/${moved.iid}`)
    await world.waitsForLock(1)
    return { waiting, unlocked: await isUnlocked(tx, 'issues', moved.id) }
  })
  expect((await waiting).status).toBe(204)
  expect(unlocked).toBe(true)
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
