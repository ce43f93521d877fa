import { describe, expect } from 'vitest'
import { addOldEnvironments, ageEnvironment, environmentRow } from '../../../../test/tables/ci.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { deleteProject } from '../../../../test/tables/projects.ts'
import { test, type World } from '../../../../test/world.ts'
import { slugOf, tierOf } from './names.ts'

async function withEnvironments(world: World, ...names: string[]) {
  const [developer, reporter] = await Promise.all([world.user(), world.user()])
  const project = await world.project({
    members: [
      [developer, 'developer'],
      [reporter, 'reporter'],
    ],
  })
  const at = `/projects/${project.id}/environments`
  const ids: number[] = []
  for (const name of names) ids.push((await developer.post(at, { name })).json.id)
  return { project, developer, reporter, at, ids }
}

describe('environments', () => {
  test('an environment is created, edited, stopped and deleted', async ({ world }) => {
    const { project, developer, at } = await withEnvironments(world)
    const made = await developer.post(at, { name: 'production', external_url: 'https://live.example' })
    expect(made).toMatchObject({
      status: 201,
      json: {
        name: 'production',
        slug: 'production',
        external_url: 'https://live.example',
        description: null,
        tier: 'production',
        state: 'available',
      },
    })
    const own = `${at}/${made.json.id}`
    expect((await developer.get(own)).json).toEqual({ ...made.json, last_deployment: null })
    const changes = { name: 'live', external_url: '', description: 'The shop', tier: 'other' }
    const edited = { ...changes, external_url: null, slug: 'production' }
    expect(await developer.put(own, changes)).toMatchObject({ status: 200, json: edited })
    expect(await developer.delete(own)).toMatchObject({ status: 403 })
    expect((await developer.post(`${own}/stop`)).json.state).toBe('stopped')
    expect((await developer.post(`${own}/stop`)).json.state).toBe('stopped')
    expect((await developer.delete(own)).status).toBe(204)
    expect((await developer.get(own)).status).toBe(404)
    const kinds = await eventsOf(world, { project: project.id, kind: 'environment%' }, 'kind')
    expect(kinds.map(({ kind }) => kind)).toEqual(
      ['created', 'updated', 'stopped', 'deleted'].map((change) => `environment_${change}`),
    )
  })

  test('environments are listed oldest first, by name, part of the name and state', async ({ world }) => {
    const { developer, at, ids } = await withEnvironments(world, 'review/one', 'review/two', 'live')
    await developer.post(`${at}/${ids[0]}/stop`)
    const found = async (query: string) =>
      (await developer.get(`${at}?${query}`)).json.map(({ id }: { id: number }) => ids.indexOf(id))
    expect(await found('')).toEqual([0, 1, 2])
    expect(await found('name=live')).toEqual([2])
    expect(await found('search=REVIEW')).toEqual([0, 1])
    expect(await found('search=w%25o')).toEqual([])
    expect(await found('states=stopped')).toEqual([0])
    expect(await found('states=available&search=review')).toEqual([1])
    expect(await found('per_page=2&page=2')).toEqual([2])
    expect((await developer.get(`${at}?search=re`)).status).toBe(400)
    expect((await developer.get(`${at}?name=a&search=review`)).status).toBe(400)
  })

  test.for([
    [{ name: 'a b!' }, 'name'],
    [{ name: '/a' }, 'name'],
    [{ name: 'a/' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'fine', external_url: 'javascript:alert(1)' }, 'external_url'],
    [{ name: 'fine', external_url: 'example' }, 'external_url'],
    [{ name: 'taken' }, 'name'],
  ] as const)('400 for the environment %j', async ([body, field], { world }) => {
    const { developer, at } = await withEnvironments(world, 'taken')
    expect(await developer.post(at, body)).toMatchObject({
      status: 400,
      json: { message: { [field]: [expect.any(String)] } },
    })
  })

  test('of two environments created at once with one name, one is refused', async ({ world }) => {
    const { developer, at } = await withEnvironments(world)
    const made = await Promise.all([developer.post(at, { name: 'live' }), developer.post(at, { name: 'live' })])
    expect(made.map(({ status }) => status).sort()).toEqual([201, 400])
  })

  test('400 if another environment has the name, or the slug of a name that was changed', async ({ world }) => {
    const { developer, at, ids } = await withEnvironments(world, 'live', 'test')
    expect((await developer.put(`${at}/${ids[1]}`, { name: 'live' })).status).toBe(400)
    expect((await developer.put(`${at}/${ids[0]}`, { name: 'shop' })).status).toBe(200)
    expect((await developer.post(at, { name: 'live' })).json.message).toEqual({ slug: ['has already been taken'] })
  })

  test('403 for a reporter who changes environments, which they may read', async ({ world }) => {
    const { reporter, at, ids } = await withEnvironments(world, 'live')
    expect((await reporter.get(`${at}/${ids[0]}`)).status).toBe(200)
    expect((await reporter.post(at, { name: 'x' })).status).toBe(403)
    expect((await reporter.post(`${at}/${ids[0]}/stop`)).status).toBe(403)
  })

  test('404 for an environment of another project', async ({ world }) => {
    const { ids } = await withEnvironments(world, 'live')
    const { developer, at } = await withEnvironments(world)
    expect((await developer.get(`${at}/${ids[0]}`)).status).toBe(404)
    expect((await developer.put(`${at}/${ids[0]}`, { name: 'x' })).status).toBe(404)
  })

  test('environments are deleted with their project', async ({ world }) => {
    const { project, ids } = await withEnvironments(world, 'live')
    await deleteProject(world, { id: project.id })
    expect(await environmentRow(world, ids[0]!)).toEqual([])
  })
})

test.for([
  ['production', 'production'],
  ['review/login', /^review-login-[a-z0-9]{6}$/],
  ['1st', /^env-1st-[a-z0-9]{6}$/],
  ['a-very-long-name-of-an-environment', /^a-very-long-name-[a-z0-9]{6}$/],
  ['Live', /^live-[a-z0-9]{6}$/],
  ['live-', /^live-[a-z0-9]{6}$/],
] as const)('the slug of %j is a name for hosts: %s', ([name, slug]) => {
  expect(slugOf(name)).toMatch(typeof slug === 'string' ? new RegExp(`^${slug}$`) : slug)
  expect(slugOf(name).length).toBeLessThanOrEqual(24)
})

test.for([
  ['prod', 'production'],
  ['live/eu', 'production'],
  ['staging', 'staging'],
  ['qa', 'testing'],
  ['review/x', 'development'],
  ['gl', 'other'],
] as const)('the tier of %j is %s', ([name, tier]) => {
  expect(tierOf(name)).toBe(tier)
})

describe('POST /projects/:id/environments/stop_stale', () => {
  test('environments without change and deployment since a time are stopped at once', async ({ world }) => {
    const names = ['old', 'deployed', 'new', 'stopped']
    const { project, developer, reporter, at, ids } = await withEnvironments(world, ...names)
    const [old, deployed, , stopped] = ids
    await developer.post(`${at}/${stopped}/stop`)
    const commit = {
      branch: 'main',
      commit_message: 'First',
      actions: [{ action: 'create', file_path: 'a', content: '' }],
    }
    const sha = (await world.root.post(`/projects/${project.id}/repository/commits`, commit)).json.id
    const deployment = { environment: 'deployed', sha, ref: 'main', status: 'success' }
    expect((await developer.post(`/projects/${project.id}/deployments`, deployment)).status).toBe(201)
    for (const id of [old!, deployed!, stopped!]) await ageEnvironment(world, id)
    const stale = { before: '2021-01-01T00:00:00Z' }
    expect((await reporter.post(`${at}/stop_stale`, stale)).status).toBe(403)
    expect(await developer.post(`${at}/stop_stale`, stale)).toMatchObject({
      status: 200,
      json: { message: 'Successfully requested stop for all stale environments' },
    })
    const states = (await developer.get(at)).json.map(({ state }: { state: string }) => state)
    expect(states).toEqual(['stopped', 'available', 'available', 'stopped'])
    const kinds = await eventsOf(world, { project: project.id, kind: 'environment_stopped' }, 'kind')
    expect(kinds).toHaveLength(2)
  })

  test('more environments than one transaction stops are stopped', async ({ world }) => {
    const { project, developer, at } = await withEnvironments(world)
    await addOldEnvironments(world, project.id, 101)
    expect((await developer.post(`${at}/stop_stale`, { before: '2021-01-01' })).status).toBe(200)
    expect(await developer.get(`${at}?states=available`)).toMatchObject({ json: [] })
  })

  test.for([
    ['tomorrow', 1],
    ['yesterday', -1],
    ['eleven years ago', -11 * 365],
  ] as const)('400 when stale environments are to be stopped since %s', async ([, days], { world }) => {
    const { developer, at } = await withEnvironments(world)
    const before = new Date(Date.now() + days * 86_400_000).toISOString()
    expect(await developer.post(`${at}/stop_stale`, { before })).toMatchObject({ status: 400 })
  })
})
