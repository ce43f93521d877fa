import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { describeLabel, lockPlanned } from '../../../../test/tables/planning.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { deleteLabel } from './edit-queries.ts'

const bases = ['groups', 'projects'] as const
const none = { status: 404, json: { message: '404 Label Not Found' } }
const exists = { status: 409, json: { message: 'Label already exists' } }

async function placeIn(world: World, base: (typeof bases)[number], more = {}): Promise<string> {
  const made = base === 'groups' ? await world.group(more) : await world.project(more)
  return `/${base}/${made.id}/labels`
}

const titles = async (who: Client, path: string): Promise<string[]> =>
  (await who.get(path)).json.map(({ name }: { name: string }) => name)

describe.for(bases)('labels of %s', (base) => {
  test('labels are created, listed by title, read by id and title, changed and deleted', async ({ world }) => {
    const labels = await placeIn(world, base)
    const made = await world.root.post(labels, { name: ' bug ', color: 'Crimson', description: 'Broken' })
    const record = {
      id: expect.any(Number),
      name: 'bug',
      color: '#DC143C',
      text_color: '#FFFFFF',
      description: 'Broken',
      description_html: 'Broken',
      subscribed: false,
      ...(base === 'projects' && { priority: null, is_project_label: true }),
    }
    expect(made.status).toBe(201)
    expect(made.json).toEqual(record)
    await world.root.post(labels, { name: 'a/b c', color: '#FFF' })
    expect((await world.root.get(labels)).json).toEqual([
      { ...record, name: 'a/b c', color: '#FFFFFF', text_color: '#333333', description: null, description_html: '' },
      record,
    ])
    const one = `${labels}/${made.json.id}`
    expect((await world.root.get(one)).json).toEqual(made.json)
    expect((await world.root.get(`${labels}/a%2Fb%20c`)).json.name).toBe('a/b c')
    const changed = await world.root.put(`${labels}/bug`, { new_name: 'defect', description: null })
    expect(changed).toMatchObject({
      status: 200,
      json: { ...record, name: 'defect', description: null, description_html: '' },
    })
    expect((await world.root.delete(`${labels}/defect`)).status).toBe(204)
    for (const path of [one, `${labels}/defect`]) expect(await world.root.get(path)).toMatchObject(none)
    expect(await world.root.put(one, { color: 'red' })).toMatchObject(none)
    expect(await world.root.delete(one)).toMatchObject(none)
  })

  test('every answer shows the description as HTML, with its references', async ({ world }) => {
    const labels = await placeIn(world, base)
    await world.root.post(labels, { name: 'Fruit', color: '#000', description: '<b> of &1 :apple:' })
    const description_html = expect.stringMatching(/^&lt;b&gt; of .*🍎/u)
    const answers = [
      await world.root.put(`${labels}/Fruit`, { color: 'red' }),
      await world.root.put(labels, { name: 'Fruit', color: 'blue' }),
      await world.root.get(`${labels}/Fruit`),
      await world.root.post(`${labels}/Fruit/subscribe`),
      await world.root.post(`${labels}/Fruit/unsubscribe`),
    ]
    for (const { json } of answers) expect(json).toMatchObject({ description_html })
    expect((await world.root.get(labels)).json).toMatchObject([{ description_html }])
  })

  test('a label that is sent as it is does not change', async ({ world }) => {
    const labels = await placeIn(world, base)
    const values = { color: '#FF0000', description: null, ...(base === 'projects' && { priority: 1 }) }
    const { id } = (await world.root.post(labels, { name: 'Same', ...values })).json
    const one = `${labels}/${id}`
    const changes = () => eventsOf(world, { kind: 'label_updated', payload: { label_id: id } }, 'kind')
    for (const same of [{ new_name: 'Same', ...values }, { color: 'red' }, { new_name: ' Same ' }])
      expect((await world.root.put(one, same)).status).toBe(200)
    expect(await changes()).toEqual([])
    await world.root.put(one, base === 'projects' ? { priority: 2 } : { color: 'blue' })
    expect(await changes()).toHaveLength(1)
  })

  test('labels can be named in the body, as older clients do', async ({ world }) => {
    const labels = await placeIn(world, base)
    const { id } = (await world.root.post(labels, { name: 'old', color: 'red' })).json
    expect((await world.root.put(labels, { name: 'old', new_name: 'new' })).json).toMatchObject({ id, name: 'new' })
    expect((await world.root.put(labels, { label_id: id, color: 'blue' })).json).toMatchObject({ color: '#0000FF' })
    expect(await world.root.put(labels, { color: 'red' })).toMatchObject({
      status: 400,
      json: { error: 'label_id, name are missing, exactly one parameter must be provided' },
    })
    expect(await world.root.put(labels, { label_id: id, name: 'new', color: 'red' })).toMatchObject({ status: 400 })
    expect(await world.root.delete(`${labels}?name=old`)).toMatchObject(none)
    expect((await world.root.delete(`${labels}?name=new`)).status).toBe(204)
  })

  test('a label with a numeric title is found by it unless the number is the id of another', async ({ world }) => {
    const labels = await placeIn(world, base)
    const first = (await world.root.post(labels, { name: '999999999999', color: 'red' })).json
    expect((await world.root.get(`${labels}/999999999999`)).json).toEqual(first)
    const second = (await world.root.post(labels, { name: String(first.id), color: 'red' })).json
    expect((await world.root.get(`${labels}/${first.id}`)).json).toEqual(first)
    expect((await world.root.put(labels, { name: String(first.id), color: 'blue' })).json.id).toBe(second.id)
  })

  test('400 for invalid labels, 409 for a taken title', async ({ world }) => {
    const labels = await placeIn(world, base)
    const tooLong = ['is too long (maximum is 255 characters)']
    for (const [input, json] of [
      [{ color: 'red' }, { error: 'name is missing' }],
      [{ name: 'x' }, { error: 'color is missing' }],
      [{ name: ' ', color: 'red' }, { message: { title: ["can't be blank"] } }],
      [{ name: 'a,b', color: 'red' }, { message: { title: ['is invalid'] } }],
      [{ name: 'x'.repeat(256), color: 'red' }, { message: { title: tooLong } }],
      [{ name: 'x', color: 'reddish' }, { message: { color: ['must be a valid color code'] } }],
      [{ name: 'x', color: '#12345' }, { message: { color: ['must be a valid color code'] } }],
      [
        { name: 'x', color: 'red', description: 'x'.repeat(1025) },
        { message: { description: ['is too long (maximum is 1024 characters)'] } },
      ],
    ] as const)
      expect(await world.root.post(labels, input)).toMatchObject({ status: 400, json })
    await world.root.post(labels, { name: 'x', color: 'red' })
    expect(await world.root.post(labels, { name: ' x', color: 'red' })).toMatchObject(exists)
    await world.root.post(labels, { name: 'y', color: 'red' })
    expect(await world.root.put(`${labels}/y`, { new_name: 'x' })).toMatchObject({
      status: 400,
      json: { message: { title: ['has already been taken'] } },
    })
    expect(await world.root.put(`${labels}/y`, {})).toMatchObject({ status: 400 })
    expect((await world.root.put(`${labels}/y`, { new_name: 'y' })).status).toBe(200)
  })

  test('a stored description that is longer than new ones may be does not keep a label from being changed', async ({
    world,
  }) => {
    const labels = await placeIn(world, base)
    const { id } = (await world.root.post(labels, { name: 'old', color: 'red' })).json
    const description = 'x'.repeat(2000)
    await describeLabel(world, id, description)
    const change = (values: object) => world.root.put(`${labels}/${id}`, values)
    expect(await change({ new_name: 'new', description })).toMatchObject({ status: 200, json: { description } })
    expect(await change({ color: 'blue' })).toMatchObject({ status: 200, json: { description } })
    expect((await change({ description: `${description}x` })).status).toBe(400)
    expect(await change({ description: 'Short' })).toMatchObject({ status: 200, json: { description: 'Short' } })
  })

  test('one of several concurrent creations of a label succeeds', async ({ world }) => {
    const labels = await placeIn(world, base)
    const answers = await Promise.all([1, 2, 3].map(() => world.root.post(labels, { name: 'once', color: 'red' })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409])
  })

  test('labels are searched by title and description', async ({ world }) => {
    const labels = await placeIn(world, base)
    await world.root.post(labels, { name: 'backend', color: 'red' })
    await world.root.post(labels, { name: 'other', color: 'red', description: 'Not the Backend' })
    await world.root.post(labels, { name: 'front', color: 'red' })
    expect(await titles(world.root, `${labels}?search=BACK`)).toEqual(['backend', 'other'])
  })

  test('users subscribe to labels for themselves', async ({ world }) => {
    const ann = await world.user()
    const labels = await placeIn(world, base, { visibility: 'public' })
    await world.root.post(labels, { name: 'news', color: 'red' })
    expect((await ann.post(`${labels}/news/unsubscribe`)).status).toBe(304)
    expect(await ann.post(`${labels}/news/subscribe`)).toMatchObject({ status: 201, json: { subscribed: true } })
    expect((await ann.post(`${labels}/news/subscribe`)).status).toBe(304)
    expect((await ann.get(`${labels}/news`)).json.subscribed).toBe(true)
    expect((await world.root.get(`${labels}/news`)).json.subscribed).toBe(false)
    expect(await ann.post(`${labels}/news/unsubscribe`)).toMatchObject({ status: 201, json: { subscribed: false } })
  })

  test('404 for a subscription to a label that is deleted meanwhile', async ({ world }) => {
    const labels = await placeIn(world, base)
    const { id } = (await world.root.post(labels, { name: 'going', color: 'red' })).json
    const [answer] = await world.db.transaction(async (tx) => {
      await deleteLabel(tx, id)
      const sent = world.root.post(`${labels}/going/subscribe`)
      await world.waitsForLock()
      return [sent]
    })
    expect(await answer).toMatchObject(none)
  })

  test('412 when a label changed after If-Unmodified-Since', async ({ world }) => {
    const labels = await placeIn(world, base)
    await world.root.post(labels, { name: 'kept', color: 'red' })
    const long = { headers: { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' } }
    expect((await world.root.delete(`${labels}/kept`, long)).status).toBe(412)
    expect((await world.root.delete(`${labels}?name=kept`, long)).status).toBe(412)
    expect(await titles(world.root, labels)).toEqual(['kept'])
  })
})

describe('labels of groups', () => {
  test('labels of a group appear in projects and subgroups, and change only in the group', async ({ world }) => {
    const top = await world.group()
    const inner = await world.group({ parent: top })
    const project = await world.project({ group: inner })
    const { id } = (await world.root.post(`/groups/${top.id}/labels`, { name: 'all', color: 'red' })).json
    await world.root.post(`/projects/${project.id}/labels`, { name: 'own', color: 'red' })
    const labels = `/projects/${project.id}/labels`
    expect((await world.root.get(labels)).json).toMatchObject([
      { id, name: 'all', is_project_label: false },
      { name: 'own', is_project_label: true },
    ])
    expect(await titles(world.root, `/groups/${inner.id}/labels`)).toEqual(['all'])
    expect(await titles(world.root, `${labels}?include_ancestor_groups=false`)).toEqual(['own'])
    expect(await titles(world.root, `/groups/${inner.id}/labels?include_ancestor_groups=no`)).toEqual([])
    expect((await world.root.get(`${labels}/all`)).json.id).toBe(id)
    expect(await world.root.get(`${labels}/all?include_ancestor_groups=false`)).toMatchObject(none)
    expect(await world.root.post(labels, { name: 'all', color: 'red' })).toMatchObject(exists)
    expect((await world.root.put(`${labels}/own`, { new_name: 'all' })).status).toBe(400)
    expect(await world.root.put(`${labels}/all`, { color: 'blue' })).toMatchObject(none)
    expect(await world.root.delete(`${labels}/${id}`)).toMatchObject(none)
    expect(await world.root.delete(`/groups/${inner.id}/labels/${id}`)).toMatchObject(none)
  })

  test('labels of a hidden ancestor group are not shown', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group()
    const inner = await world.group({ parent: top, members: [[ann, 'reporter']] })
    await world.root.post(`/groups/${top.id}/labels`, { name: 'secret', color: 'red' })
    const labels = `/groups/${inner.id}/labels`
    expect(await titles(ann, labels)).toEqual([])
    expect(await ann.get(`${labels}/secret`)).toMatchObject(none)
    expect((await ann.post(labels, { name: 'secret', color: 'red' })).status).toBe(201)
    await world.project({ group: inner })
    expect(await titles(ann, labels)).toEqual(['secret', 'secret'])
  })
})

describe('priorities of labels', () => {
  test('each project has its own label priorities, for labels of groups too', async ({ world }) => {
    const group = await world.group()
    const [one, other] = [await world.project({ group }), await world.project({ group })]
    const labels = `/projects/${one.id}/labels`
    expect((await world.root.post(labels, { name: 'own', color: 'red', priority: 2 })).json.priority).toBe(2)
    await world.root.post(`/groups/${group.id}/labels`, { name: 'all', color: 'red' })
    expect((await world.root.put(`${labels}/all`, { priority: 0 })).json).toMatchObject({ name: 'all', priority: 0 })
    expect(await world.root.put(`${labels}/all`, { priority: 1, color: 'blue' })).toMatchObject(none)
    expect((await world.root.get(labels)).json).toMatchObject([{ priority: 0 }, { priority: 2 }])
    expect((await world.root.get(`/projects/${other.id}/labels`)).json).toMatchObject([{ priority: null }])
    expect((await world.root.put(`${labels}/own`, { priority: null })).json.priority).toBeNull()
    expect((await world.root.put(`${labels}/own`, { priority: -1 })).status).toBe(400)
  })

  test('a priority that is removed leaves those of other labels and projects', async ({ world }) => {
    const group = await world.group()
    const projects = [await world.project({ group }), await world.project({ group })]
    for (const name of ['one', 'two']) await world.root.post(`/groups/${group.id}/labels`, { name, color: 'red' })
    for (const { id } of projects)
      for (const name of ['one', 'two'])
        expect((await world.root.put(`/projects/${id}/labels/${name}`, { priority: 3 })).json.priority).toBe(3)
    await world.root.put(`/projects/${projects[0]!.id}/labels/one`, { priority: null })
    const priorities = async ({ id }: { id: number }) =>
      (await world.root.get(`/projects/${id}/labels`)).json.map((label: any) => [label.name, label.priority])
    expect(await Promise.all(projects.map(priorities))).toEqual([
      [
        ['one', null],
        ['two', 3],
      ],
      [
        ['one', 3],
        ['two', 3],
      ],
    ])
  })
})

test.for([
  ['new priority', 200],
  ['deletion', 204],
] as const)(
  'a label is removed from an issue while its %s waits for another issue',
  async ([change, status], { world }) => {
    const { id } = await world.project()
    const label = (await world.root.post(`/projects/${id}/labels`, { name: 'bug', color: 'red' })).json
    const at = `/projects/${id}/labels/${label.id}`
    const made = async (title: string) =>
      (await world.root.post(`/projects/${id}/issues`, { title, labels: 'bug' })).json
    const [first, second] = [await made('First'), await made('Second')]
    const { changed, edited } = await world.db.transaction(async (tx) => {
      await lockPlanned(tx, 'issues', first.id)
      const answer = change === 'deletion' ? world.root.delete(at) : world.root.put(at, { priority: 1 })
      await world.waitsForLock(1)
      const edit = world.root.put(`/projects/${id}/issues/${second.iid}`, { labels: '' })
      return { changed: answer, edited: await Promise.race([edit, world.waitsForLock(2)]) }
    })
    expect(edited).toMatchObject({ status: 200, json: { labels: [] } })
    expect((await changed).status).toBe(status)
  },
)
