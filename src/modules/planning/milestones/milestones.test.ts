import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { lockPlanned } from '../../../../test/tables/planning.ts'
import { type Client, test, type World } from '../../../../test/world.ts'

const bases = ['groups', 'projects'] as const
const none = { status: 404, json: { message: '404 Not found' } }
const used = 'already being used for another group or project milestone.'
const refused = (verb: string, field: string, text: string) => ({
  status: 400,
  json: { message: `Failed to ${verb} milestone {:${field}=>["${text}"]}` },
})

async function placeIn(world: World, base: (typeof bases)[number], more = {}) {
  const made = base === 'groups' ? await world.group(more) : await world.project(more)
  return { ...made, milestones: `/${base}/${made.id}/milestones` }
}

const titles = async (who: Client, path: string): Promise<string> =>
  (await who.get(path)).json.map(({ title }: { title: string }) => title).join(' ')

describe.for(bases)('milestones of %s', (base) => {
  test('milestones are created with an iid, read, changed, closed, activated and deleted', async ({ world }) => {
    const { id, full_path, milestones } = await placeIn(world, base)
    const made = await world.root.post(milestones, {
      title: ' 1.0 ',
      description: 'First',
      start_date: '2020-01-01',
      due_date: '2020-01-31',
    })
    const record = {
      id: expect.any(Number),
      iid: 1,
      [base === 'groups' ? 'group_id' : 'project_id']: id,
      title: '1.0',
      description: 'First',
      state: 'active',
      created_at: expect.any(String),
      updated_at: made.json.created_at,
      start_date: '2020-01-01',
      due_date: '2020-01-31',
      expired: true,
      web_url: `${world.origin}/${base === 'groups' ? 'groups/' : ''}${full_path}/-/milestones/1`,
    }
    expect(made.status).toBe(201)
    expect(made.json).toEqual(record)
    const second = (await world.root.post(milestones, { title: 'next', due_date: '2999-12-31' })).json
    expect(second).toMatchObject({ iid: 2, description: null, start_date: null, expired: false })
    const one = `${milestones}/${made.json.id}`
    expect((await world.root.get(one)).json).toEqual(made.json)
    const closed = await world.root.put(one, { state_event: 'close', due_date: null })
    expect(closed).toMatchObject({ status: 200, json: { state: 'closed', due_date: null, expired: false } })
    expect((await world.root.put(one, { state_event: 'close' })).json.state).toBe('closed')
    expect((await world.root.put(one, { title: '1.1', state_event: 'activate' })).json).toMatchObject({
      state: 'active',
      title: '1.1',
      description: 'First',
    })
    expect((await world.root.delete(one)).status).toBe(204)
    expect(await world.root.get(one)).toMatchObject(none)
    expect(await world.root.put(one, { title: 'x' })).toMatchObject(none)
    expect(await world.root.delete(one)).toMatchObject(none)
    // An iid is never reused.
    await world.root.delete(`${milestones}/${second.id}`)
    expect((await world.root.post(milestones, { title: 'third' })).json.iid).toBe(3)
  })

  test('a milestone that is sent as it is does not change', async ({ world }) => {
    const { milestones } = await placeIn(world, base)
    const values = { title: 'Same', description: null, start_date: '2020-01-01', due_date: '2020-01-31' }
    const { id } = (await world.root.post(milestones, values)).json
    const one = `${milestones}/${id}`
    const closed = (await world.root.put(one, { state_event: 'close' })).json
    for (const same of [values, { title: ' Same ' }, { state_event: 'close' }])
      expect((await world.root.put(one, same)).json).toEqual(closed)
    expect(await eventsOf(world, { kind: 'milestone_updated', payload: { iid: 1, milestone_id: id } }, 'kind')).toEqual(
      [],
    )
    expect((await world.root.put(one, { due_date: null })).json.updated_at > closed.updated_at).toBe(true)
  })

  test('the dates of a milestone are the days of a date-time, because clients send times', async ({ world }) => {
    const { milestones } = await placeIn(world, base)
    const times = { start_date: '2020-01-01T23:30:00-05:00', due_date: '2020-01-31T00:00:00.000Z' }
    const made = await world.root.post(milestones, { title: 'timed', ...times })
    expect(made).toMatchObject({ status: 201, json: { start_date: '2020-01-01', due_date: '2020-01-31' } })
    expect(await world.root.put(`${milestones}/${made.json.id}`, { due_date: '2020-02-29T12:00:00Z' })).toMatchObject({
      status: 200,
      json: { due_date: '2020-02-29' },
    })
    for (const due_date of ['2020-02-30T12:00:00Z', '2020-02-29 or so'])
      expect(await world.root.put(`${milestones}/${made.json.id}`, { due_date })).toMatchObject({
        status: 400,
        json: { error: 'due_date is invalid' },
      })
  })

  test('milestones are listed newest first, by iid, state, title and search', async ({ world }) => {
    const { milestones } = await placeIn(world, base)
    for (const title of ['alpha', 'beta', 'gamma'])
      await world.root.post(milestones, { title, description: `about ${title}` })
    const [gamma] = (await world.root.get(milestones)).json
    await world.root.put(`${milestones}/${gamma.id}`, { state_event: 'close' })
    expect(await titles(world.root, milestones)).toBe('gamma beta alpha')
    expect(await titles(world.root, `${milestones}?state=active`)).toBe('beta alpha')
    expect(await titles(world.root, `${milestones}?state=closed`)).toBe('gamma')
    expect(await titles(world.root, `${milestones}?iids[]=1&iids[]=3&iids[]=9`)).toBe('gamma alpha')
    expect(await titles(world.root, `${milestones}?title=beta`)).toBe('beta')
    expect(await titles(world.root, `${milestones}?search=bout+BET`)).toBe('beta')
    expect(await titles(world.root, `${milestones}?per_page=1&page=2`)).toBe('beta')
  })

  test('400 for invalid milestones', async ({ world }) => {
    const { milestones } = await placeIn(world, base)
    await world.root.post(milestones, { title: 'taken' })
    const { id } = (await world.root.post(milestones, { title: 'other', start_date: '2020-02-01' })).json
    for (const [input, answer] of [
      [{}, { status: 400, json: { error: 'title is missing' } }],
      [{ title: ' ' }, refused('create', 'title', "can't be blank")],
      [{ title: 'x'.repeat(256) }, refused('create', 'title', 'is too long (maximum is 255 characters)')],
      [{ title: 'taken ' }, refused('create', 'title', used)],
      [
        { title: 'x', start_date: '2020-01-02', due_date: '2020-01-01' },
        refused('create', 'due_date', 'must be greater than start date'),
      ],
      [
        { title: 'x', due_date: 'soon' },
        { status: 400, json: { error: 'due_date is invalid' } },
      ],
    ] as const)
      expect(await world.root.post(milestones, input)).toMatchObject(answer)
    const one = `${milestones}/${id}`
    expect(await world.root.put(one, { title: 'taken' })).toMatchObject(refused('update', 'title', used))
    expect(await world.root.put(one, { due_date: '2020-01-31' })).toMatchObject(
      refused('update', 'due_date', 'must be greater than start date'),
    )
    expect((await world.root.put(one, { due_date: '2020-02-01', title: 'other' })).status).toBe(200)
    expect((await world.root.put(one, { state_event: 'open' })).status).toBe(400)
    expect((await world.root.put(one, {})).status).toBe(400)
  })

  test('concurrent milestones get distinct iids, and one of a title is created', async ({ world }) => {
    const { milestones } = await placeIn(world, base)
    const made = await Promise.all([1, 2, 3].map((each) => world.root.post(milestones, { title: `at ${each}` })))
    expect(made.map(({ json }) => json.iid).sort()).toEqual([1, 2, 3])
    const same = await Promise.all([1, 2, 3].map(() => world.root.post(milestones, { title: 'one' })))
    expect(same.map(({ status }) => status).sort()).toEqual([201, 400, 400])
  })
})

describe('milestones of groups', () => {
  test('include_parent_milestones adds those of ancestors, whose titles cannot be reused', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group()
    const group = await world.group({ parent: top, members: [[ann, 'developer']] })
    const project = await world.project({ group: await world.group({ parent: top }) })
    await world.root.post(`/groups/${top.id}/milestones`, { title: 'all' })
    const milestones = `/projects/${project.id}/milestones`
    await world.root.post(milestones, { title: 'own' })
    expect(await titles(world.root, milestones)).toBe('own')
    expect(await titles(world.root, `${milestones}?include_parent_milestones=true`)).toBe('own all')
    expect(await world.root.post(milestones, { title: 'all' })).toMatchObject(refused('create', 'title', used))
    const [{ id }] = (await world.root.get(`/groups/${top.id}/milestones`)).json
    expect(await world.root.put(`${milestones}/${id}`, { title: 'x' })).toMatchObject(none)
    // Milestones of a hidden ancestor group are not shown.
    expect(await titles(ann, `/groups/${group.id}/milestones?include_parent_milestones=true`)).toBe('')
  })

  test('project events list milestones that are created, closed, reopened and deleted', async ({ world }) => {
    const project = await world.project()
    const milestones = `/projects/${project.id}/milestones`
    const { id } = (await world.root.post(milestones, { title: 'shown' })).json
    for (const state_event of ['close', 'activate']) await world.root.put(`${milestones}/${id}`, { state_event })
    await world.root.delete(`${milestones}/${id}`)
    const lines = (await world.root.get(`/projects/${project.id}/events?target_type=milestone`)).json
    expect(lines.map(({ action_name }: { action_name: string }) => action_name)).toEqual([
      'destroyed',
      'reopened',
      'closed',
      'opened',
    ])
    expect(lines[0]).toMatchObject({ target_type: 'Milestone', target_id: id, target_iid: 1, target_title: 'shown' })
  })
})

test.for([
  ['a new due date', 200],
  ['the deletion', 204],
] as const)(
  'an issue is edited while %s of its milestone waits for another issue',
  async ([change, status], { world }) => {
    const { id, milestones } = await placeIn(world, 'projects')
    const milestone = (await world.root.post(milestones, { title: '1.0' })).json
    const at = `${milestones}/${milestone.id}`
    const made = async (title: string) =>
      (await world.root.post(`/projects/${id}/issues`, { title, milestone_id: milestone.id })).json
    const [first, second] = [await made('First'), await made('Second')]
    const { changed, edited } = await world.db.transaction(async (tx) => {
      await lockPlanned(tx, 'issues', first.id)
      const answer = change === 'the deletion' ? world.root.delete(at) : world.root.put(at, { due_date: '2030-01-02' })
      await world.waitsForLock(1)
      const edit = world.root.put(`/projects/${id}/issues/${second.iid}`, { title: 'Edited' })
      return { changed: answer, edited: await Promise.race([edit, world.waitsForLock(2)]) }
    })
    expect(edited).toMatchObject({ status: 200, json: { title: 'Edited' } })
    expect((await changed).status).toBe(status)
  },
)
