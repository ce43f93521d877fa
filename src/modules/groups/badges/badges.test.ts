import { describe, expect } from 'vitest'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { type Client, git, type TestProject, temporaryFolder, test, type World } from '../../../../test/world.ts'
import { lockBadge } from './queries.ts'

const bases = ['groups', 'projects'] as const
const link = 'https://ci.example.org/%{project_path}?ref=%{default_branch}'
const image = 'https://ci.example.org/%{project_id}/%{commit_sha}.svg'

async function placeIn(world: World, base: (typeof bases)[number], more = {}): Promise<string> {
  const made = base === 'groups' ? await world.group(more) : await world.project(more)
  return `/${base}/${made.id}/badges`
}

/** Pushes one commit; returns its id. */
async function filled(world: World, project: TestProject, who: Client): Promise<string> {
  await using folder = await temporaryFolder()
  await git(folder.path, 'init', '-q', '-b', 'trunk')
  await git(folder.path, 'commit', '-q', '--allow-empty', '-m', 'first')
  await git(folder.path, 'push', '-q', world.remote(project, who), 'trunk')
  return await git(folder.path, 'rev-parse', 'HEAD')
}

describe.for(bases)('badges of %s', (base) => {
  test('badges are added, listed, read, changed and deleted', async ({ world }) => {
    const badges = await placeIn(world, base)
    const made = await world.root.post(badges, {
      name: 'build',
      link_url: 'https://a.example/x',
      image_url: 'http://a.example/x.svg',
    })
    const record = {
      id: expect.any(Number),
      name: 'build',
      link_url: 'https://a.example/x',
      image_url: 'http://a.example/x.svg',
      rendered_link_url: 'https://a.example/x',
      rendered_image_url: 'http://a.example/x.svg',
      kind: base.slice(0, -1),
    }
    expect(made.status).toBe(201)
    expect(made.json).toEqual(record)
    await world.root.post(badges, { link_url: 'https://b.example', image_url: 'https://b.example' })
    const { id } = made.json
    expect((await world.root.get(`${badges}/${id}`)).json).toEqual(record)
    expect((await world.root.get(badges)).json).toMatchObject([record, { name: null }])
    expect((await world.root.get(`${badges}?name=build`)).json).toEqual([record])
    expect((await world.root.put(`${badges}/${id}`, { image_url: 'https://c.example/' })).json).toEqual({
      ...record,
      image_url: 'https://c.example/',
      rendered_image_url: 'https://c.example/',
    })
    expect((await world.root.delete(`${badges}/${id}`)).status).toBe(204)
    const gone = { status: 404, json: { message: '404 Not found' } }
    expect(await world.root.get(`${badges}/${id}`)).toMatchObject(gone)
    expect(await world.root.put(`${badges}/${id}`, { name: 'x' })).toMatchObject(gone)
    expect(await world.root.delete(`${badges}/${id}`)).toMatchObject(gone)
  })

  test('400 for badge URLs other than http and https', async ({ world }) => {
    const badges = await placeIn(world, base)
    const fine = 'https://a.example'
    expect((await world.root.post(badges, {})).json).toEqual({ error: 'link_url is missing, image_url is missing' })
    for (const [bad, text] of [
      ['', "can't be blank"],
      ['nowhere', 'is blocked: URI is invalid'],
      ['https://a.example/"><script>', 'is blocked: URI is invalid'],
      ['javascript:alert(1)', 'is blocked: Only allowed schemes are http, https'],
      [`${fine}/${'x'.repeat(2048)}`, 'is too long (maximum is 2048 characters)'],
    ] as const) {
      const refused = { status: 400, json: { message: { link_url: [text] } } }
      expect(await world.root.post(badges, { link_url: bad, image_url: fine })).toMatchObject(refused)
      const query = new URLSearchParams({ link_url: bad, image_url: fine })
      expect(await world.root.get(`${badges}/render?${query}`)).toMatchObject(refused)
      expect(await world.root.post(badges, { link_url: fine, image_url: bad })).toMatchObject({ status: 400 })
    }
  })

  test('two changes of a badge at the same moment both take effect', async ({ world }) => {
    const badges = await placeIn(world, base)
    const url = 'https://a.example/'
    const { id } = (await world.root.post(badges, { link_url: url, image_url: url })).json
    const sent = await world.db.transaction(async (tx) => {
      const of = base === 'groups' ? 'group' : 'project'
      await lockBadge(tx, { of, id: Number(badges.split('/')[2]) }, id)
      const changes = [{ name: 'build' }, { link_url: `${url}new` }]
      const waiting = changes.map((change) => world.root.put(`${badges}/${id}`, change))
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(2)
      return { waiting }
    })
    expect((await Promise.all(sent.waiting)).map(({ status }) => status)).toEqual([200, 200])
    expect((await world.root.get(`${badges}/${id}`)).json).toMatchObject({ name: 'build', link_url: `${url}new` })
  })

  test.for([
    { who: 'anonymous', reads: 200, writes: 401 },
    { who: 'stranger', reads: 200, writes: 403 },
    { who: 'developer', reads: 200, writes: 403 },
    { who: 'maintainer', reads: 200, writes: base === 'groups' ? 403 : 201 },
  ] as const)('$who: reading badges is $reads, adding $writes', async ({ who, reads, writes }, { world }) => {
    const ann = await world.user()
    const members = who === 'anonymous' || who === 'stranger' ? [] : [[ann, who]]
    const badges = await placeIn(world, base, { visibility: 'public', members })
    const caller = who === 'anonymous' ? world.anonymous : ann
    expect((await caller.get(badges)).status).toBe(reads)
    expect((await caller.post(badges, { link_url: 'https://x.example', image_url: 'https://x.example' })).status).toBe(
      writes,
    )
    expect((await (await world.user()).get(await placeIn(world, base))).status).toBe(404)
  })
})

describe('placeholders in badges', () => {
  test('placeholders are filled in for badges of a project, including those of its groups', async ({ world }) => {
    const top = await world.group()
    const group = await world.group({ parent: top })
    const project = await world.project({ group })
    const sha = await filled(world, project, world.root)
    const above = (await world.root.post(`/groups/${top.id}/badges`, { link_url: link, image_url: image })).json
    const own = (await world.root.post(`/projects/${project.id}/badges`, { link_url: link, image_url: image })).json
    const rendered = {
      rendered_link_url: `https://ci.example.org/${project.full_path}?ref=trunk`,
      rendered_image_url: `https://ci.example.org/${project.id}/${sha}.svg`,
    }
    expect((await world.root.get(`/projects/${project.id}/badges`)).json).toMatchObject([
      { id: above.id, kind: 'group', ...rendered },
      { id: own.id, kind: 'project', ...rendered },
    ])
    const query = new URLSearchParams({ link_url: link, image_url: image })
    expect((await world.root.get(`/projects/${project.id}/badges/render?${query}`)).json).toEqual({
      name: null,
      link_url: link,
      image_url: image,
      ...rendered,
    })
    // In a group, its oldest project is used.
    expect((await world.root.get(`/groups/${top.id}/badges/${above.id}`)).json).toMatchObject(rendered)
    // A badge of a group can only be changed in the group.
    const one = `/projects/${project.id}/badges/${above.id}`
    expect((await world.root.get(one)).status).toBe(200)
    expect((await world.root.put(one, { name: 'x' })).status).toBe(403)
    expect((await world.root.delete(one)).status).toBe(403)
  })

  test('placeholders without a value, or whose value the caller cannot read, are not replaced', async ({ world }) => {
    const group = await world.group({ visibility: 'public' })
    const empty = (await world.root.post(`/groups/${group.id}/badges`, { link_url: link, image_url: image })).json
    expect(empty).toMatchObject({ rendered_link_url: link, rendered_image_url: image })
    const project = await world.project({ group, visibility: 'private' })
    expect((await world.anonymous.get(`/groups/${group.id}/badges/${empty.id}`)).json).toMatchObject({
      rendered_link_url: link,
    })
    await filled(world, project, world.root)
    const guest = await world.user()
    await world.root.post(`/projects/${project.id}/members`, { user_id: guest.id, access_level: 10 })
    expect((await guest.get(`/projects/${project.id}/badges`)).json).toMatchObject([
      { rendered_link_url: `https://ci.example.org/${project.full_path}?ref=%{default_branch}` },
    ])
  })

  test('placeholders are escaped in badge URLs, for any branch name', async ({ world }) => {
    const project = await world.project()
    await filled(world, project, world.root)
    await world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'a/ü&"x', ref: 'trunk' })
    await world.root.put(`/projects/${project.id}`, { default_branch: 'a/ü&"x' })
    const made = await world.root.post(`/projects/${project.id}/badges`, { link_url: link, image_url: image })
    expect(made.json.rendered_link_url).toBe(`https://ci.example.org/${project.full_path}?ref=a/%C3%BC%26%22x`)
  })
})
