import { afterAll, describe, expect } from 'vitest'
import { slicePage } from '../../src/api/page.ts'
import { pageHeaders } from '../../src/edges/http/page-headers.ts'
import { type Client, test, unique } from '../world.ts'

let owner: Promise<{ owner: Client; ids: number[] }> | undefined
/** A user with seven projects, whose ids are in order of creation. */
const withProjects = (world: { user(): Promise<Client> }) =>
  (owner ??= (async () => {
    const owner = await world.user()
    const ids: number[] = []
    for (let i = 0; i < 7; i++) ids.push((await owner.post('/projects', { name: unique('paged') })).json.id)
    return { owner, ids }
  })())

/** `rel` → URL, in the order of the header. */
const links = (header: string | undefined) =>
  new Map([...(header ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)].map((match) => [match[2]!, match[1]!]))

describe('D1-PAGINATION', () => {
  test('a list has 20 entries per page and headers with page, total and links', async ({ world }) => {
    const { owner } = await withProjects(world)
    const got = await owner.get('/projects?owned=true')
    expect(got.json).toHaveLength(7)
    expect(got.headers).toMatchObject({
      'x-page': '1',
      'x-per-page': '20',
      'x-next-page': '',
      'x-prev-page': '',
      'x-total': '7',
      'x-total-pages': '1',
    })
    expect([...links(got.headers['link']).keys()]).toEqual(['first', 'last'])
  })

  test('links are prev, next, first and last, with all request parameters, sorted', async ({ world }) => {
    const { owner } = await withProjects(world)
    const got = await owner.get('/projects?page=2&owned=true&per_page=3&search=paged')
    const at = (page: number) =>
      `${world.config.externalUrl}/api/v4/projects?owned=true&page=${page}&per_page=3&search=paged`
    expect(got.headers['link']).toBe(
      `<${at(1)}>; rel="prev", <${at(3)}>; rel="next", <${at(1)}>; rel="first", <${at(3)}>; rel="last"`,
    )
    expect(got.headers).toMatchObject({ 'x-page': '2', 'x-next-page': '3', 'x-prev-page': '1', 'x-total-pages': '3' })
  })

  test('links keep the order of a parameter that is given twice, whose last value counts on every page', async ({
    world,
  }) => {
    const { owner, ids } = await withProjects(world)
    const first = await owner.get('/projects?owned=true&per_page=3&order_by=id&sort=desc&sort=asc')
    expect(first.json.map(({ id }: { id: number }) => id)).toEqual(ids.slice(0, 3))
    const next = await owner.get(links(first.headers['link']).get('next')!.split('/api/v4')[1]!)
    expect(next.json.map(({ id }: { id: number }) => id)).toEqual(ids.slice(3, 6))
  })

  test('following the next links returns each entry of the list once', async ({ world }) => {
    const { owner, ids } = await withProjects(world)
    const seen: number[] = []
    let path = '/projects?owned=true&per_page=3&order_by=id&sort=asc'
    for (let pages = 1; path; pages++) {
      const got = await owner.get(path)
      seen.push(...got.json.map(({ id }: { id: number }) => id))
      expect(pages).toBeLessThan(5)
      path = links(got.headers['link']).get('next')?.split('/api/v4')[1] ?? ''
    }
    expect(seen).toEqual(ids)
  })

  test('a page beyond the end is empty and has paging headers', async ({ world }) => {
    const { owner } = await withProjects(world)
    const got = await owner.get('/projects?owned=true&page=99')
    expect(got).toMatchObject({
      status: 200,
      json: [],
      headers: { 'x-page': '99', 'x-next-page': '', 'x-total': '7', 'x-total-pages': '1' },
    })
  })

  test('an empty list has one page', async ({ world }) => {
    const got = await (await world.user()).get('/projects?owned=true')
    expect(got).toMatchObject({
      json: [],
      headers: { 'x-total': '0', 'x-total-pages': '1', 'x-next-page': '', 'x-prev-page': '' },
    })
  })

  test.for([
    { query: 'per_page=101', perPage: '100' },
    { query: 'per_page=100000', perPage: '100' },
    { query: 'per_page=99999999999999', perPage: '100' },
    { query: 'per_page=0', perPage: '20' },
    { query: 'per_page=-1', perPage: '20' },
    { query: 'per_page=1', perPage: '1' },
    { query: 'per_page=', perPage: '20' },
  ])('$query gives $perPage entries per page', async ({ query, perPage }, { world }) => {
    expect(await world.root.get(`/projects?${query}`)).toMatchObject({
      status: 200,
      headers: { 'x-per-page': perPage },
    })
  })

  test.for([
    { query: 'page=0', page: '1' },
    { query: 'page=-3', page: '1' },
    { query: 'page=99999999999999', page: '2147483647' },
  ])('$query returns page $page', async ({ query, page }, { world }) => {
    expect(await world.root.get(`/user/keys?${query}`)).toMatchObject({ status: 200, headers: { 'x-page': page } })
  })

  test.for(['page=abc', 'per_page=abc', 'page=1.5', 'page[]=1', 'per_page=99999999999999999'])(
    '400 when the paging parameter is %s',
    async (query, { world }) => {
      const name = /^\w+/.exec(query)![0]
      expect(await world.root.get(`/projects?${query}`)).toMatchObject({
        status: 400,
        json: { error: `${name} is invalid` },
      })
    },
  )

  test('a response that is not a list has no paging headers', async ({ world }) => {
    expect(
      Object.keys((await world.root.get('/user')).headers).filter((name) => /^x-(page|total|per)|link/.test(name)),
    ).toEqual([])
  })
})

describe('paging headers computed from counts', () => {
  const page = { page: 1, perPage: 2, keyset: false }
  test('X-Total, X-Total-Pages and the last link are omitted above 10,000 entries', () => {
    const headers = pageHeaders('http://h/api/v4/x', '', { rows: [1, 2], total: undefined, hasNext: true }, page)
    expect(headers).not.toHaveProperty('x-total')
    expect(headers).not.toHaveProperty('x-total-pages')
    expect([...links(headers['link']).keys()]).toEqual(['next', 'first'])
  })
  test('a list in memory has no total above 10,000 entries, not even on its last page', () => {
    const all = Array.from({ length: 10_001 }, (_, at) => at)
    expect(slicePage(all, { ...page, page: 5001 })).toEqual({ rows: [10_000], total: undefined, hasNext: false })
    expect(slicePage(all.slice(1), page).total).toBe(10_000)
  })
  test('page links keep the encoding of parameters', () => {
    const headers = pageHeaders(
      'http://h/x',
      'search=a%26b&not[labels]=x&page=7',
      { rows: [], total: 0, hasNext: false },
      page,
    )
    expect(links(headers['link']).get('first')).toBe('http://h/x?not[labels]=x&page=1&per_page=2&search=a%26b')
  })
  test('a > in a parameter is encoded in page links', () => {
    const headers = pageHeaders('http://h/x', 'search=a>b', { rows: [], total: 0, hasNext: false }, page)
    expect(headers['link']).toBe(
      '<http://h/x?page=1&per_page=2&search=a%3Eb>; rel="first", <http://h/x?page=1&per_page=2&search=a%3Eb>; rel="last"',
    )
  })
})

describe('D2-PROJECTS-KEYSET', () => {
  const keyset = '/projects?pagination=keyset&order_by=id&owned=true&per_page=3'

  test('next links walk the list by ascending id', async ({ world }) => {
    const { owner, ids } = await withProjects(world)
    const seen: number[] = []
    let path = `${keyset}&sort=asc`
    for (let pages = 1; ; pages++) {
      const got = await owner.get(path)
      if (got.json.length === 0) {
        expect(got.headers).not.toHaveProperty('link')
        break
      }
      seen.push(...got.json.map(({ id }: { id: number }) => id))
      expect(got.headers['links']).toBe(got.headers['link'])
      expect([...links(got.headers['link']).keys()]).toEqual(['next'])
      for (const name of ['x-total', 'x-page', 'x-total-pages', 'x-next-page'])
        expect(got.headers).not.toHaveProperty(name)
      expect(pages).toBeLessThan(6)
      path = links(got.headers['link']).get('next')!.split('/api/v4')[1]!
    }
    expect(seen).toEqual(ids)
  })

  test('descending keyset links use id_before', async ({ world }) => {
    const { owner, ids } = await withProjects(world)
    const got = await owner.get(`${keyset}&sort=desc`)
    expect(got.json.map(({ id }: { id: number }) => id)).toEqual(ids.toReversed().slice(0, 3))
    expect(links(got.headers['link']).get('next')).toBe(
      `${world.config.externalUrl}/api/v4/projects?id_before=${ids[4]}&order_by=id&owned=true&pagination=keyset&per_page=3&sort=desc`,
    )
  })

  test('keyset links drop the page parameter', async ({ world }) => {
    const { owner } = await withProjects(world)
    expect(links((await owner.get(`${keyset}&page=2`)).headers['link']).get('next')).not.toMatch(/[?&]page=/)
  })

  test.for(['/projects?pagination=keyset', '/projects?pagination=keyset&order_by=name'])(
    '405 for keyset pagination of %s',
    async (path, { world }) => {
      expect(await world.root.get(path)).toMatchObject({
        status: 405,
        json: { error: 'Keyset pagination is not yet available for this type of request' },
      })
    },
  )

  test('400 for pagination=other', async ({ world }) => {
    expect(await world.root.get('/projects?pagination=other')).toMatchObject({
      status: 400,
      json: { error: 'pagination does not have a valid value' },
    })
  })
})

describe('D2-PROJECTS-OFFSET-CAP', () => {
  test('405 for a page that begins after 10,000 projects', async ({ world }) => {
    expect(await world.root.get('/projects?per_page=100&page=100')).toMatchObject({ status: 200, json: [] })
    expect(await world.root.get('/projects?per_page=100&page=101')).toMatchObject({
      status: 405,
      json: {
        error:
          'Offset pagination has a maximum allowed offset of 10000 for requests that return objects of type Project. Remaining records can be retrieved using keyset pagination.',
      },
    })
  })
})

describe('D2-PROJECTS-ANON', () => {
  test('anonymous callers see only public projects, with few fields, whatever simple is', async ({ world }) => {
    const { owner } = await withProjects(world)
    const open = await owner.post('/projects', { name: unique('open'), visibility: 'public' })
    for (const query of ['', '&simple=false', '&simple=true']) {
      const got = await world.anonymous.get(`/projects?order_by=id&per_page=100${query}`)
      const found = got.json.find(({ id }: { id: number }) => id === open.json.id)
      expect(found).toBeDefined()
      expect(found).not.toHaveProperty('visibility')
      for (const each of got.json) expect((await world.root.get(`/projects/${each.id}`)).json.visibility).toBe('public')
    }
  })
})

afterAll(() => {
  owner = undefined
})
