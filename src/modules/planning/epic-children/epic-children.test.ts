import { describe, expect } from 'vitest'
import { type Client, test } from '../../../../test/world.ts'
import { openEpic } from '../epics/testing.ts'

const childIds = async (who: Client, at: string): Promise<number[]> =>
  (await who.get(`${at}/epics`)).json.map(({ id }: any) => id)

describe('child epics', () => {
  test('are created, added, listed in their order and removed, with notes on both sides', async ({ world }) => {
    const parent = await openEpic(world)
    const { group } = parent
    const child = await openEpic(world, { group, parent_id: parent.id })
    expect(child.record).toMatchObject({ parent_id: parent.id, parent_iid: 1 })
    expect(child.record._links.parent).toMatch(new RegExp(`/groups/${group.id}/epics/1$`))
    const made = await world.root.post(`${parent.at}/epics`, { title: 'Third' })
    expect(made).toMatchObject({ status: 201, json: { iid: 3, title: 'Third', parent_id: parent.id } })
    const other = await openEpic(world, { group })
    expect(await world.root.post(`${parent.at}/epics/${other.id}`)).toMatchObject({
      status: 201,
      json: { id: other.id, parent_id: parent.id },
    })
    expect(await childIds(world.root, parent.at)).toEqual([child.id, made.json.id, other.id])
    const place = (id: number, next: object) => world.root.put(`${parent.at}/epics/${id}`, next)
    expect((await place(other.id, { move_after_id: child.id })).json.map(({ id }: any) => id)).toEqual([
      other.id,
      child.id,
      made.json.id,
    ])
    await place(other.id, { move_before_id: child.id })
    expect(await childIds(world.root, parent.at)).toEqual([child.id, other.id, made.json.id])
    expect(await world.root.delete(`${parent.at}/epics/${child.id}`)).toMatchObject({
      status: 200,
      json: { id: child.id, parent_id: null },
    })
    expect((await world.root.delete(`${parent.at}/epics/${child.id}`)).status).toBe(404)
    expect(await childIds(world.root, parent.at)).toEqual([other.id, made.json.id])
    const notes = async (at: string) => (await world.root.get(`${at}/notes?sort=asc`)).json.map(({ body }: any) => body)
    expect(await notes(child.at)).toEqual(['added epic &1 as parent epic', 'removed epic &1 as parent epic'])
    expect((await notes(parent.at))[0]).toBe('added epic &2 as child epic')
    await world.root.delete(parent.at)
    expect((await world.root.get(other.at)).json.parent_id).toBeNull()
  })

  test('are last when they are added, also if they are older than the others', async ({ world }) => {
    const oldest = await openEpic(world)
    const { group } = oldest
    const parent = await openEpic(world, { group })
    const children = [await openEpic(world, { group }), await openEpic(world, { group }), oldest]
    for (const { id } of children) expect((await world.root.post(`${parent.at}/epics/${id}`)).status).toBe(201)
    expect(await childIds(world.root, parent.at)).toEqual(children.map(({ id }) => id))
  })

  test('have the same calls below `links`, and an epic gets a todo by `todos`', async ({ world }) => {
    const parent = await openEpic(world)
    const other = await openEpic(world, { group: parent.group })
    const at = `${parent.at}/links`
    const child = (await world.root.post(at, { title: 'Child' })).json
    expect(await world.root.post(`${at}/${other.id}`)).toMatchObject({ status: 201, json: { parent_id: parent.id } })
    const placed = await world.root.put(`${at}/${other.id}`, { move_after_id: child.id })
    expect(placed.json.map(({ id }: any) => id)).toEqual([other.id, child.id])
    expect((await world.root.get(at)).json).toEqual(placed.json)
    expect(await world.root.delete(`${at}/${other.id}`)).toMatchObject({ status: 200, json: { parent_id: null } })
    expect(await childIds(world.root, parent.at)).toEqual([child.id])
    const todos = `${parent.at}/todos`
    expect(await world.root.post(todos)).toMatchObject({ status: 201, json: { target: { id: parent.id } } })
    expect((await world.root.post(todos)).status).toBe(304)
  })

  test('are at most five generations deep and have no cycles', async ({ world }) => {
    const epics = [await openEpic(world)]
    const { group } = epics[0]!
    for (let n = 1; n < 5; n++) epics.push(await openEpic(world, { group, parent_id: epics.at(-1)!.id }))
    const [top, , , , lowest] = epics
    expect((await world.root.post(`${lowest!.at}/epics`, { title: 'Sixth' })).status).toBe(400)
    expect((await world.root.put(top!.at, { parent_id: lowest!.id })).status).toBe(400)
    expect((await world.root.put(top!.at, { parent_id: top!.id })).status).toBe(400)
    const pair = await openEpic(world, { group })
    await openEpic(world, { group, parent_id: pair.id })
    expect((await world.root.put(pair.at, { parent_id: epics[3]!.id })).status).toBe(400)
    expect((await world.root.put(pair.at, { parent_id: epics[2]!.id })).status).toBe(200)
  })

  test('make no cycle when two become the parents of each other at once', async ({ world }) => {
    const group = await world.group()
    for (let round = 0; round < 8; round++) {
      const [a, b] = [await openEpic(world, { group }), await openEpic(world, { group })]
      const answers = await Promise.all([
        world.root.put(a.at, { parent_id: b.id }),
        world.root.post(`${a.at}/epics/${b.id}`),
      ])
      expect(answers.map(({ status }) => status).toSorted()).toSatisfy(
        ([first, second]: number[]) => (first === 200 || first === 201) && second === 400,
      )
    }
  })

  test('belong to the group of the parent or below it, and need the rights on both', async ({ world }) => {
    const reporter = await world.user()
    const parent = await openEpic(world, { members: [[reporter, 'reporter']] })
    const below = await openEpic(world, { group: await world.group({ parent: parent.group, visibility: 'public' }) })
    const foreign = await openEpic(world)
    expect((await reporter.post(`${parent.at}/epics/${below.id}`)).json.parent_id).toBe(parent.id)
    expect((await reporter.post(`${parent.at}/epics/${foreign.id}`)).status).toBe(403)
    expect((await world.root.post(`${parent.at}/epics/${foreign.id}`)).status).toBe(400)
    expect((await world.root.put(parent.at, { parent_id: below.id })).status).toBe(400)
    expect((await reporter.put(below.at, { parent_id: foreign.id })).status).toBe(403)
    expect((await reporter.put(below.at, { parent_id: 999_999 })).status).toBe(404)
  })

  test('and labels stay with an epic whose group moves away from that of its parent', async ({ world }) => {
    const parent = await openEpic(world)
    const group = await world.group({ parent: parent.group, visibility: 'public' })
    await world.root.post(`/groups/${parent.group.id}/labels`, { name: 'above', color: '#112233' })
    const child = await openEpic(world, { group, parent_id: parent.id, labels: 'above,own' })
    const grandchild = await openEpic(world, { group, parent_id: child.id })
    const other = await world.group({ visibility: 'public' })
    expect((await world.root.post(`/groups/${group.id}/transfer`, { group_id: other.id })).status).toBe(201)
    expect((await world.root.get(child.at)).json).toMatchObject({ parent_id: null, labels: ['above', 'own'] })
    expect((await world.root.get(grandchild.at)).json.parent_id).toBe(child.id)
    expect(await childIds(world.root, parent.at)).toEqual([])
    const labels = (await world.root.get(`/groups/${group.id}/labels?include_ancestor_groups=false`)).json
    expect(labels).toMatchObject([{ name: 'above', color: '#112233' }, { name: 'own' }])
    expect((await world.root.get(`${child.at}/resource_label_events`)).json).toMatchObject([
      { label: { id: labels[0].id } },
      { label: { id: labels[1].id } },
    ])
  })

  test('do not reveal a parent or a child to those who may not read it', async ({ world }) => {
    const guest = await world.user()
    const parent = await openEpic(world, { confidential: true, members: [[guest, 'guest']] })
    const { group } = parent
    const child = await openEpic(world, { group, parent_id: parent.id })
    const grandchild = await openEpic(world, { group, parent_id: child.id, confidential: true })
    expect((await guest.get(child.at)).json).toMatchObject({
      parent_id: null,
      parent_iid: null,
      _links: { parent: null },
    })
    expect(await childIds(guest, child.at)).toEqual([])
    expect(await childIds(world.root, child.at)).toEqual([grandchild.id])
    expect((await guest.get(`${child.at}/notes`)).json).toEqual([])
  })
})
