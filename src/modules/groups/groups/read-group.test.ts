import { describe, expect } from 'vitest'
import { shareProject } from '../../../../test/tables/access.ts'
import { addManyProjects } from '../../../../test/tables/projects.ts'
import { addCustomAttribute } from '../../../../test/tables/users.ts'
import { test, World } from '../../../../test/world.ts'

const notFound = { status: 404, json: { message: '404 Group Not Found' } }

describe('GET /groups/:id', () => {
  test('a group is found by id and full path, in any case, and with .json', async ({ world }) => {
    const top = await world.group({ visibility: 'public' })
    const inner = await world.group({ visibility: 'public', parent: top })
    for (const name of [inner.id, `${inner.id}.json`, encodeURIComponent(inner.full_path.toUpperCase()), top.path])
      expect((await world.anonymous.get(`/groups/${name}`)).status, String(name)).toBe(200)
  })

  test.for(['0', '-1', '99999999999', '99999999999999999999', 'no-such', 'a%2Fb', '1e3', '..%2F..'])(
    '404 for GET /groups/%s',
    async (id, { world }) => {
      expect(await world.root.get(`/groups/${id}`)).toMatchObject(notFound)
    },
  )

  test('404 for GET /groups/:id with the path of a user or project', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project()
    expect(await world.root.get(`/groups/${ann.username}`)).toMatchObject(notFound)
    expect(await world.root.get(`/groups/${encodeURIComponent(project.full_path)}`)).toMatchObject(notFound)
  })

  test.for([
    { who: 'an anonymous caller', visibility: 'public', status: 200 },
    { who: 'an anonymous caller', visibility: 'internal', status: 404 },
    { who: 'an anonymous caller', visibility: 'private', status: 404 },
    { who: 'a stranger', visibility: 'internal', status: 200 },
    { who: 'a stranger', visibility: 'private', status: 404 },
    { who: 'an external user', visibility: 'internal', status: 404 },
    { who: 'an external user', visibility: 'public', status: 200 },
    { who: 'an administrator', visibility: 'private', status: 200 },
  ] as const)(
    'D2-GROUPS-ANON: a $visibility group is $status for $who',
    async ({ who, visibility, status }, { world }) => {
      const callers = {
        'an anonymous caller': async () => world.anonymous,
        'a stranger': () => world.user(),
        'an external user': () => world.user({ external: true }),
        'an administrator': async () => world.root,
      }
      const group = await world.group({ visibility })
      expect((await (await callers[who]()).get(`/groups/${group.id}`)).status).toBe(status)
    },
  )

  test('a project member reads the groups around it, but no other content of them', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const top = await world.group()
    const sub = await world.group({ parent: top, members: [[bob, 'guest']] })
    const hidden = await world.group({ parent: top })
    const project = await world.project({ group: sub, members: [[ann, 'guest']] })
    await world.project({ group: sub })
    // Ann through the project itself, Bob through the group in between.
    for (const who of [ann, bob]) {
      expect((await who.get(`/groups/${top.id}`)).json).toMatchObject({ id: top.id, projects: [] })
      expect((await who.get(`/groups/${sub.id}`)).status).toBe(200)
      expect(await who.get(`/groups/${hidden.id}`)).toMatchObject(notFound)
      expect((await who.get(`/groups/${top.id}/members`)).status).toBe(200)
    }
    expect((await ann.get(`/groups/${sub.id}`)).json.projects).toMatchObject([{ id: project.id }])
    expect(await ann.put(`/groups/${top.id}`, {})).toMatchObject({ status: 403 })
    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    expect(await ann.get(`/groups/${top.id}`)).toMatchObject(notFound)
  })

  test.for([
    { who: 'owner', shown: true },
    { who: 'maintainer', shown: false },
    { who: 'guest', shown: false },
  ] as const)('D2-GROUP-RUNNERS-TOKEN: the token is shown to a $who: $shown', async ({ who, shown }, { world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public', members: [[ann, who]] })
    expect('runners_token' in (await ann.get(`/groups/${group.id}`)).json).toBe(shown)
    expect('runners_token' in (await world.root.get(`/groups/${group.id}`)).json).toBe(true)
    expect('runners_token' in (await world.anonymous.get(`/groups/${group.id}`)).json).toBe(false)
    for (const { runners_token } of (await world.root.get('/groups')).json) expect(runners_token).toBeUndefined()
  })

  test('D2-GROUP-DETAIL-PROJECTS D2-PROJECT-SIMPLE: own projects, and shared ones separately', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ visibility: 'public', members: [[ann, 'guest']] })
    const inner = await world.group({ parent: group })
    await world.project({ group: inner })
    const first = await world.project({ group })
    const second = await world.project({ group, visibility: 'public' })
    const shared = await world.project()
    await shareProject(world, shared.id, group.id, 30)
    expect((await world.root.get(`/groups/${group.id}`)).json).toMatchObject({
      projects: [{ id: second.id }, { id: first.id }],
      shared_projects: [{ id: shared.id, shared_with_groups: [{ group_id: group.id, group_access_level: 30 }] }],
    })
    const seen = (await world.anonymous.get(`/groups/${group.id}`)).json
    expect(seen).toMatchObject({ projects: [{ id: second.id }], shared_projects: [] })
    // Anonymous callers get simple records, as in lists, without the shares of a project.
    expect(seen.projects).toEqual((await world.anonymous.get(`/groups/${group.id}/projects`)).json)
    expect(seen.projects[0]).not.toHaveProperty('shared_with_groups')
  })

  test('D2-GROUP-WITH-PROJECTS: with_projects=false omits the project arrays', async ({ world }) => {
    const group = await world.group()
    const seen = (await world.root.get(`/groups/${group.id}?with_projects=false`)).json
    expect(seen).not.toHaveProperty('projects')
    expect(seen).not.toHaveProperty('shared_projects')
  })

  test('D2-GROUP-CAP D2-GROUP-CAP-FLAG: a group has at most 100 projects unless configured', async () => {
    await using world = await World.start()
    const group = await world.group()
    await addManyProjects(world, group)
    expect((await world.root.get(`/groups/${group.id}`)).json.projects).toHaveLength(100)
    expect((await world.root.put(`/groups/${group.id}`, {})).json.projects).toHaveLength(100)
    expect((await world.root.get(`/groups/${group.id}/projects?per_page=1`)).headers['x-total']).toBe('103')
    await world.settings({ limit_projects_in_groups_api: false })
    expect((await world.root.get(`/groups/${group.id}`)).json.projects).toHaveLength(103)
  })

  test('D2-GROUPS-ADMIN-PARAMS D2-CUSTOM-ATTRIBUTES: custom attributes are for administrators', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'owner']] })
    await addCustomAttribute(world, { group: group.id }, 'team', 'blue')
    const path = `/groups/${group.id}?with_custom_attributes=true`
    expect((await world.root.get(path)).json.custom_attributes).toEqual([{ key: 'team', value: 'blue' }])
    expect((await world.root.get(`/groups/${group.id}`)).json).not.toHaveProperty('custom_attributes')
    expect((await ann.get(path)).json).not.toHaveProperty('custom_attributes')
  })
})
