import { describe, expect } from 'vitest'
import { endGroupAccess, endMemberships } from '../../../../test/tables/access.ts'
import { changeGroup } from '../../../../test/tables/groups.ts'
import { changeStatistics } from '../../../../test/tables/projects.ts'
import { addCustomAttribute } from '../../../../test/tables/users.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'

const ids = async (who: Client, path: string): Promise<number[]> => {
  const found = await who.get(path)
  expect(found.status, found.text).toBe(200)
  return found.json.map(({ id }: { id: number }) => id)
}

/** Groups with a unique word in the name: one with ann as a member, a public, an internal and a private one. */
async function some(world: World) {
  const word = unique('word').replaceAll('-', '')
  const ann = await world.user()
  const make = (name: string, more: object = {}) => world.group({ name, path: name, ...more })
  const mine = await make(`${word}-d`, { members: [[ann, 'developer']] })
  const open = await make(`${word}-c`, { visibility: 'public' })
  const internal = await make(`${word}-b`, { visibility: 'internal' })
  const hidden = await make(`${word}-a`)
  const list = (who: Client, query = '') => ids(who, `/groups?search=${word}&${query}`)
  return { word, ann, mine, open, internal, hidden, list }
}

describe('GET /groups', () => {
  test('D2-GROUPS-ALL-AVAILABLE D2-GROUPS-ANON: own groups, all for administrators, public ones', async ({ world }) => {
    const { ann, mine, open, internal, hidden, list } = await some(world)
    expect(await list(ann)).toEqual([mine.id])
    expect(await list(ann, 'all_available=true')).toEqual([internal.id, open.id, mine.id])
    expect(await list(world.root)).toEqual([hidden.id, internal.id, open.id, mine.id])
    expect(await list(world.anonymous)).toEqual([open.id])
    expect(await list(await world.user({ external: true }), 'all_available=true')).toEqual([open.id])
    // Root created all of them and so owns all.
    expect(await list(world.root, 'all_available=false')).toHaveLength(4)
  })

  test('own groups include subgroups, ancestors, and groups of own projects', async ({ world }) => {
    const word = unique('word').replaceAll('-', '')
    const [ann, bob] = [await world.user(), await world.user()]
    const make = (name: string, more: object) =>
      world.group({ name: `${word}${name}`, path: `${word}${name}`, visibility: 'public', ...more })
    const top = await make('1', {})
    const sub = await make('2', { parent: top, members: [[ann, 'guest']] })
    const leaf = await make('3', { parent: sub })
    await make('4', { parent: top })
    await world.project({ group: leaf, members: [[bob, 'guest']] })
    for (const who of [ann, bob]) expect(await ids(who, `/groups?search=${word}`)).toEqual([top.id, sub.id, leaf.id])
  })

  test('D2-GROUPS-OWNED: owned=true lists direct ownership and overrides all_available', async ({ world }) => {
    const { ann, mine, word, list } = await some(world)
    expect(await list(ann, 'owned=true&all_available=true')).toEqual([])
    await world.root.put(`/groups/${mine.id}/members/${ann.id}`, { access_level: 50 })
    const inner = await world.group({ parent: mine, name: `${word}-z`, path: `${word}-z` })
    expect(await list(ann, 'owned=true&all_available=true')).toEqual([mine.id])
    expect(await list(ann)).toEqual([mine.id, inner.id])
    expect(await list(world.anonymous, 'owned=true')).toEqual([])
  })

  test('lists have no personal namespaces and no groups that are being deleted', async ({ world }) => {
    const { mine, word, ann } = await some(world)
    expect(await ids(world.root, `/groups?search=${ann.username}`)).toEqual([])
    expect(await ids(ann, '/groups?all_available=true&per_page=100&order_by=id&sort=desc')).toContain(mine.id)
    await changeGroup(world, mine.id, { deleting: true })
    expect(await ids(ann, `/groups?search=${word}`)).toEqual([])
    expect(await ids(ann, `/groups?search=${word}&min_access_level=10`)).toEqual([])
  })

  test('own groups do not include a hidden group above a group without projects', async ({ world }) => {
    const word = unique('word').replaceAll('-', '')
    const ann = await world.user()
    const hidden = await world.group({ name: `${word}1`, path: `${word}1` })
    const mine = await world.group({ parent: hidden, name: `${word}2`, path: `${word}2`, members: [[ann, 'guest']] })
    expect(await ids(ann, `/groups?search=${word}`)).toEqual([mine.id])
    expect((await ann.get(`/groups/${hidden.id}`)).status).toBe(404)
    await world.project({ group: mine })
    expect(await ids(ann, `/groups?search=${word}`)).toEqual([hidden.id, mine.id])
  })

  test('a membership that ended today counts for no list of groups', async ({ world }) => {
    const { ann, mine, open, word } = await some(world)
    const path = `/groups/${mine.id}/members/${ann.id}`
    await world.root.put(path, { access_level: 50, expires_at: '2099-01-01' })
    await world.root.post(`/groups/${open.id}/members`, { user_id: ann.id, access_level: 30, expires_at: '2099-01-01' })
    const lists = async () => {
      const of = (query: string) => ids(ann, `/groups?search=${word}&${query}`)
      return [await of('owned=true'), await of('min_access_level=10'), await of('')]
    }
    expect(await lists()).toEqual([[mine.id], [open.id, mine.id], [open.id, mine.id]])
    // Midnight passes before the job that removes expired memberships.
    await endMemberships(world, ann.id)
    await endGroupAccess(world, ann.id)
    expect(await lists()).toEqual([[], [], []])
  })

  test('min_access_level includes inherited roles and overrides all_available', async ({ world }) => {
    const { ann, mine, word, list } = await some(world)
    const inner = await world.group({ parent: mine, name: `${word}-z`, path: `${word}-z` })
    expect(await list(ann, 'min_access_level=30&all_available=true')).toEqual([mine.id, inner.id])
    expect(await list(ann, 'min_access_level=40')).toEqual([])
    expect(await list(world.anonymous, 'min_access_level=10')).toEqual([])
    expect(await ann.get('/groups?min_access_level=35')).toMatchObject({
      status: 400,
      json: { error: 'min_access_level does not have a valid value' },
    })
  })

  test('groups can be sorted, with equal names by id', async ({ world }) => {
    const { mine, open, internal, hidden, list } = await some(world)
    const byAge = [mine.id, open.id, internal.id, hidden.id]
    const byName = [...byAge].reverse()
    expect(await list(world.root, 'sort=desc')).toEqual(byAge)
    expect(await list(world.root, 'order_by=path')).toEqual(byName)
    expect(await list(world.root, 'order_by=id')).toEqual(byAge)
    expect(await list(world.root, 'order_by=id&sort=desc')).toEqual(byName)
    await changeGroup(world, byAge, { name: unique('Same') })
    expect(await list(world.root, 'order_by=name')).toEqual(byAge)
    expect(await list(world.root, 'order_by=name&sort=desc')).toEqual(byAge)
    expect(await world.root.get('/groups?order_by=created_at')).toMatchObject({
      status: 400,
      json: { error: 'order_by does not have a valid value' },
    })
  })

  test('top_level_only lists groups without a parent', async ({ world }) => {
    const word = unique('word').replaceAll('-', '')
    const top = await world.group({ name: word })
    const below = await world.group({ parent: top, name: `${word}-below` })
    const list = (query: string) => ids(world.root, `/groups?search=${word}&${query}`)
    expect(await list('top_level_only=true')).toEqual([top.id])
    expect(await list('top_level_only=false')).toEqual([top.id, below.id])
    expect(await ids(world.root, '/groups?top_level_only=true&per_page=100')).not.toContain(below.id)
  })

  test('skip_groups excludes any number of groups', async ({ world }) => {
    const { mine, open, internal, hidden, word, list } = await some(world)
    expect(await list(world.root, `skip_groups[]=${mine.id}&skip_groups[]=${open.id}`)).toEqual([
      hidden.id,
      internal.id,
    ])
    // As Go clients send it.
    for (const ids of [`${mine.id},${open.id}`, `${mine.id}%2C%20${open.id},`])
      expect(await list(world.root, `skip_groups=${ids}`)).toEqual(
        await list(world.root, `skip_groups[]=${mine.id}&skip_groups[]=${open.id}`),
      )
    expect(await list(world.root, `skip_groups=${mine.id}`)).toHaveLength(3)
    expect(await list(world.root, 'skip_groups[]=')).toHaveLength(4)
    const many = { search: word, skip_groups: [hidden.id, ...Array.from({ length: 5000 }, (_, n) => 10_000_000 + n)] }
    const found = await world.root.send('GET', '/groups', { json: many })
    expect(found.json.map(({ id }: { id: number }) => id)).toEqual([internal.id, open.id, mine.id])
    expect(await world.root.get('/groups?skip_groups[]=x')).toMatchObject({
      status: 400,
      json: { error: 'skip_groups is invalid' },
    })
  })

  test('group search matches every word in name or path, short texts exactly', async ({ world }) => {
    const word = unique('word').replaceAll('-', '')
    const group = await world.group({ name: `${word} Alpha (x)`, path: `p_${word}` })
    const short = await world.group({ name: 'Q7', path: unique('short') })
    const search = (text: string) => ids(world.root, `/groups?search=${encodeURIComponent(text)}`)
    expect(await search(`ALPHA   ${word}`)).toEqual([group.id])
    expect(await search(`${word} beta`)).toEqual([])
    expect(await search(`"${word} Al"`)).toEqual([group.id])
    expect(await search(`"Alpha ${word}"`)).toEqual([])
    expect(await search(`p_${word}`)).toEqual([group.id])
    expect(await search(`pX${word}`)).toEqual([])
    expect(await search('q7')).toEqual([short.id])
    expect(await search(`${word} x`)).toEqual([group.id])
    expect(await search('7')).toEqual([])
  })

  test('D2-GROUP-STATISTICS D2-GROUPS-ADMIN-PARAMS: statistics are for administrators', async ({ world }) => {
    const { ann, mine, word } = await some(world)
    const inner = await world.group({ parent: mine })
    for (const group of [mine, inner]) {
      const project = await world.project({ group })
      await changeStatistics(world, project.id, {
        repository_size: 1,
        wiki_size: 2,
        snippets_size: 6,
        lfs_objects_size: 3,
        job_artifacts_size: 4,
        packages_size: 5,
      })
    }
    const of = async (who: Client, query: string) =>
      (await who.get(`/groups?search=${word}-d&${query}`)).json.map((each: { statistics: unknown }) => each.statistics)
    expect(await of(world.root, 'statistics=true')).toEqual([
      {
        storage_size: 42,
        repository_size: 2,
        wiki_size: 4,
        snippets_size: 12,
        lfs_objects_size: 6,
        job_artifacts_size: 8,
        packages_size: 10,
      },
    ])
    expect(await of(world.root, '')).toEqual([undefined])
    expect(await of(ann, 'statistics=true')).toEqual([undefined])
  })

  test('D2-CUSTOM-ATTRIBUTES: administrators filter groups by custom attributes and see them', async ({ world }) => {
    const { ann, mine, open, list, word } = await some(world)
    for (const { id } of [mine, open]) {
      await addCustomAttribute(world, { group: id }, 'team', 'blue')
      await addCustomAttribute(world, { group: id }, 'room', String(id))
    }
    expect(await list(world.root, 'custom_attributes[team]=blue')).toEqual([open.id, mine.id])
    expect(await list(world.root, `custom_attributes[team]=blue&custom_attributes[room]=${mine.id}`)).toEqual([mine.id])
    expect(await list(world.root, 'custom_attributes[team]=red')).toEqual([])
    expect(await list(ann, 'custom_attributes[team]=red')).toEqual([mine.id])
    const [shown] = (await world.root.get(`/groups?search=${word}-c&with_custom_attributes=true`)).json
    expect(shown.custom_attributes).toHaveLength(2)
    const [plain] = (await ann.get(`/groups?search=${word}-d&with_custom_attributes=true`)).json
    expect(plain).not.toHaveProperty('custom_attributes')
  })

  test('lists of groups have pages', async ({ world }) => {
    const { mine, word } = await some(world)
    const last = await world.root.get(`/groups?search=${word}&per_page=3&page=2`)
    expect(last.json).toMatchObject([{ id: mine.id }])
    expect(last.headers).toMatchObject({ 'x-total': '4', 'x-total-pages': '2', 'x-next-page': '', 'x-prev-page': '1' })
  })
})

describe('GET /groups/:id/subgroups', () => {
  test('D2-SUBGROUPS-DIRECT: lists direct subgroups only, with the filters of groups', async ({ world }) => {
    const [ann, stranger] = [await world.user(), await world.user()]
    const top = await world.group({ visibility: 'public', members: [[ann, 'guest']] })
    const open = await world.group({ parent: top, visibility: 'public' })
    const hidden = await world.group({ parent: top })
    await world.group({ parent: open, visibility: 'public' })
    const path = `/groups/${top.id}/subgroups`
    expect(await ids(ann, path)).toEqual([open.id, hidden.id])
    expect(await ids(world.root, path)).toEqual([open.id, hidden.id])
    expect(await ids(world.anonymous, path)).toEqual([open.id])
    // D2-GROUPS-ALL-AVAILABLE: without all_available, only the caller's groups.
    expect(await ids(stranger, path)).toEqual([])
    expect(await ids(stranger, `${path}?all_available=true`)).toEqual([open.id])
    expect(await ids(ann, `${path}?owned=true`)).toEqual([])
    expect(await ids(ann, `${path}?skip_groups[]=${open.id}`)).toEqual([hidden.id])
    expect(await ids(world.root, `${path}?order_by=id&sort=desc`)).toEqual([hidden.id, open.id])
    const secret = await world.group()
    expect(await stranger.get(`/groups/${secret.id}/subgroups`)).toMatchObject({
      status: 404,
      json: { message: '404 Group Not Found' },
    })
  })
})
