import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { storedProject } from '../commits/testing.ts'

const at = (id: number, tag?: string, link?: number | '') =>
  `/projects/${id}/releases${tag === undefined ? '' : `/${encodeURIComponent(tag)}`}` +
  `${link === undefined ? '' : `/assets/links${link === '' ? '' : `/${link}`}`}`

const described = (tag_name: string, more: object = {}) => ({ tag_name, description: 'News', ...more })

/** A project with the tag `v/1`, a developer and a guest. */
async function tagged(world: World, visibility: 'public' | 'private' = 'public') {
  const [dan, guest] = [await world.user(), await world.user()]
  const project = await storedProject(world, {
    visibility,
    members: [
      [dan, 'developer'],
      [guest, 'guest'],
    ],
  })
  const oid = project.repository.commit({ a: '1' })
  project.repository.git('update-ref', 'refs/tags/v/1', 'main')
  return { ...project, oid, dan, guest }
}

describe('releases', () => {
  test('a release has its tag, commit, sources and links', async ({ world }) => {
    const { id, full_path, oid, dan } = await tagged(world)
    const assets = {
      links: [
        { name: 'Setup', url: 'https://example.com/setup.exe', link_type: 'package' },
        { name: 'Notes', url: `${world.origin}/${full_path}/uploads/1/a.txt` },
      ],
    }
    const made = await dan.post(at(id), described('v/1', { name: 'First', assets }))
    const source = (format: string) => ({
      format,
      url: `${world.origin}/api/v4/projects/${id}/repository/archive.${format}?sha=v%2F1`,
    })
    const link = (index: number, external: boolean) => ({
      id: expect.any(Number),
      link_type: 'other',
      ...assets.links[index],
      direct_asset_url: assets.links[index]!.url,
      external,
    })
    expect(made).toMatchObject({ status: 201 })
    expect(made.json).toEqual({
      tag_name: 'v/1',
      name: 'First',
      description: 'News',
      created_at: expect.any(String),
      released_at: made.json.created_at,
      milestones: [],
      upcoming_release: false,
      author: expect.objectContaining({ id: dan.id }),
      commit: expect.objectContaining({ id: oid }),
      commit_path: `/${full_path}/-/commit/${oid}`,
      tag_path: `/${full_path}/-/tags/v%2F1`,
      _links: { self: `${world.origin}/${full_path}/-/releases/v%2F1` },
      assets: {
        count: 6,
        sources: ['zip', 'tar.gz', 'tar.bz2', 'tar'].map(source),
        links: [link(1, false), link(0, true)],
      },
    })
    expect((await dan.get(at(id, 'v/1'))).json).toEqual(made.json)
    expect((await dan.get(at(id))).json).toEqual([made.json])
    expect((await dan.get(`/projects/${id}/repository/tags/v%2F1`)).json.release).toEqual({
      tag_name: 'v/1',
      description: 'News',
    })
    for (const { url } of made.json.assets.sources)
      expect((await fetch(url, { headers: { 'private-token': dan.token! } })).status).toBe(200)
  })

  test('a release creates a missing tag at a ref, which is required', async ({ world }) => {
    const { id, oid, dan, repository } = await tagged(world)
    expect(await dan.post(at(id), described('v2'))).toMatchObject({
      status: 422,
      json: { error: 'Ref is not specified' },
    })
    expect(await dan.post(at(id), described('a..b', { ref: 'main' }))).toMatchObject({
      status: 400,
      json: { message: 'Tag name invalid' },
    })
    expect(await dan.post(at(id), described('v2', { ref: 'nowhere' }))).toMatchObject({
      status: 400,
      json: { message: 'Target nowhere is invalid' },
    })
    const made = await dan.post(at(id), described('v2', { ref: 'main', tag_message: 'Signed off' }))
    expect(made).toMatchObject({ status: 201, json: { name: 'v2', commit: { id: oid } } })
    expect(repository.git('cat-file', '-t', 'v2')).toBe('tag')
  })

  test('a tag has one release; that of a deleted tag is replaced when the tag is recreated', async ({ world }) => {
    const { id, dan, repository } = await tagged(world)
    const twice = await Promise.all([dan.post(at(id), described('v/1')), dan.post(at(id), described('v/1'))])
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(twice.find(({ status }) => status === 409)!.json).toEqual({ message: 'Release already exists' })
    repository.git('update-ref', '-d', 'refs/tags/v/1')
    expect((await dan.get(at(id, 'v/1'))).json).toMatchObject({ tag_name: 'v/1', commit: null, commit_path: null })
    expect(await dan.post(at(id), described('v/1', { ref: 'main', description: 'Other' }))).toMatchObject({
      status: 201,
      json: { description: 'Other' },
    })
  })

  test('a release is not lost to another one that has just created the tag', async ({ world }) => {
    const { id, dan } = await tagged(world)
    for (let round = 0; round < 15; round++) {
      const tag = `r${round}`
      const release = (name: string) => dan.post(at(id), described(tag, { ref: 'main', name }))
      const onceTagged = async () => {
        const isTagged = async () => (await dan.get(`/projects/${id}/repository/tags/${tag}`)).status === 200
        while (!(await isTagged()));
        return release('Later')
      }
      const made = (await Promise.all([release('First'), onceTagged()])).filter(({ status }) => status === 201)
      expect(made).toHaveLength(1)
      expect((await dan.get(at(id, tag))).json.name).toBe(made[0]!.json.name)
    }
  })

  test('of two concurrent releases that create the tag one succeeds, and the other finds the release', async ({
    world,
  }) => {
    const { id, dan } = await tagged(world)
    for (let round = 0; round < 15; round++) {
      const release = () => dan.post(at(id), described(`r${round}`, { ref: 'main' }))
      const answers = await Promise.all([release(), release()])
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
      expect(answers.find(({ status }) => status === 409)!.json).toEqual({ message: 'Release already exists' })
    }
  })

  test('releases are edited, and deleted without the tag or together with it', async ({ world }) => {
    const { id, dan } = await tagged(world)
    await dan.post(at(id), described('v/1', { name: 'First' }))
    expect(await dan.put(at(id, 'v/1'), { description: 'Better', released_at: '2099-01-01' })).toMatchObject({
      status: 200,
      json: {
        name: 'First',
        description: 'Better',
        released_at: '2099-01-01T00:00:00.000Z',
        upcoming_release: true,
      },
    })
    expect((await dan.put(at(id, 'v/1'), { name: null })).json.name).toBe('v/1')
    expect(await dan.delete(at(id, 'v/1'))).toMatchObject({ status: 200, json: { tag_name: 'v/1' } })
    expect(await dan.get(at(id, 'v/1'))).toMatchObject({ status: 404, json: { message: '404 Release Not Found' } })
    const tag = `/projects/${id}/repository/tags/v%2F1`
    expect((await dan.get(tag)).json.release).toBeNull()
    await dan.post(at(id), described('v/1'))
    await dan.delete(tag)
    expect((await dan.get(at(id))).json).toEqual([])
  })

  test('a release is at the end of the year 9999 when its zone moves it beyond', async ({ world }) => {
    const { id, dan } = await tagged(world)
    expect(await dan.post(at(id), described('v/1', { released_at: '9999-12-31T23:30:00-01:00' }))).toMatchObject({
      status: 201,
      json: { released_at: '9999-12-31T23:59:59.999Z', upcoming_release: true },
    })
    const edited = await dan.put(at(id, 'v/1'), { released_at: '0001-01-01T00:30:00+01:00' })
    expect(edited).toMatchObject({ status: 200, json: { released_at: '0001-01-01T00:00:00.000Z' } })
  })

  test('releases are sorted by released_at or created_at', async ({ world }) => {
    const { id, dan } = await tagged(world)
    for (const [tag, released_at] of [
      ['v2', '2020-01-02'],
      ['v1', '2020-01-01'],
      ['v3', '2020-01-03'],
    ] as const)
      await dan.post(at(id), described(tag, { ref: 'main', released_at }))
    const names = async (query: string) =>
      (await dan.get(`${at(id)}${query}`)).json.map((each: { tag_name: string }) => each.tag_name).join(' ')
    expect(await names('')).toBe('v3 v2 v1')
    expect(await names('?sort=asc')).toBe('v1 v2 v3')
    expect(await names('?order_by=created_at&sort=asc')).toBe('v2 v1 v3')
    expect(await names('?per_page=1&page=2')).toBe('v2')
  })

  test('a release needs no description, as glab sends none', async ({ world }) => {
    const { id, dan } = await tagged(world)
    expect(await dan.post(at(id), { tag_name: 'v/1' })).toMatchObject({ status: 201, json: { description: '' } })
    await dan.put(at(id, 'v/1'), { description: 'News' })
    expect((await dan.put(at(id, 'v/1'), { description: null })).json.description).toBe('')
  })

  test.for([
    [{ description: 'x' }, { error: 'tag_name is missing' }],
    [described('v/1', { name: 'x'.repeat(256) }), { message: { name: ['is too long (maximum is 255 characters)'] } }],
    [described('v/1', { released_at: 'soon' }), { error: 'released_at is invalid' }],
    [
      described('v/1', { assets: { links: [{ name: 'a', url: 'javascript:alert(1)' }] } }),
      { message: { url: ['is blocked: Only allowed schemes are http, https, ftp'] } },
    ],
    [
      described('v/1', {
        assets: {
          links: [
            { name: 'a', url: 'https://a.example' },
            { name: 'a', url: 'https://a.example' },
          ],
        },
      }),
      { message: { name: ['has already been taken'], url: ['has already been taken'] } },
    ],
  ] as const)('400 for the release %j', async ([input, answer], { world }) => {
    const { id, dan } = await tagged(world)
    expect(await dan.post(at(id), input)).toMatchObject({ status: 400, json: answer })
    expect((await dan.get(at(id))).json).toEqual([])
  })

  test('guests of a private project see no tags or sources of releases', async ({ world }) => {
    const { id, dan, guest } = await tagged(world, 'private')
    await dan.post(at(id), described('v/1', { assets: { links: [{ name: 'a', url: 'https://a.example' }] } }))
    const [seen] = (await guest.get(at(id))).json
    expect(Object.keys(seen).sort()).toEqual(
      ['assets', 'author', 'created_at', 'description', 'milestones', 'name', 'released_at', 'upcoming_release'].sort(),
    )
    expect(seen).toMatchObject({ name: expect.stringMatching(/^Release-\d+$/), assets: { count: 1 } })
    expect(seen.assets).not.toHaveProperty('sources')
    expect((await guest.get(at(id, 'v/1'))).status).toBe(403)
    expect((await guest.get(at(id, 'v/1', ''))).status).toBe(403)
  })
})

describe('release links', () => {
  test('release links are added, edited, listed and deleted', async ({ world }) => {
    const { id, dan } = await tagged(world)
    const links = at(id, 'v/1', '')
    const one = { name: 'One', url: 'https://example.com/1' }
    expect(await dan.post(links, one)).toMatchObject({ status: 404, json: { message: '404 Release Not Found' } })
    await dan.post(at(id), described('v/1'))
    const made = await dan.post(links, { ...one, link_type: 'image' })
    expect(made).toMatchObject({ status: 201, json: { ...one, link_type: 'image', external: true } })
    const two = (await dan.post(links, { name: 'Two', url: 'https://example.com/2' })).json
    expect((await dan.get(links)).json).toEqual([two, made.json])
    const place = at(id, 'v/1', made.json.id)
    expect((await dan.get(place)).json).toEqual(made.json)
    expect(await dan.put(place, { url: two.url })).toMatchObject({
      status: 400,
      json: { message: { url: ['has already been taken'] } },
    })
    expect(await dan.put(place, { name: 'Uno' })).toMatchObject({
      status: 200,
      json: { name: 'Uno', url: one.url, link_type: 'image' },
    })
    expect(await dan.delete(place)).toMatchObject({ status: 200, json: { name: 'Uno' } })
    expect(await dan.get(place)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
  })

  test('one of two concurrent release links of the same name succeeds', async ({ world }) => {
    const { id, dan } = await tagged(world)
    await dan.post(at(id), described('v/1'))
    const both = await Promise.all(
      ['https://a.example', 'https://b.example'].map((url) => dan.post(at(id, 'v/1', ''), { name: 'One', url })),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400])
  })

  test('the permalink latest is the last release that is out', async ({ world }) => {
    const { id, dan, guest } = await tagged(world, 'private')
    const latest = `/projects/${id}/releases/permalink/latest`
    expect(await dan.get(latest)).toMatchObject({ status: 404, json: { message: '404 Release Not Found' } })
    for (const [tag_name, released_at] of [
      ['new', '2021-02-01'],
      ['old', '2021-01-01'],
      ['to-come', '2100-01-01'],
    ])
      await dan.post(at(id), described(tag_name!, { ref: 'main', released_at }))
    expect((await dan.get(latest)).json).toEqual((await dan.get(at(id, 'new'))).json)
    expect((await guest.get(latest)).status).toBe(403)
    expect((await dan.get(at(id, 'permalink'))).status).toBe(404)
  })
})
