import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeProject, deleteProject } from '../../../../test/tables/projects.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { type Client, type TestProject, test, unique, type World } from '../../../../test/world.ts'
import { FilesHold } from '../../../db/held-files.ts'
import { bringRepository } from './testing.ts'

const fork = (who: Client, project: { id: number }, how: Record<string, unknown> = {}) =>
  who.post(`/projects/${project.id}/fork`, how)

const forksCount = async (world: World, project: { id: number }) =>
  (await world.root.get(`/projects/${project.id}`)).json.forks_count

const readable = (world: World, how: Record<string, unknown> = {}) =>
  world.project({ visibility: 'public', initialize_with_readme: true, ...how })

describe('POST /projects/:id/fork', () => {
  test('"a fork is created at once in the caller\'s own namespace"', async ({ world }) => {
    const ann = await world.user()
    const source = await readable(world, { description: 'Made here', wiki_access_level: 'private' })
    const made = await fork(ann, source)
    expect(made).toMatchObject({
      status: 201,
      json: {
        name: source.name,
        path_with_namespace: `${ann.username}/${source.path}`,
        description: 'Made here',
        visibility: 'public',
        wiki_access_level: 'private',
        import_status: 'scheduled',
        default_branch: null,
        forked_from_project: { id: source.id, forks_count: 1 },
      },
    })
    expect((await ann.get(`/projects/${made.json.id}/repository/files/README.md?ref=master`)).status).toBe(404)
  })

  test('parameters of a fork override the name, path, description and visibility', async ({ world }) => {
    const ann = await world.user()
    const source = await readable(world)
    const requested = { name: unique('Mine'), path: unique('mine'), description: 'Better', visibility: 'private' }
    expect(await fork(ann, source, requested)).toMatchObject({ status: 201, json: requested })
  })

  test.for(['id', 'path', 'namespace_id', 'namespace_path'] as const)(
    'a fork goes to the group named by %s',
    async (by, { world }) => {
      const ann = await world.user()
      const [source, group] = [await readable(world), await world.group({ members: [[ann, 'maintainer']] })]
      const target = by.startsWith('namespace') ? by : 'namespace'
      const made = await fork(ann, source, { [target]: by.endsWith('id') ? group.id : group.full_path })
      // As private as the group.
      expect(made).toMatchObject({ status: 201, json: { namespace: { id: group.id }, visibility: 'private' } })
    },
  )

  test('404 for a fork to a missing namespace or one without permission to create projects', async ({ world }) => {
    const ann = await world.user()
    const [source, group] = [await readable(world), await world.group({ members: [[ann, 'reporter']] })]
    for (const namespace of [group.id, 'no/such', 999_999_999, (await world.user()).username])
      expect(await fork(ann, source, { namespace })).toMatchObject({
        status: 404,
        json: { message: '404 Target Namespace Not Found' },
      })
    expect(await fork(ann, source, { namespace: 1, namespace_id: 1 })).toMatchObject({
      status: 400,
      json: { error: 'namespace, namespace_id are mutually exclusive' },
    })
  })

  test('409 for a second fork to the same namespace', async ({ world }) => {
    const ann = await world.user()
    const source = await readable(world)
    await fork(ann, source)
    expect(await fork(ann, source)).toMatchObject({
      status: 409,
      json: { message: { name: ['has already been taken'], path: ['has already been taken'] } },
    })
    expect(await fork(ann, source, { name: 'Other' })).toMatchObject({
      status: 409,
      json: { message: { path: ['has already been taken'] } },
    })
    expect(await fork(ann, source, { name: '-', path: 'other' })).toMatchObject({ status: 400 })
    expect(await forksCount(world, source)).toBe(1)
  })

  test.for([
    ['anonymous', 'public', 401],
    ['anonymous', 'private', 401],
    ['none', 'public', 201],
    ['none', 'internal', 201],
    ['none', 'private', 404],
    ['guest', 'private', 403],
    ['reporter', 'private', 201],
    ['developer', 'private', 201],
    ['maintainer', 'private', 201],
  ] as const)('forking by %s of a %s project: %i', async ([level, visibility, status], { world }) => {
    const ann = await world.user()
    const isMember = level !== 'anonymous' && level !== 'none'
    const source = await world.project({ visibility, members: isMember ? [[ann, level]] : [] })
    expect((await fork(level === 'anonymous' ? world.anonymous : ann, source)).status).toBe(status)
  })

  test('403 for forking when forks or repository are disabled or for members only', async ({ world }) => {
    const [ann, guest] = [await world.user(), await world.user()]
    const source = await readable(world, { members: [[guest, 'guest']] })
    const set = (how: object) => world.root.put(`/projects/${source.id}`, how)
    await set({ forking_access_level: 'private' })
    expect((await fork(ann, source)).status).toBe(403)
    expect((await fork(guest, source)).status).toBe(201)
    await set({ forking_access_level: 'disabled' })
    expect((await fork(world.root, source)).status).toBe(403)
    const off = { repository_access_level: 'disabled', merge_requests_access_level: 'disabled' }
    await set({ forking_access_level: 'enabled', builds_access_level: 'disabled', ...off })
    expect((await fork(ann, source)).status).toBe(403)
  })

  test('a fork of an archived project is not archived', async ({ world }) => {
    const source = await readable(world)
    await world.archive(source)
    expect(await fork(await world.user(), source)).toMatchObject({ status: 201, json: { archived: false } })
  })

  test('403 for a fork when the project limit of the user is reached', async ({ world }) => {
    const ann = await world.user()
    await changeUser(world, ann.id, { projects_limit: 0 })
    expect((await fork(ann, await readable(world))).status).toBe(403)
  })
})

describe('visibility of forks', () => {
  const above = (level: string) => ({
    status: 400,
    json: {
      message: {
        visibility_level: [`${level} is not allowed since the fork source project has lower visibility.`],
      },
    },
  })
  const visibilityOf = async (world: World, id: number) => (await world.root.get(`/projects/${id}`)).json.visibility
  const set = (world: World, { id }: { id: number }, visibility: string) =>
    world.root.put(`/projects/${id}`, { visibility })

  test('a fork is never more visible than its source', async ({ world }) => {
    const ann = await world.user()
    const source = await world.project({ visibility: 'internal' })
    expect(await fork(ann, source, { visibility: 'public' })).toMatchObject(above('public'))
    const made = (await fork(ann, source)).json
    expect(made.visibility).toBe('internal')
    expect(await set(world, made, 'public')).toMatchObject(above('public'))
    expect((await set(world, made, 'private')).status).toBe(200)
    expect((await set(world, made, 'internal')).status).toBe(200)
  })

  test('a project that becomes a fork stays more visible than its source until its visibility changes', async ({
    world,
  }) => {
    const [project, source] = [await world.project({ visibility: 'public' }), await world.project()]
    const related = await world.root.post(`/projects/${project.id}/fork/${source.id}`)
    expect(related).toMatchObject({ status: 201, json: { visibility: 'public' } })
    expect(await set(world, project, 'internal')).toMatchObject(above('internal'))
    expect((await set(world, project, 'private')).status).toBe(200)
  })

  test('lowering the visibility of a project lowers that of its forks, recursively, with an event of each', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({ visibility: 'public' })
    const source = await world.project({ visibility: 'public', group })
    const one = (await fork(ann, source)).json
    await bringRepository(world, one.id)
    const two = (await fork(bob, one)).json
    await set(world, source, 'internal')
    expect([await visibilityOf(world, one.id), await visibilityOf(world, two.id)]).toEqual(['internal', 'internal'])
    const closed = await world.group()
    await world.root.put(`/projects/${source.id}/transfer`, { namespace: closed.id })
    expect([await visibilityOf(world, one.id), await visibilityOf(world, two.id)]).toEqual(['private', 'private'])
    await set(world, source, 'private')
    expect((await bob.get(`/projects/${one.id}`)).status).toBe(404)
    const lowered = (from_visibility: string, visibility: string) => ({
      payload: { changed: ['visibility'], from_visibility, visibility },
    })
    for (const { id } of [one, two])
      expect(await eventsOf(world, { project: id, kind: 'project_updated' }, 'payload')).toEqual([
        lowered('public', 'internal'),
        lowered('internal', 'private'),
      ])
  })

  test('a fork gets no restricted visibility level', async ({ world }) => {
    const [ann, source] = [await world.user(), await readable(world)]
    await world.settings({ restricted_visibility_levels: ['public'] })
    try {
      expect((await fork(ann, source)).json.visibility).toBe('internal')
      expect((await fork(await world.user(), source, { visibility: 'public' })).status).toBe(400)
      expect((await fork(world.root, source)).json.visibility).toBe('public')
    } finally {
      await world.settings({ restricted_visibility_levels: [] })
    }
  })

  test('a fork is not more visible than its source after concurrent changes', async ({ world }) => {
    const ann = await world.user()
    const source = await world.project({ visibility: 'public' })
    const made = (await fork(ann, source, { visibility: 'private' })).json
    for (let round = 0; round < 5; round++) {
      await Promise.all([set(world, source, 'public'), set(world, made, 'private')])
      await Promise.all([set(world, source, 'private'), set(world, made, 'public'), set(world, made, 'internal')])
      expect(await visibilityOf(world, made.id)).toBe('private')
    }
  })
})

describe('POST /projects/:id/fork/:forked_from_id', () => {
  const relate = (who: Client, project: TestProject, source: { id: number } | { id: string }) =>
    who.post(`/projects/${project.id}/fork/${encodeURIComponent(source.id)}`)

  test('D2-FORK-RELATION: creates the fork relation once, then 409', async ({ world }) => {
    const [project, source, other] = [await world.project(), await readable(world), await readable(world)]
    expect(await relate(world.root, project, source)).toMatchObject({
      status: 201,
      json: { id: project.id, forked_from_project: { id: source.id } },
    })
    expect(await forksCount(world, source)).toBe(1)
    for (const again of [source, other])
      expect(await relate(world.root, project, again)).toMatchObject({
        status: 409,
        json: { message: 'Project already forked' },
      })
  })

  test.for([
    ['none', 404],
    ['maintainer', 403],
    ['owner', 201],
  ] as const)('D2-FORK-RELATION: owners and administrators only: %s gets %i', async ([who, status], { world }) => {
    const ann = await world.user()
    const source = await readable(world)
    const project = await world.project({ group: await world.group({ members: who === 'none' ? [] : [[ann, who]] }) })
    expect((await relate(world.anonymous, project, source)).status).toBe(401)
    expect((await relate(ann, project, source)).status).toBe(status)
    const end = () => ann.delete(`/projects/${project.id}/fork`)
    expect((await end()).status).toBe(status === 201 ? 204 : status)
    expect((await world.anonymous.delete(`/projects/${project.id}/fork`)).status).toBe(401)
  })

  test('201 for a fork relation while a backup runs', async ({ world }) => {
    const [project, source] = [await world.project(), await world.project()]
    await using _hold = await FilesHold.take(world.databaseUrl, () => {})
    expect((await relate(world.root, project, source)).status).toBe(201)
  })

  test('404 for a fork relation with a hidden source, 403 with one that may not be forked', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ group: await world.group({ members: [[ann, 'owner']] }) })
    const hidden = await world.project()
    for (const source of [hidden, { id: 999_999_999 }, { id: 'no/such' }])
      expect(await relate(ann, project, source)).toMatchObject({
        status: 404,
        json: { message: '404 Project Not Found' },
      })
    expect((await relate(ann, project, await world.project({ members: [[ann, 'guest']] }))).status).toBe(403)
  })

  test('400 for a cycle of fork relations', async ({ world }) => {
    const [one, two, three] = [await readable(world), await readable(world), await readable(world)]
    expect((await relate(world.root, one, one)).status).toBe(400)
    await relate(world.root, two, one)
    await relate(world.root, three, two)
    expect((await relate(world.root, one, three)).status).toBe(400)
    const [four, five] = [await readable(world), await readable(world)]
    const both = await Promise.all([relate(world.root, four, five), relate(world.root, five, four)])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400])
  })
})

describe('DELETE /projects/:id/fork', () => {
  test('204 for removing a fork relation, 304 without one', async ({ world }) => {
    const ann = await world.user()
    const source = await readable(world)
    const { id } = (await fork(ann, source)).json
    expect(await ann.delete(`/projects/${id}/fork`)).toMatchObject({ status: 204, text: '' })
    expect(await ann.delete(`/projects/${id}/fork`)).toMatchObject({ status: 304, text: '' })
    expect('forked_from_project' in (await ann.get(`/projects/${id}`)).json).toBe(false)
    expect(await forksCount(world, source)).toBe(0)
    const kinds = await eventsOf(world, { project: id, kind: '%fork%' }, 'kind')
    expect(kinds.map(({ kind }: { kind: string }) => kind)).toEqual(['project_forked', 'fork_unlinked'])
  })
})

describe('forks_count', () => {
  test('forks_count is correct after concurrent forks and removals', async ({ world }) => {
    const people = await Promise.all(Array.from({ length: 5 }, () => world.user()))
    const source = await readable(world)
    const made = await Promise.all(people.flatMap((who) => [fork(who, source), fork(who, source)]))
    const forks = made.filter(({ status }) => status === 201).map(({ json }) => json)
    expect(forks).toHaveLength(5)
    expect(await forksCount(world, source)).toBe(5)
    const [first, second, ...rest] = forks
    await Promise.all([
      world.root.delete(`/projects/${first.id}`),
      world.root.delete(`/projects/${first.id}`),
      world.root.delete(`/projects/${second.id}/fork`),
      world.root.delete(`/projects/${second.id}/fork`),
    ])
    expect(await forksCount(world, source)).toBe(rest.length)
  })

  test('deleting the group of a fork lowers forks_count', async ({ world }) => {
    const [source, group] = [await readable(world), await world.group()]
    const { id } = (await fork(world.root, source, { namespace: group.id })).json
    expect(await forksCount(world, source)).toBe(1)
    await changeProject(world, id, { deleting: true })
    expect(await forksCount(world, source)).toBe(0)
    await deleteProject(world, { id: id })
    expect(await forksCount(world, source)).toBe(0)
  })
})

describe('GET /projects/:id/forks', () => {
  test('forks are listed as the caller can see them, with the filters of projects', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const source = await readable(world)
    const open = (await fork(ann, source, { name: unique('Open') })).json
    const secret = (await fork(bob, source, { visibility: 'private' })).json
    await fork(bob, open, { path: unique('of-a-fork'), name: unique('Fork') })
    const ids = async (who: Client, query = '') => {
      const { json } = await who.get(`/projects/${source.id}/forks?order_by=id&sort=asc${query}`)
      return json.map(({ id }: { id: number }) => id)
    }
    expect(await ids(world.anonymous)).toEqual([open.id])
    expect(await ids(ann)).toEqual([open.id])
    expect(await ids(bob)).toEqual([open.id, secret.id])
    expect(await ids(bob, '&owned=true')).toEqual([secret.id])
    expect(await ids(bob, `&search=${open.name}`)).toEqual([open.id])
    expect(await ids(bob, '&visibility=private&simple=true')).toEqual([secret.id])
    expect(await ids(bob, `&pagination=keyset&per_page=1&id_after=${open.id}`)).toEqual([secret.id])
    expect((await world.anonymous.get(`/projects/${secret.id}/forks`)).status).toBe(404)
  })
})

test('403 for pushes and forks while a fork waits for its repository', async ({ world }) => {
  const ann = await world.user()
  const { id } = (await fork(ann, await readable(world))).json
  const commit = { branch: 'master', content: 'x', commit_message: 'x' }
  expect((await ann.post(`/projects/${id}/repository/files/a.txt`, commit)).status).toBe(403)
  expect((await fork(world.root, { id })).status).toBe(403)
  await bringRepository(world, id)
  expect((await ann.post(`/projects/${id}/repository/files/a.txt`, commit)).status).toBe(201)
})
