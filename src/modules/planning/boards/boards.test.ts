import { afterAll, beforeAll, describe, expect, test as plain } from 'vitest'
import { type Client, test, World } from '../../../../test/world.ts'
import { removeUser } from '../../groups/user-removal/jobs.ts'
import { storedProject } from '../../repository/commits/testing.ts'

type Place = { readonly of: 'projects' | 'groups'; readonly id: number; readonly at: string }

async function place(world: World, of: Place['of'], members: [Client, 'guest' | 'reporter'][] = []): Promise<Place> {
  const { id } = of === 'groups' ? await world.group({ visibility: 'public' }) : await storedProject(world)
  for (const [who, level] of members)
    await world.root.post(`/${of}/${id}/members`, { user_id: who.id, access_level: level === 'guest' ? 10 : 20 })
  return { of, id, at: `/${of}/${id}/boards` }
}

const labelOf = async (world: World, { of, id }: Place, name: string): Promise<number> =>
  (await world.root.post(`/${of}/${id}/labels`, { name, color: '#112233' })).json.id

const milestoneOf = async (world: World, { of, id }: Place, title: string): Promise<number> =>
  (await world.root.post(`/${of}/${id}/milestones`, { title })).json.id

const boardOf = async (world: World, { at }: Place, name = 'Board'): Promise<string> =>
  `${at}/${(await world.root.post(at, { name })).json.id}`

describe.for(['projects', 'groups'] as const)('boards of %s', (of) => {
  test('a board is created, read, changed and deleted', async ({ world }) => {
    const here = await place(world, of)
    expect(await world.root.get(here.at)).toMatchObject({ status: 200, json: [] })
    const made = await world.root.post(here.at, { name: ' Team ' })
    expect(made).toMatchObject({
      status: 201,
      json: {
        name: 'Team',
        hide_backlog_list: false,
        hide_closed_list: false,
        lists: [],
        labels: [],
        milestone: null,
        assignee: null,
        weight: null,
        project: of === 'projects' ? { id: here.id, web_url: expect.any(String) } : null,
        group: of === 'groups' ? { id: here.id, web_url: expect.any(String) } : null,
      },
    })
    const at = `${here.at}/${made.json.id}`
    const bug = await labelOf(world, here, 'bug')
    const milestone = await milestoneOf(world, here, '1.0')
    const changed = await world.root.put(at, {
      name: 'Bugs',
      labels: 'bug,unknown',
      milestone_id: milestone,
      assignee_id: world.root.id,
      weight: 3,
      hide_backlog_list: true,
    })
    expect(changed).toMatchObject({
      status: 200,
      json: {
        name: 'Bugs',
        labels: [{ id: bug, name: 'bug' }],
        milestone: { id: milestone },
        assignee: { id: world.root.id },
        weight: 3,
        hide_backlog_list: true,
        hide_closed_list: false,
      },
    })
    expect((await world.root.get(at)).json).toEqual(changed.json)
    expect((await world.root.get(here.at)).json).toEqual([changed.json])
    const cleared = await world.root.put(at, { milestone_id: 0, assignee_id: 0, weight: null, labels: '' })
    expect(cleared.json).toMatchObject({ name: 'Bugs', milestone: null, assignee: null, weight: null, labels: [] })
    expect((await world.root.delete(at)).status).toBe(204)
    expect(await world.root.get(at)).toMatchObject({ status: 404, json: { message: '404 Board Not Found' } })
  })

  test('400 for a name that is blank or too long, and for people and milestones from elsewhere', async ({ world }) => {
    const [here, there] = [await place(world, of), await place(world, of)]
    const stranger = await world.user({ external: true })
    const at = await boardOf(world, here)
    for (const name of [' ', 'x'.repeat(256)]) {
      expect((await world.root.post(here.at, { name })).json).toMatchObject({ message: { name: [expect.any(String)] } })
      expect((await world.root.put(at, { name })).status).toBe(400)
    }
    const milestone_id = await milestoneOf(world, there, '1.0')
    expect((await world.root.put(at, { milestone_id })).status).toBe(400)
    expect((await world.root.put(at, { assignee_id: 999_999_999 })).status).toBe(400)
    if (of === 'groups') expect((await world.root.put(at, { assignee_id: stranger.id })).status).toBe(400)
    expect((await world.root.put(at, {})).status).toBe(400)
    expect((await world.root.get(`${there.at}/${at.split('/').at(-1)}`)).status).toBe(404)
  })

  test('a list has the issues with one label, assignee or milestone', async ({ world }) => {
    const here = await place(world, of)
    const at = await boardOf(world, here)
    const [label_id, milestone_id] = [await labelOf(world, here, 'doing'), await milestoneOf(world, here, '1.0')]
    expect(await world.root.post(`${at}/lists`, { label_id, max_issue_count: 5 })).toMatchObject({
      status: 201,
      json: {
        position: 0,
        label: { id: label_id, name: 'doing', color: '#112233' },
        assignee: null,
        milestone: null,
        max_issue_count: 5,
        max_issue_weight: 0,
      },
    })
    expect((await world.root.post(`${at}/lists`, { assignee_id: world.root.id })).json).toMatchObject({
      position: 1,
      label: null,
      assignee: { id: world.root.id },
    })
    const third = await world.root.post(`${at}/lists`, { milestone_id })
    expect(third.json).toMatchObject({ position: 2, milestone: { id: milestone_id } })
    const lists = (await world.root.get(`${at}/lists`)).json
    expect(lists).toHaveLength(3)
    expect((await world.root.get(at)).json.lists).toEqual(lists)
    const list = `${at}/lists/${third.json.id}`
    expect((await world.root.get(list)).json).toEqual(third.json)
    expect((await world.root.put(list, { position: 0, max_issue_weight: 8 })).json).toMatchObject({
      position: 0,
      max_issue_weight: 8,
    })
    expect((await world.root.delete(list)).status).toBe(204)
    expect(await world.root.delete(list)).toMatchObject({ status: 404, json: { message: '404 List Not Found' } })
    expect((await world.root.get(`${at}/lists`)).json.map((each: any) => each.position)).toEqual([0, 1])
  })

  test('400 for lists of nothing, of two, of the same, and of what the board cannot use', async ({ world }) => {
    const [here, there] = [await place(world, of), await place(world, of)]
    const at = await boardOf(world, here)
    const label_id = await labelOf(world, here, 'doing')
    await world.root.post(`${at}/lists`, { label_id })
    const refused = async (body: object) => {
      const { status, json } = await world.root.post(`${at}/lists`, body)
      return [status, json.message ?? json.error]
    }
    expect(await refused({ label_id })).toEqual([400, { label_id: ['has already been taken'] }])
    expect((await refused({}))[0]).toBe(400)
    expect((await refused({ label_id, assignee_id: world.root.id }))[0]).toBe(400)
    expect(await refused({ label_id: await labelOf(world, there, 'other') })).toEqual([400, 'Label not found!'])
    expect(await refused({ milestone_id: await milestoneOf(world, there, '1.0') })).toEqual([
      400,
      'Milestone not found!',
    ])
    expect(await refused({ assignee_id: 999_999_999 })).toEqual([400, 'User not found!'])
    const [{ id }] = (await world.root.get(`${at}/lists`)).json
    expect(await world.root.put(`${at}/lists/${id}`, { position: 1 })).toMatchObject({
      status: 400,
      json: { message: 'List could not be moved!' },
    })
    expect((await world.root.put(`${at}/lists/${id}`, { position: 0 })).status).toBe(200)
  })

  test('32 concurrent writers move lists, and positions have neither gaps nor duplicates', async ({ world }) => {
    const here = await place(world, of)
    const at = await boardOf(world, here)
    const lists: number[] = []
    for (let i = 0; i < 8; i++) {
      const made = await world.root.post(`${at}/lists`, { label_id: await labelOf(world, here, `l${i}`) })
      lists.push(made.json.id)
    }
    const extra = await Promise.all(Array.from({ length: 4 }, (_, i) => labelOf(world, here, `new${i}`)))
    const statuses = await Promise.all([
      ...Array.from({ length: 27 }, async (_, i) => {
        const answer = await world.root.put(`${at}/lists/${lists[i % 8]}`, { position: (i * 5) % 8 })
        return answer.status
      }),
      ...extra.map(async (label_id) => (await world.root.post(`${at}/lists`, { label_id })).status),
      world.root.delete(`/${of}/${here.id}/labels/l7`).then(({ status }) => status),
    ])
    // The eighth list ends with its label; moves of it, and moves behind the last one, are then refused.
    expect(new Set(statuses).difference(new Set([200, 201, 204, 400, 404])).size).toBe(0)
    expect(statuses.slice(27)).toEqual([201, 201, 201, 201, 204])
    const after = (await world.root.get(`${at}/lists`)).json
    expect(after.map(({ position }: { position: number }) => position)).toEqual(Array.from({ length: 11 }, (_, i) => i))
    expect(new Set(after.map(({ id }: { id: number }) => id))).toEqual(
      new Set([...lists.slice(0, 7), ...after.slice(-20).map(({ id }: { id: number }) => id)]),
    )
  })

  test('lists end with their label, milestone or user', async ({ world }) => {
    const here = await place(world, of)
    const at = await boardOf(world, here)
    const user = await world.user()
    await world.root.post(`/${of}/${here.id}/members`, { user_id: user.id, access_level: 30 })
    const [label_id, milestone_id] = [await labelOf(world, here, 'doing'), await milestoneOf(world, here, '1.0')]
    const last = await labelOf(world, here, 'last')
    for (const criterion of [{ label_id }, { milestone_id }, { assignee_id: user.id }, { label_id: last }])
      expect((await world.root.post(`${at}/lists`, criterion)).status).toBe(201)
    await world.root.put(at, { labels: 'doing', milestone_id, assignee_id: user.id })
    await world.root.delete(`/${of}/${here.id}/labels/${label_id}`)
    await world.root.delete(`/${of}/${here.id}/milestones/${milestone_id}`)
    await world.root.delete(`/users/${user.id}?hard_delete=true`)
    for (const { payload } of await world.takeJobs(`remove_user:${user.id}`))
      await removeUser.run(payload, await world.app.open(null))
    expect((await world.root.get(`/users/${user.id}`)).status).toBe(404)
    expect((await world.root.get(at)).json).toMatchObject({
      labels: [],
      milestone: null,
      assignee: null,
      lists: [{ position: 0, label: { id: last } }],
    })
  })

  test('users who read issues read boards; reporters change them', async ({ world }) => {
    const [guest, reporter, stranger] = [await world.user(), await world.user(), await world.user()]
    const here = await place(world, of, [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ])
    const at = await boardOf(world, here)
    for (const who of [guest, reporter, stranger]) expect((await who.get(at)).status).toBe(200)
    expect((await world.anonymous.get(at)).status).toBe(401)
    for (const who of [guest, stranger]) {
      expect((await who.post(here.at, { name: 'x' })).status).toBe(403)
      expect((await who.put(at, { name: 'x' })).status).toBe(403)
      expect((await who.delete(at)).status).toBe(403)
    }
    expect((await reporter.put(at, { name: 'x' })).status).toBe(200)
  })
})

test('a project without issues has no boards', async ({ world }) => {
  const here = await place(world, 'projects')
  const at = await boardOf(world, here)
  await world.root.put(`/projects/${here.id}`, { issues_access_level: 'disabled' })
  expect((await world.root.get(at)).status).toBe(403)
  expect((await world.root.post(here.at, { name: 'x' })).status).toBe(403)
})

describe('boards on the plan free', () => {
  let world: World
  beforeAll(async () => {
    world = await World.start({ STITHY_PLAN: 'free' })
  })
  afterAll(() => world[Symbol.asyncDispose]())

  plain('a group has one board, a project as many as it likes', async () => {
    const [group, project] = [await place(world, 'groups'), await place(world, 'projects')]
    expect((await world.root.post(group.at, { name: 'one' })).status).toBe(201)
    expect((await world.root.post(group.at, { name: 'two' })).status).toBe(403)
    for (const name of ['one', 'two']) expect((await world.root.post(project.at, { name })).status).toBe(201)
  })

  plain('boards have no scope, and lists only labels', async () => {
    const here = await place(world, 'projects')
    const at = await boardOf(world, here)
    const { json: list } = await world.root.post(`${at}/lists`, { label_id: await labelOf(world, here, 'doing') })
    expect(Object.keys(list)).toEqual(['id', 'position', 'label'])
    const board = (await world.root.get(at)).json
    expect(Object.keys(board)).toEqual([
      ...['id', 'name', 'hide_backlog_list', 'hide_closed_list', 'project', 'group', 'lists'],
    ])
    expect(board.lists).toEqual([list])
    expect((await world.root.post(`${at}/lists`, { assignee_id: world.root.id })).status).toBe(400)
    expect((await world.root.put(at, { weight: 1 })).status).toBe(400)
  })
})

test('a board has at most a hundred lists', async ({ world }) => {
  const here = await place(world, 'projects')
  const at = await boardOf(world, here)
  const statuses: number[] = []
  for (let count = 1; count <= 101; count++) {
    const label_id = await labelOf(world, here, `label ${count}`)
    statuses.push((await world.root.post(`${at}/lists`, { label_id })).status)
  }
  expect([statuses.slice(0, 100).every((status) => status === 201), statuses[100]]).toEqual([true, 400])
  expect((await world.root.get(at)).json.lists).toHaveLength(100)
})
