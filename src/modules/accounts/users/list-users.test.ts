import { describe, expect } from 'vitest'
import { addCustomAttribute, changeUser, confirmEmail } from '../../../../test/tables/users.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'

const names = async (who: Client, query: string): Promise<string[]> => {
  const found = await who.get(`/users?per_page=100&${query}`)
  expect(found.status, found.text).toBe(200)
  return found.json.map(({ username }: { username: string }) => username)
}

/** Three users who share a word in their names. */
async function three(world: World) {
  const word = unique('word').replaceAll('-', '')
  const make = (prefix: string, name: string, more = {}) =>
    world.user({ username: `${prefix}${word}`, name, email: `${prefix}.${word}@example.com`, ...more })
  const ann = await make('a', `${word} Ann`)
  const bob = await make('b', `Bob`)
  const cid = await make('c', `Cid ${word}`)
  return { word, ann, bob, cid }
}

describe('GET /users', () => {
  test('GET /users returns short records, and full ones for administrators', async ({ world }) => {
    const ann = await world.user()
    const [short] = (await ann.get(`/users?username=${ann.username}`)).json
    expect(Object.keys(short).sort()).toEqual(['avatar_url', 'id', 'name', 'state', 'username', 'web_url'])
    expect((await world.root.get(`/users?username=${ann.username}`)).json).toMatchObject([
      { id: ann.id, email: `${ann.username}@example.com`, is_admin: false, identities: [] },
    ])
  })

  test('D3-USERS-SEARCH: search covers names, usernames and the whole e-mail', async ({ world }) => {
    const { word, ann, bob, cid } = await three(world)
    // Exact matches first, then by name.
    expect(await names(ann, `search=${word}`)).toEqual([bob.username, cid.username, ann.username])
    expect(await names(ann, `search=${word}%20cid`)).toEqual([cid.username])
    for (const quoted of [`"cid ${word}"`, ` "cid  ${word}" `, `"cid\t${word}"`])
      expect(await names(ann, `search=${encodeURIComponent(quoted)}`)).toEqual([cid.username])
    expect(await names(ann, `search=B.${word}@EXAMPLE.com`)).toEqual([bob.username])
    expect(await names(ann, `search=b.${word}@exam`)).toEqual([])
    expect(await names(ann, 'search=')).toEqual([])
    expect(await names(ann, 'search=%20')).toEqual([])
    expect(await names(ann, 'search=%25%25%25')).toEqual([])
    expect(await names(ann, `search=${bob.username}`)).toEqual([bob.username])
  })

  test('a user search covers confirmed secondary e-mails', async ({ world }) => {
    const { word, ann } = await three(world)
    const address = `further.${word}@example.com`
    const { id } = (await ann.post('/user/emails', { email: address })).json
    expect(await names(ann, `search=${address}`)).toEqual([])
    await confirmEmail(world, { id: id })
    for (const who of [ann, world.root])
      expect(await names(who, `search=${address.toUpperCase()}`)).toEqual([ann.username])
  })

  test('a user search by an administrator returns the newest first', async ({ world }) => {
    const { word, ann, bob, cid } = await three(world)
    expect(await names(world.root, `search=${word}`)).toEqual([cid.username, bob.username, ann.username])
    expect(await names(world.root, `search=${word}&order_by=name&sort=asc`)).toEqual([
      ...(word < 'bob' ? [ann.username, bob.username, cid.username] : [bob.username, cid.username, ann.username]),
    ])
  })

  test('D3-USERS-SEARCH: the username filter is exact, in any case', async ({ world }) => {
    const { word, ann } = await three(world)
    expect(await names(ann, `username=A${word.toUpperCase()}`)).toEqual([ann.username])
    expect(await names(ann, `username=${word}`)).toEqual([])
  })

  test('D3-USER-STATES D3-USERS-TRUE-ONLY: active and blocked filter users, false does not', async ({ world }) => {
    const { word, ann, bob, cid } = await three(world)
    await changeUser(world, bob.id, { state: 'blocked' })
    await changeUser(world, cid.id, { state: 'ldap_blocked' })
    expect(await names(ann, `search=${word}&active=true`)).toEqual([ann.username])
    expect(await names(ann, `search=${word}&blocked=true`)).toEqual([bob.username, cid.username])
    expect(await names(ann, `search=${word}&blocked=false&active=false`)).toHaveLength(3)
    expect((await ann.get(`/users?username=${cid.username}`)).json[0].state).toBe('ldap_blocked')
  })

  test('D3-USERS-EXTERN: administrators filter by extern_uid together with provider', async ({ world }) => {
    const uid = unique('uid')
    const ann = await world.user({ extern_uid: uid, provider: 'ldap' })
    expect(await names(world.root, `extern_uid=${uid.toUpperCase()}&provider=ldap`)).toEqual([ann.username])
    expect(await names(world.root, `extern_uid=${uid}&provider=saml`)).toEqual([])
    for (const query of [`extern_uid=${uid}`, 'provider=ldap'])
      expect(await world.root.get(`/users?${query}`)).toMatchObject({
        status: 400,
        json: { error: 'extern_uid, provider provide all or none of parameters' },
      })
    expect(await ann.get(`/users?extern_uid=${uid}&provider=ldap`)).toMatchObject({
      status: 403,
      json: { message: '403 Forbidden' },
    })
  })

  test('403 for external=true unless the caller is an administrator; external=false is ignored', async ({ world }) => {
    const ann = await world.user({ external: true })
    expect(await names(world.root, `external=true&username=${ann.username}`)).toEqual([ann.username])
    expect(await names(world.root, 'external=true&username=root')).toEqual([])
    expect(await names(world.root, 'external=false&username=root')).toEqual(['root'])
    expect((await ann.get('/users?external=true')).status).toBe(403)
    expect((await ann.get('/users?external=false&username=root')).json).toHaveLength(1)
    expect((await world.anonymous.get('/users?external=true&username=root')).status).toBe(401)
  })

  test('D3-USERS-ADMIN-PARAMS: order_by, sort and two_factor work for administrators only', async ({ world }) => {
    const { word, ann, bob, cid } = await three(world)
    const people = `search=${word}`
    expect(await names(world.root, `${people}&order_by=username&sort=asc`)).toEqual(
      [ann, bob, cid].map((u) => u.username),
    )
    expect(await names(world.root, `${people}&order_by=username`)).toEqual([cid, bob, ann].map((u) => u.username))
    expect(await names(world.root, `${people}&order_by=id&sort=asc`)).toEqual([ann, bob, cid].map((u) => u.username))
    for (const order_by of ['name', 'created_at', 'updated_at'])
      expect(await names(world.root, `${people}&order_by=${order_by}`)).toHaveLength(3)
    expect(await names(world.root, `${people}&two_factor=enabled`)).toEqual([])
    expect(await names(world.root, `${people}&two_factor=disabled`)).toHaveLength(3)
    expect(await names(ann, `${people}&order_by=username&sort=asc&two_factor=enabled`)).toEqual(
      await names(ann, people),
    )
    for (const [query, error] of [
      ['order_by=email', 'order_by does not have a valid value'],
      ['sort=up', 'sort does not have a valid value'],
      ['two_factor=maybe', 'two_factor does not have a valid value'],
      ['created_after=soon', 'created_after is invalid'],
      ['active=perhaps', 'active is invalid'],
    ])
      expect(await world.root.get(`/users?${query}`)).toMatchObject({ status: 400, json: { error } })
  })

  test('date filters apply to users whose dates the caller can see', async ({ world }) => {
    const { word, ann, bob, cid } = await three(world)
    await changeUser(world, [ann.id, bob.id], { created_at: '2019-01-01' })
    await world.root.put(`/users/${bob.id}`, { private_profile: true })
    const found = async (who: Client, query: string) => (await names(who, `search=${word}&${query}`)).sort()
    const sorted = (...people: Client[]) => people.map(({ username }) => username).sort()
    for (const who of [world.root, bob]) {
      expect(await found(who, 'created_before=2020-01-01')).toEqual(sorted(ann, bob))
      expect(await found(who, 'created_after=2020-01-01T00:00:00Z')).toEqual(sorted(cid))
    }
    expect(await found(cid, 'created_before=2020-01-01')).toEqual(sorted(ann))
    expect(await names(world.anonymous, `username=${ann.username}&created_after=2020-01-01`)).toEqual([])
    expect(await names(world.anonymous, `username=${bob.username}&created_before=2020-01-01`)).toEqual([])
  })

  test('D2-CUSTOM-ATTRIBUTES: administrators filter users by custom attributes and see them', async ({ world }) => {
    const { word, ann, bob } = await three(world)
    for (const { id } of [ann, bob]) await addCustomAttribute(world, { user: id }, 'team', `${id}`)
    const query = `search=${word}&custom_attributes[team]=${ann.id}&with_custom_attributes=true`
    expect((await world.root.get(`/users?${query}`)).json).toMatchObject([
      { id: ann.id, custom_attributes: [{ key: 'team', value: `${ann.id}` }] },
    ])
    const seen = (await ann.get(`/users?${query}`)).json
    expect(seen).toHaveLength(3)
    expect(seen[0]).not.toHaveProperty('custom_attributes')
  })

  test('403 for anonymous GET /users without a username', async ({ world }) => {
    const ann = await world.user()
    expect(await world.anonymous.get('/users')).toMatchObject({
      status: 403,
      json: { message: '403 Forbidden - Not authorized to access /api/v4/users' },
    })
    expect((await world.anonymous.get(`/users?search=${ann.username}`)).status).toBe(403)
    expect(await names(world.anonymous, `username=${ann.username}`)).toEqual([ann.username])
  })

  test('pages of users have no gaps or repetitions, newest first', async ({ world }) => {
    await three(world)
    const page = async (number: number) => await world.root.get(`/users?per_page=2&page=${number}`)
    const first = await page(1)
    const ids = [...first.json, ...(await page(2)).json].map(({ id }: { id: number }) => id)
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a))
    expect(first.headers).toMatchObject({ 'x-page': '1', 'x-per-page': '2', 'x-next-page': '2', 'x-prev-page': '' })
  })
})
