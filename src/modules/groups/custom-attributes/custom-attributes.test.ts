import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { test, type World } from '../../../../test/world.ts'

const kinds = ['users', 'groups', 'projects'] as const

async function holderOf(world: World, kind: (typeof kinds)[number]) {
  const made = kind === 'users' ? await world.user() : kind === 'groups' ? await world.group() : await world.project()
  return `/${kind}/${made.id}/custom_attributes`
}

describe.for(kinds)('custom attributes of %s', (kind) => {
  test('custom attributes are set, replaced, listed, read and deleted', async ({ world }) => {
    const attributes = await holderOf(world, kind)
    expect((await world.root.get(attributes)).json).toEqual([])
    expect(await world.root.put(`${attributes}/department`, { value: 'sales' })).toMatchObject({
      status: 200,
      json: { key: 'department', value: 'sales' },
    })
    await world.root.put(`${attributes}/department`, { value: 'research' })
    await world.root.put(`${attributes}/a%2Fb.c`, { value: '2' })
    const both = [
      { key: 'department', value: 'research' },
      { key: 'a/b.c', value: '2' },
    ]
    expect((await world.root.get(attributes)).json).toEqual(both)
    expect((await world.root.get(`${attributes}/department`)).json).toEqual(both[0])
    const record = attributes.replace('/custom_attributes', '?with_custom_attributes=true')
    expect((await world.root.get(record)).json.custom_attributes).toEqual(both)
    expect(await world.root.delete(`${attributes}/department`)).toMatchObject({ status: 204, text: '' })
    const gone = { status: 404, json: { message: '404 Not found' } }
    expect(await world.root.get(`${attributes}/department`)).toMatchObject(gone)
    expect(await world.root.delete(`${attributes}/department`)).toMatchObject(gone)
  })

  test('a list filtered by eight custom attributes has what has all of them', async ({ world }) => {
    const attributes = await holderOf(world, kind)
    const pairs = Array.from({ length: 8 }, (_, n) => [`key ${n}`, `${attributes} ${n}`] as const)
    for (const [key, value] of pairs)
      expect((await world.root.put(`${attributes}/${encodeURIComponent(key)}`, { value })).status).toBe(200)
    const found = async (of: readonly (readonly [string, string])[]) => {
      const query = new URLSearchParams(
        of.map(([key, value]): [string, string] => [`custom_attributes[${key}]`, value]),
      )
      return (await world.root.get(`/${kind}?${query}`)).json.map(({ id }: { id: number }) => id)
    }
    const own = [Number(attributes.split('/')[2])]
    expect(await found(pairs)).toEqual(own)
    expect(await found(pairs.slice(0, 6))).toEqual(own)
    for (const at of [0, 5, 7])
      expect(await found(pairs.map((pair, n) => (n === at ? [pair[0], pairs[1]![1]] : pair)))).toEqual([])
    expect(await found([...pairs, ['none', 'x']])).toEqual([])
  })

  test('400 for a custom attribute without a value or with an invalid key', async ({ world }) => {
    const attributes = await holderOf(world, kind)
    for (const [key, body, json] of [
      ['k', {}, { error: 'value is missing' }],
      ['k', { value: ' ' }, { message: { value: ["can't be blank"] } }],
      ['%20', { value: 'v' }, { message: { key: ["can't be blank"] } }],
      ['k'.repeat(256), { value: 'v' }, { message: { key: ['is too long (maximum is 255 characters)'] } }],
    ] as const)
      expect(await world.root.put(`${attributes}/${key}`, body)).toMatchObject({ status: 400, json })
    expect((await world.root.put(`${attributes}/${'k'.repeat(255)}`, { value: 'v' })).status).toBe(200)
  })

  test('403 for custom attributes unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    const made =
      kind === 'users'
        ? ann
        : kind === 'groups'
          ? await world.group({ visibility: 'public' }, ann)
          : await world.project({ visibility: 'public', group: await world.group({ visibility: 'public' }, ann) })
    const attributes = `/${kind}/${made.id}/custom_attributes`
    for (const [who, status] of [
      [world.anonymous, 401],
      [await world.user(), 403],
      [ann, 403],
    ] as const) {
      expect((await who.get(attributes)).status).toBe(status)
      expect((await who.get(`${attributes}/k`)).status).toBe(status)
      expect((await who.put(`${attributes}/k`, { value: 'v' })).status).toBe(status)
      expect((await who.delete(`${attributes}/k`)).status).toBe(status)
    }
    expect((await world.root.get(`/${kind}/999999999/custom_attributes`)).status).toBe(404)
  })

  test('setting a custom attribute emits an event with its key', async ({ world }) => {
    const attributes = await holderOf(world, kind)
    await world.root.put(`${attributes}/color`, { value: 'v' })
    const [, , id] = attributes.split('/')
    const place = {
      users: { payload: { user_id: id! } },
      groups: { group: Number(id) },
      projects: { project: Number(id) },
    }
    const events = await eventsOf(world, { kind: 'custom_attribute_set', ...place[kind] }, 'payload')
    expect(events.map(({ payload }) => payload.key)).toEqual(['color'])
  })
})
