import { describe, expect } from 'vitest'
import { addLanguage, addStar, changeProject } from '../../../../test/tables/projects.ts'
import { addCustomAttribute } from '../../../../test/tables/users.ts'
import { type Client, type TestProject, test, unique, type World } from '../../../../test/world.ts'
import { fuzzy } from '../../../db/fuzzy.ts'

const ids = async (who: Client, path: string): Promise<number[]> => {
  const found = await who.get(path)
  expect(found.status, found.text).toBe(200)
  return found.json.map(({ id }: { id: number }) => id)
}

/** Projects with a unique word in the path; the newest last. */
async function some(world: World) {
  const word = unique('word').replaceAll('-', '')
  const ann = await world.user()
  const group = await world.group({ visibility: 'public' })
  const make = (name: string, more: object = {}): Promise<TestProject> =>
    world.project({ group, name: `${word}-${name}`, path: `${word}-${name}`, ...more })
  const mine = await make('d', { members: [[ann, 'developer']] })
  const open = await make('c', { visibility: 'public' })
  const internal = await make('b', { visibility: 'internal' })
  const hidden = await make('a')
  const list = (who: Client, query = '') => ids(who, `/projects?search=${word}&${query}`)
  return { word, ann, group, mine, open, internal, hidden, list, make }
}

describe('GET /projects', () => {
  test('D2-PROJECTS-ANON: GET /projects lists the projects that the caller can see', async ({ world }) => {
    const { ann, mine, open, internal, hidden, list } = await some(world)
    expect(await list(world.root)).toEqual([hidden.id, internal.id, open.id, mine.id])
    expect(await list(ann)).toEqual([internal.id, open.id, mine.id])
    expect(await list(await world.user())).toEqual([internal.id, open.id])
    expect(await list(await world.user({ external: true }))).toEqual([open.id])
    expect(await list(world.anonymous)).toEqual([open.id])
  })

  test('D2-PROJECT-SIMPLE: simple records with simple=true and for anonymous callers', async ({ world }) => {
    const { ann, word } = await some(world)
    const simple = [
      'avatar_url',
      'created_at',
      'default_branch',
      'description',
      'forks_count',
      'http_url_to_repo',
      'id',
      'last_activity_at',
      'name',
      'name_with_namespace',
      'path',
      'path_with_namespace',
      'readme_url',
      'ssh_url_to_repo',
      'star_count',
      'tag_list',
      'topics',
      'web_url',
    ]
    const fields = async (who: Client, query: string) =>
      Object.keys((await who.get(`/projects?search=${word}-c&${query}`)).json[0]).sort()
    expect(await fields(ann, 'simple=true')).toEqual(simple)
    // Anonymous callers always get simple records.
    expect(await fields(world.anonymous, 'simple=false')).toEqual(simple)
    const [full] = (await ann.get(`/projects?search=${word}-c`)).json
    expect(full).toMatchObject({ visibility: 'public', permissions: {}, _links: {}, namespace: {} })
  })

  test('projects are sorted by order_by and sort, ties newest first', async ({ world }) => {
    const { mine, open, internal, hidden, list } = await some(world)
    const newest = [hidden, internal, open, mine].map(({ id }) => id)
    const oldest = [...newest].reverse()
    expect(await list(world.root, 'sort=asc')).toEqual(oldest)
    expect(await list(world.root, 'order_by=name')).toEqual(oldest)
    expect(await list(world.root, 'order_by=path&sort=asc')).toEqual(newest)
    expect(await list(world.root, 'order_by=id&sort=asc')).toEqual(oldest)
    await changeProject(world, hidden.id, { updated_at: '2020-01-01', last_activity_at: '2020-01-01' })
    expect((await list(world.root, 'order_by=updated_at')).at(-1)).toBe(hidden.id)
    expect((await list(world.root, 'order_by=last_activity_at&sort=asc'))[0]).toBe(hidden.id)
    await changeProject(world, newest, { created_at: '2020-01-01' })
    expect(await list(world.root)).toEqual(newest)
    expect(await list(world.root, 'sort=asc')).toEqual(newest)
    expect(await world.root.get('/projects?order_by=star_count')).toMatchObject({
      status: 400,
      json: { error: 'order_by does not have a valid value' },
    })
  })

  test('archived and visibility filter projects, both kinds by default', async ({ world }) => {
    const { mine, open, internal, hidden, list } = await some(world)
    await world.archive(hidden)
    expect(await list(world.root, 'archived=true')).toEqual([hidden.id])
    expect(await list(world.root, 'archived=false')).toEqual([internal.id, open.id, mine.id])
    expect(await list(world.root, 'visibility=public')).toEqual([open.id])
    expect(await list(world.root, 'visibility=internal')).toEqual([internal.id])
    expect(await list(world.root, 'visibility=private')).toEqual([hidden.id, mine.id])
  })

  test('owned=true lists personal projects and those of owned groups, for administrators too', async ({ world }) => {
    const { ann, word, group, mine, open, list, make } = await some(world)
    expect(await list(ann, 'owned=true')).toEqual([])
    await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 40 })
    expect(await list(ann, 'owned=true'), 'a maintainer is not an owner').toEqual([])
    const personal = (await ann.post('/projects', { name: `${word}-z` })).json.id
    expect(await list(ann, 'owned=true')).toEqual([personal])
    const inner = await make('y', { group: await world.group({ parent: group }) })
    await world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 50 })
    expect(await list(ann, 'owned=true')).toEqual(expect.arrayContaining([personal, mine.id, open.id, inner.id]))
    // Root created the group and so owns it, but not Ann's project.
    expect(await list(world.root, 'owned=true')).not.toContain(personal)
    expect(await list(world.anonymous, 'owned=true')).toEqual([])
  })

  test('membership and min_access_level filter projects by effective access', async ({ world }) => {
    const { ann, group, mine, list } = await some(world)
    expect(await list(ann, 'membership=true')).toEqual([mine.id])
    expect(await list(ann, 'min_access_level=30')).toEqual([mine.id])
    expect(await list(ann, 'min_access_level=40')).toEqual([])
    await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 20 })
    expect(await list(ann, 'membership=true')).toHaveLength(4)
    expect(await list(ann, 'min_access_level=20')).toHaveLength(4)
    expect(await list(ann, 'min_access_level=30')).toEqual([mine.id])
    for (const query of ['membership=true', 'min_access_level=10', 'starred=true'])
      expect(await list(world.anonymous, query)).toEqual([])
    expect(await ann.get('/projects?min_access_level=5')).toMatchObject({
      status: 400,
      json: { error: 'min_access_level does not have a valid value' },
    })
  })

  test('starred=true lists the projects that the caller starred', async ({ world }) => {
    const { ann, open, list } = await some(world)
    await addStar(world, ann.id, open.id)
    expect(await list(ann, 'starred=true')).toEqual([open.id])
    expect(await list(world.root, 'starred=true')).toEqual([])
  })

  test('with_issues_enabled and with_merge_requests_enabled consider access of the caller', async ({ world }) => {
    const word = unique('word').replaceAll('-', '')
    const [guest, reporter] = [await world.user(), await world.user()]
    const make = (name: string, more: object) =>
      world.project({
        visibility: 'public',
        name: `${word}${name}`,
        path: `${word}${name}`,
        members: [
          [guest, 'guest'],
          [reporter, 'reporter'],
        ],
        ...more,
      })
    await make('off', { issues_access_level: 'disabled', merge_requests_access_level: 'disabled' })
    const some = await make('some', { issues_access_level: 'private', merge_requests_access_level: 'private' })
    const all = await make('all', {})
    const list = (who: Client, feature: string) => ids(who, `/projects?search=${word}&with_${feature}_enabled=true`)
    expect(await list(world.root, 'issues')).toEqual([all.id, some.id])
    expect(await list(guest, 'issues')).toEqual([all.id, some.id])
    expect(await list(guest, 'merge_requests')).toEqual([all.id])
    expect(await list(reporter, 'merge_requests')).toEqual([all.id, some.id])
    expect(await list(world.anonymous, 'issues')).toEqual([all.id])
    expect(await list(await world.user(), 'merge_requests')).toEqual([all.id])
  })

  test('with_programming_language matches the whole name, in any case', async ({ world }) => {
    const { open, mine, list } = await some(world)
    await addLanguage(world, open.id, 'TypeScript', 60)
    await addLanguage(world, open.id, 'C', 40)
    await addLanguage(world, mine.id, 'C', 100)
    expect(await list(world.root, 'with_programming_language=typescript')).toEqual([open.id])
    expect(await list(world.root, 'with_programming_language=c')).toEqual([open.id, mine.id])
    expect(await list(world.root, 'with_programming_language=script')).toEqual([])
    expect(await list(world.root, 'with_programming_language=')).toEqual(await list(world.root))
  })

  test('topic lists the projects that have all of the topics, in any case', async ({ world }) => {
    const { mine, open, internal, list } = await some(world)
    const [one, two] = [unique('Topic'), unique('topic')]
    await world.root.put(`/projects/${open.id}`, { topics: [one, two] })
    await world.root.put(`/projects/${mine.id}`, { topics: [one] })
    await world.root.put(`/projects/${internal.id}`, { topics: [`${one}-more`] })
    const topic = (who: Client, names: string, query = '') => ids(who, `/projects?topic=${names}&${query}`)
    expect(await topic(world.root, one)).toEqual([open.id, mine.id])
    expect(await topic(world.root, one.toUpperCase(), 'order_by=id&sort=asc')).toEqual([mine.id, open.id])
    expect(await topic(world.root, `${two},${one}`)).toEqual([open.id])
    expect(await topic(world.anonymous, one)).toEqual([open.id])
    expect(await topic(world.root, one, 'membership=true')).toEqual([open.id, mine.id])
    expect(await topic(world.root, unique('other'))).toEqual([])
    expect(await list(world.root, `topic=${one}`)).toEqual([open.id, mine.id])
    expect(await list(world.root, 'topic=')).toEqual(await list(world.root))
    expect(await world.root.get(`/projects?topic=${one}`)).toMatchObject({ headers: { 'x-total': '2' } })
  })

  test('projects are filtered by the times of their last activity and update, which are included', async ({
    world,
  }) => {
    const { group, mine, open, internal, hidden, list } = await some(world)
    const past = [mine, open, internal, hidden].map(({ id }, index) => ({
      id,
      time: `201${index}-05-05T05:05:05.000Z`,
    }))
    for (const { id, time } of past) await changeProject(world, id, { updated_at: time, last_activity_at: time })
    for (const field of ['updated', 'last_activity'])
      for (const order of ['created_at', 'updated_at', 'last_activity_at'])
        for (const path of ['/projects?', '/projects?membership=true&', `/groups/${group.id}/projects?`]) {
          const found = async (query: string) =>
            (await ids(world.root, `${path}order_by=${order}&${query}`)).filter((id) =>
              past.some((one) => one.id === id),
            )
          const about = `${path}${field}, ${order}`
          expect(await found(`${field}_before=${past[1]!.time}`), about).toEqual([open.id, mine.id])
          expect(await found(`${field}_after=${past[1]!.time}&${field}_before=${past[2]!.time}`), about).toEqual([
            internal.id,
            open.id,
          ])
          const later = `${field}_after=2011-06-01&${field}_before=2014-01-01`
          expect(await found(later), about).toEqual([hidden.id, internal.id])
          expect(await found(`${later}&sort=asc`), about).toHaveLength(2)
        }
    expect(await list(world.root, `updated_after=2011-06-01&last_activity_before=2012-12-31`)).toEqual([internal.id])
    expect(await list(world.anonymous, 'last_activity_before=2014-01-01')).toEqual([open.id])
    expect(await world.root.get('/projects?last_activity_after=today')).toMatchObject({
      status: 400,
      json: { error: 'last_activity_after is invalid' },
    })
  })

  test('D2-PROJECTS-ID-RANGE: id_after and id_before exclude the id itself', async ({ world }) => {
    const { mine, open, internal, hidden, list } = await some(world)
    expect(await list(world.root, `id_after=${open.id}`)).toEqual([hidden.id, internal.id])
    expect(await list(world.root, `id_before=${open.id}`)).toEqual([mine.id])
    expect(await list(world.root, `id_after=${mine.id}&id_before=${hidden.id}`)).toEqual([internal.id, open.id])
  })

  test('a search text longer than any column is empty without a database query', async ({ world }) => {
    const search = 'x'.repeat(7_900_000)
    expect((await world.root.get('/projects', { json: { search } })).json).toEqual([])
    expect(fuzzy(search, ['p.path'])).toMatchObject({ sql: 'false', values: [] })
  })

  test('D2-PROJECTS-SEARCH-USE: search covers path, name and description', async ({ world }) => {
    const word = unique('word').replaceAll('-', '')
    const project = await world.project({
      name: `Alpha ${word}`,
      path: `path_${word}`,
      description: `50% of "Beta" ${word}`,
    })
    const search = (text: string, query = '') =>
      ids(world.root, `/projects?search=${encodeURIComponent(text)}&${query}`)
    for (const text of [`ALPHA ${word}`, `path_${word}`, `beta ${word}`, `50% ${word}`, `"Alpha ${word}"`])
      for (const order of ['id', 'name', 'created_at', 'last_activity_at'])
        expect(await search(text, `order_by=${order}`), text).toEqual([project.id])
    // Every word must be in the same column.
    expect(await search(`Alpha Beta ${word}`)).toEqual([])
    expect(await search(`pathX${word}`)).toEqual([])
    expect(await search(`5%% ${word}`)).toEqual([])
    expect(await search('  ')).not.toEqual([])
    expect(await search(`${word} ${word} `.repeat(100))).toEqual([project.id])
  })

  test('D2-PROJECTS-ADMIN-PARAMS D2-CUSTOM-ATTRIBUTES: custom attributes are for administrators', async ({ world }) => {
    const { ann, open, word, list } = await some(world)
    await addCustomAttribute(world, { project: open.id }, 'team', 'blue')
    expect(await list(world.root, 'custom_attributes[team]=blue')).toEqual([open.id])
    expect(await list(world.root, 'custom_attributes[team]=blue&custom_attributes[room]=1')).toEqual([])
    expect(await list(ann, 'custom_attributes[team]=red')).toHaveLength(3)
    const path = `/projects?search=${word}-c&with_custom_attributes=true`
    expect((await world.root.get(path)).json[0].custom_attributes).toEqual([{ key: 'team', value: 'blue' }])
    expect((await ann.get(path)).json[0]).not.toHaveProperty('custom_attributes')
  })

  test('projects that are being deleted are not listed', async ({ world }) => {
    const { mine, list } = await some(world)
    await changeProject(world, mine.id, { deleting: true })
    expect(await list(world.root)).toHaveLength(3)
  })
})

describe('pages of projects', () => {
  test('pages of projects have totals and links', async ({ world }) => {
    const { word, open, mine } = await some(world)
    const page = await world.root.get(`/projects?search=${word}&per_page=2&page=2`)
    expect(page.json).toMatchObject([{ id: open.id }, { id: mine.id }])
    expect(page.headers).toMatchObject({
      'x-total': '4',
      'x-total-pages': '2',
      'x-page': '2',
      'x-per-page': '2',
      'x-next-page': '',
      'x-prev-page': '1',
    })
    expect(page.headers['link']).toContain(
      `<${world.origin}/api/v4/projects?page=1&per_page=2&search=${word}>; rel="prev"`,
    )
    expect(await ids(world.root, `/projects?search=${word}&page=3&per_page=2`)).toEqual([])
    expect((await world.root.get('/projects?per_page=1000')).headers['x-per-page']).toBe('100')
  })

  test.for([
    '/projects?page=101&per_page=100',
    '/projects?page=10001&per_page=1',
    '/projects?page=335&per_page=30',
    '/users/root/projects?page=101&per_page=100',
  ])('D2-PROJECTS-OFFSET-CAP: 405 for a page that begins after 10,000 records: %s', async (path, { world }) => {
    expect(await world.anonymous.get(path)).toMatchObject({
      status: 405,
      json: {
        error:
          'Offset pagination has a maximum allowed offset of 10000 for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.',
      },
    })
  })

  test.for(['page=100&per_page=100', 'page=10000&per_page=1', 'page=334&per_page=30'])(
    'D2-PROJECTS-OFFSET-CAP: a page that begins within 10,000 records is listed: %s',
    async (query, { world }) => {
      expect(await world.anonymous.get(`/projects?${query}`)).toMatchObject({ status: 200, json: [] })
    },
  )

  test('D2-PROJECTS-KEYSET: keyset pages follow ids in both directions, with order_by=id only', async ({ world }) => {
    const { word, mine, open, internal, hidden } = await some(world)
    const refused = { status: 405, json: { error: 'Keyset pagination is not yet available for this type of request' } }
    expect(await world.root.get('/projects?pagination=keyset')).toMatchObject(refused)
    expect(await world.root.get('/projects?pagination=keyset&order_by=name')).toMatchObject(refused)
    for (const [sort, expected] of [
      ['asc', [mine.id, open.id, internal.id, hidden.id]],
      ['desc', [hidden.id, internal.id, open.id, mine.id]],
    ] as const) {
      const seen: number[] = []
      let path: string | undefined = `/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=3&search=${word}`
      while (path) {
        const page = await world.root.get(path)
        expect(page.headers['x-total']).toBeUndefined()
        expect(page.headers['links']).toBe(page.headers['link'])
        seen.push(...page.json.map(({ id }: { id: number }) => id))
        path = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(page.headers['link'] ?? '')?.[1]
        expect(path === undefined).toBe(page.json.length === 0)
      }
      expect(seen).toEqual(expected)
    }
  })

  test('keyset pages of a range of ids stay in the range', async ({ world }) => {
    const { word, mine, open, internal, hidden } = await some(world)
    for (const [sort, expected] of [
      ['asc', [open.id, internal.id]],
      ['desc', [internal.id, open.id]],
    ] as const) {
      const seen: number[] = []
      let path: string | undefined =
        `/projects?pagination=keyset&order_by=id&sort=${sort}&per_page=1&search=${word}&id_after=${mine.id}&id_before=${hidden.id}`
      while (path) {
        const page = await world.root.get(path)
        seen.push(...page.json.map(({ id }: { id: number }) => id))
        path = /<[^>]*\/api\/v4([^>]*)>; rel="next"/.exec(page.headers['link'] ?? '')?.[1]
      }
      expect(seen).toEqual(expected)
    }
  })
})
