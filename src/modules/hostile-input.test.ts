import { describe, expect } from 'vitest'
import { type Client, test, unique } from '../../test/world.ts'

const ids = [
  '0',
  '-1',
  '1.5',
  '1e9',
  '2147483648',
  '9007199254740993',
  '9'.repeat(30),
  '%00',
  '%20',
  '..',
  '%2E%2E%2F',
  "';--",
  '%F0%9F%A6%8A',
  '%FF',
]
const paths = (id: string): string[] => [
  `/projects/${id}`,
  `/groups/${id}`,
  `/groups/${id}/subgroups`,
  `/groups/${id}/projects`,
  `/users/${id}`,
  `/users/${id}/projects`,
  `/namespaces/${id}`,
  `/personal_access_tokens/${id}`,
  `/projects/${id}/members`,
  `/projects/${id}/members/all/${id}`,
  `/groups/${id}/members/${id}`,
  `/projects/user/${id}`,
  `/users/${id}/personal_access_tokens`,
]

/** Values that no parameter expects. */
const values = [null, '', '\0', '\ud800', 'x'.repeat(5000), -1, 9007199254740992, [], {}, [null], { a: { b: 1 } }]

async function neverBreaks(who: Client, method: string, path: string, body?: unknown) {
  const answer = await who.send(method, path, body === undefined ? {} : { json: body })
  expect(answer.status, `${method} ${path} ${JSON.stringify(body)?.slice(0, 200)} ${answer.text}`).toBeLessThan(500)
}

describe('hostile input', () => {
  test.for(ids)('the id %s causes no 500', async (id, { world }) => {
    for (const path of paths(id))
      for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
        await neverBreaks(world.root, method, path, method === 'GET' ? undefined : {})
  })

  test('names and notes on which a backtracking expression would not end are answered', async ({ world }) => {
    const project = await world.project()
    const issue = (await world.root.post(`/projects/${project.id}/issues`, { title: 'x' })).json
    const name = `a${'\ufe0f'.repeat(100)}<`
    const errors = { status: 400, json: { message: { name: expect.anything() } } }
    expect(await world.root.post('/projects', { name, path: unique('p') })).toMatchObject(errors)
    expect(await world.root.post('/groups', { name, path: unique('g') })).toMatchObject({ status: 400 })
    const body = `/title ${'\t'.repeat(500_000)}\u2028`
    expect(await world.root.post(`/projects/${project.id}/issues/${issue.iid}/notes`, { body })).toMatchObject({
      status: expect.toSatisfy((status) => status < 500),
    })
  })

  test('unexpected values of any parameter cause no 500', async ({ world }) => {
    const group = await world.group()
    const project = await world.project({ group })
    const attributes = [
      ...Object.keys((await world.root.get(`/projects/${project.id}`)).json),
      ...[
        'namespace_id',
        'parent_id',
        'user_id',
        'access_level',
        'expires_at',
        'name',
        'path',
        'email',
        'username',
        'scopes',
      ],
    ]
    const one = unique('odd')
    const base = { name: one, path: one, user_id: 2147483647, access_level: 10, username: one, email: `${one}@x.y` }
    for (const name of new Set(attributes))
      await Promise.all(
        values.flatMap((value) => [
          neverBreaks(world.root, 'PUT', `/projects/${project.id}`, { [name]: value }),
          neverBreaks(world.root, 'PUT', `/groups/${group.id}`, { [name]: value }),
        ]),
      )
    for (const name of [
      'name',
      'path',
      'description',
      'parent_id',
      'namespace_id',
      'visibility',
      'tag_list',
      'scopes',
      'username',
      'email',
      'password',
      'user_id',
      'access_level',
      'expires_at',
      'extern_uid',
      'bio',
    ])
      for (const value of values)
        await Promise.all(
          ['/groups', '/projects', '/users', `/groups/${group.id}/members`, '/users/1/personal_access_tokens'].map(
            (path) => neverBreaks(world.root, 'POST', path, { ...base, [name]: value }),
          ),
        )
  })

  test('unexpected values of any filter cause no 500', async ({ world }) => {
    const group = await world.group()
    const texts = ['', '%00', '%FF', '9'.repeat(20), "'", '"', '%5C', '%F0%9F%A6%8A', 'a'.repeat(3000)]
    const names = [
      'search',
      'order_by',
      'page',
      'per_page',
      'id_after',
      'min_access_level',
      'skip_groups[]',
      'custom_attributes[x]',
      'username',
      'extern_uid',
      'created_after',
      'query',
      'user_ids[]',
      'pagination',
      'with_programming_language',
      'visibility',
    ]
    const lists = [
      '/projects',
      '/groups',
      '/users',
      '/namespaces',
      '/personal_access_tokens',
      `/groups/${group.id}/projects`,
      `/groups/${group.id}/subgroups`,
      `/groups/${group.id}/members/all`,
      '/users/1/projects',
    ]
    for (const path of lists)
      await Promise.all(
        names.flatMap((name) => texts.map((text) => neverBreaks(world.root, 'GET', `${path}?${name}=${text}`))),
      )
  })

  test('a huge search or filter returns an empty list or names the limit', async ({ world }) => {
    const search = Array.from({ length: 40_000 }, (_, index) => `word${index}`).join(' ')
    const custom_attributes = Object.fromEntries(search.split(' ').map((key) => [key, 'value']))
    for (const path of ['/projects', '/groups', '/users']) {
      expect(await world.root.get(path, { json: { search } }), path).toMatchObject({ status: 200, json: [] })
      expect(await world.root.get(path, { json: { custom_attributes } }), path).toMatchObject({
        status: 400,
        json: { error: 'custom_attributes does not have a valid value' },
      })
    }
    const project = await world.project()
    for (const list of [
      `members?query=`,
      `members/all?query=`,
      `users?search=`,
      `starrers?search=`,
      `groups?search=`,
    ]) {
      const [path, name = ''] = `/projects/${project.id}/${list.slice(0, -1)}`.split('?')
      expect(await world.root.get(path!, { json: { [name]: search } }), list).toMatchObject({ status: 200, json: [] })
    }
  })

  test('a search of many words requires every word', async ({ world }) => {
    const words = Array.from({ length: 20 }, (_, index) => `${String.fromCharCode(97 + index)}${index}zz`)
    const { id } = await world.project({ description: words.join(' ') })
    const found = async (text: string) => (await world.root.get('/projects', { json: { search: text } })).json
    expect(await found(words.toReversed().join(' '))).toMatchObject([{ id }])
    expect(await found([...words, 'zzz9'].join(' '))).toEqual([])
  })
})
