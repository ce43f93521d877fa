import { describe, expect } from 'vitest'
import { agePipeline, startStatuses, storeStatuses } from '../../../../test/tables/ci.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { reported, reportPath } from '../../repository/commit-statuses/testing.ts'
import type { StoredProject } from '../../repository/commits/testing.ts'

const report = async (world: World, project: StoredProject, sha: string, body: object, who: Client = world.root) => {
  const made = await who.post(reportPath(project, sha), body)
  expect(made.status, made.text).toBe(201)
  return made.json.pipeline_id as number
}

/** Pipelines: `first` failed on main, `second` succeeded on feature and runs on tag v1, the last by ann. */
async function several(world: World) {
  const { project, first, second } = await reported(world)
  project.repository.git('tag', 'v1', second)
  const ann = await world.user({ admin: true })
  const failed = await report(world, project, first, { state: 'failed', ref: 'main' })
  const passed = await report(world, project, second, { state: 'success', ref: 'feature' })
  const running = await report(world, project, second, { state: 'running', ref: 'v1' }, ann)
  return { project, first, second, ann, failed, passed, running }
}

describe('GET /projects/:id/pipelines', () => {
  test('pipelines are listed newest first, with filters, orders and pages', async ({ world }) => {
    const { project, first, second, ann, failed, passed, running } = await several(world)
    await report(world, project, first, { state: 'canceled', ref: 'main' })
    const ids = async (query = '') => {
      const { status, json } = await world.root.get(`/projects/${project.id}/pipelines?${query}`)
      expect(status, query).toBe(200)
      return json.map(({ id }: any) => id)
    }
    expect(await ids()).toEqual([running, passed, failed])
    expect(await ids('sort=asc')).toEqual([failed, passed, running])
    expect(await ids('status=success')).toEqual([passed])
    expect(await ids('ref=main')).toEqual([failed])
    expect(await ids(`sha=${second}`)).toEqual([running, passed])
    expect(await ids(`username=${ann.username}`)).toEqual([running])
    expect(await ids('username=no-such-user')).toEqual([])
    expect(await ids('username=&ref=&sha='), 'what is empty filters nothing').toEqual(await ids(''))
    expect(await ids('scope=running')).toEqual([running])
    expect(await ids('scope=pending')).toEqual([])
    expect(await ids('scope=finished')).toEqual([passed, failed])
    expect(await ids('scope=tags')).toEqual([running])
    expect(await ids('scope=branches')).toEqual([passed, failed])
    expect(await ids('order_by=updated_at')).toEqual([failed, running, passed])
    expect(await ids('order_by=ref&sort=asc')).toEqual([passed, failed, running])
    expect(await ids('order_by=status&sort=asc')).toEqual([failed, running, passed])
    expect(await ids('order_by=user_id')).toEqual([running, passed, failed])
    expect(await ids('per_page=2&page=2')).toEqual([failed])
    expect(await ids('pagination=keyset&per_page=2')).toEqual([running, passed])
    await agePipeline(world, passed)
    expect(await ids('updated_before=2020-01-03T00:00:00Z')).toEqual([passed])
    expect(await ids('updated_after=2020-01-03T00:00:00Z')).toEqual([running, failed])
    expect(await world.root.get(`/projects/${project.id}/pipelines?order_by=sha`)).toMatchObject({
      status: 400,
      json: { error: 'order_by does not have a valid value' },
    })
  })

  test('pipelines with scope=branches are the newest of each existing branch', async ({ world }) => {
    const { project, first, second } = await reported(world)
    const old = await report(world, project, first, { state: 'success', ref: 'main' })
    const now = await report(world, project, second, { state: 'success', ref: 'main' })
    await report(world, project, second, { state: 'success', ref: 'feature' })
    project.repository.git('branch', '-D', 'feature')
    const ids = (await world.root.get(`/projects/${project.id}/pipelines?scope=branches`)).json.map(({ id }: any) => id)
    expect(ids).toEqual([now])
    expect(ids).not.toContain(old)
  })

  test('a pipeline record has an iid of its project', async ({ world }) => {
    const { project, first, failed } = await several(world)
    const all = (await world.root.get(`/projects/${project.id}/pipelines`)).json
    expect(all.map(({ iid }: any) => iid)).toEqual([3, 2, 1])
    expect(all[2]).toEqual({
      id: failed,
      iid: 1,
      project_id: project.id,
      sha: first,
      ref: 'main',
      status: 'failed',
      source: 'external',
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      web_url: `${world.origin}/${project.full_path}/-/pipelines/${failed}`,
    })
  })
})

describe('GET /projects/:id/pipelines/:pipeline_id', () => {
  test('a pipeline has its times, its user and the mean coverage', async ({ world }) => {
    const { project, second } = await reported(world)
    const post = (name: string, state: string, coverage?: number) =>
      report(world, project, second, { state, name, ref: 'main', coverage })
    const id = await post('a', 'pending')
    const shown = async () => (await world.root.get(`/projects/${project.id}/pipelines/${id}`)).json
    expect(await shown()).toMatchObject({ status: 'pending', started_at: null, finished_at: null, coverage: null })
    await post('a', 'running', 90)
    const running = await shown()
    expect(running).toMatchObject({ status: 'running', started_at: expect.any(String), duration: null })
    // Job a runs for a minute, and b for the second half of it.
    await post('b', 'running', 80.5)
    await startStatuses(world, id)
    await post('b', 'failed')
    await post('a', 'success')
    expect(await shown()).toMatchObject({
      status: 'failed',
      tag: false,
      before_sha: '0'.repeat(40),
      user: { id: 1, username: 'root' },
      started_at: running.started_at,
      finished_at: expect.any(String),
      duration: expect.closeTo(60, -0.7),
      coverage: '85.25',
      detailed_status: { text: 'failed', icon: 'status_failed' },
    })
    await post('b', 'running')
    expect(await shown()).toMatchObject({ status: 'running', finished_at: null, started_at: running.started_at })
  })

  test('a pipeline of which no status ran has no duration', async ({ world }) => {
    const { project, second } = await reported(world)
    const id = await report(world, project, second, { state: 'canceled', name: 'a', ref: 'main' })
    const shown = await world.root.get(`/projects/${project.id}/pipelines/${id}`)
    expect(shown.json).toMatchObject({ status: 'canceled', duration: null })
  })

  test('a pipeline whose stored statuses ran for a century, with any number as coverage, is read and reported on', async ({
    world,
  }) => {
    const { project, second } = await reported(world)
    const post = (name: string, state: string) => report(world, project, second, { state, name, ref: 'main' })
    const id = await post('a', 'success')
    await post('b', 'success')
    const [started_at, finished_at] = ['1900-01-01T00:00:00Z', '2020-01-01T00:00:00Z']
    await storeStatuses(world, id, { started_at, finished_at, coverage: 1.7e308 })
    expect(await post('c', 'failed')).toBe(id)
    const shown = await world.root.get(`/projects/${project.id}/pipelines/${id}`)
    expect(shown).toMatchObject({ status: 200, json: { duration: 2147483647, coverage: null } })
  })

  test('404 for a pipeline of another project', async ({ world }) => {
    const [{ project, failed }, other] = [await several(world), await reported(world)]
    for (const id of [failed, 0, -1, 2147483647])
      for (const path of ['', '/jobs'])
        expect(await world.root.get(`/projects/${other.project.id}/pipelines/${id}${path}`)).toMatchObject({
          status: 404,
          json: { message: '404 Not found' },
        })
    expect(await world.root.get(`/projects/${project.id}/pipelines/${failed}`)).toMatchObject({ status: 200 })
  })
})

describe('GET /projects/:id/pipelines/latest', () => {
  test('the latest pipeline is the newest of the commit at a ref', async ({ world }) => {
    const { project, first, second, passed, running } = await several(world)
    const latest = (ref?: string) =>
      world.root.get(`/projects/${project.id}/pipelines/latest${ref === undefined ? '' : `?ref=${ref}`}`)
    // The pipeline of main belongs to an earlier commit.
    expect(await latest()).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    const main = await report(world, project, second, { state: 'success', ref: 'main' })
    expect(await latest()).toMatchObject({ status: 200, json: { id: main, sha: second } })
    expect(await latest('feature')).toMatchObject({ json: { id: passed } })
    expect(await latest('v1')).toMatchObject({ json: { id: running, tag: true } })
    for (const ref of ['nope', first, 'HEAD', '%2D%2Dx']) expect(await latest(ref), ref).toMatchObject({ status: 404 })
  })
})

describe('jobs of pipelines', () => {
  test('jobs are the statuses of a project or pipeline, newest first', async ({ world }) => {
    const { project, first, second } = await reported(world)
    const post = (name: string, state: string, sha: string = second) =>
      report(world, project, sha, { name, state, ref: 'main' })
    const id = await post('a', 'failed')
    await post('a', 'running')
    await post('b', 'success')
    await post('c', 'pending', first)
    const names = async (path: string) => {
      const { status, json } = await world.root.get(`/projects/${project.id}/${path}`)
      expect(status, path).toBe(200)
      return json.map(({ name, status: is }: any) => `${name} ${is}`).join(', ')
    }
    expect(await names('jobs')).toBe('c pending, b success, a running, a failed')
    expect(await names('jobs?scope=failed')).toBe('a failed')
    expect(await names('jobs?scope[]=failed&scope[]=pending')).toBe('c pending, a failed')
    expect(await names('jobs?per_page=1&page=2')).toBe('b success')
    expect(await names(`pipelines/${id}/jobs`)).toBe('b success, a running')
    expect(await names(`pipelines/${id}/jobs?scope[]=success`)).toBe('b success')
    expect(await names(`pipelines/${id}/jobs?include_retried=true`)).toBe('b success, a running, a failed')
    expect(await world.root.get(`/projects/${project.id}/jobs?scope=done`)).toMatchObject({
      status: 400,
      json: { error: 'scope does not have a valid value' },
    })
    const [b, running] = (await world.root.get(`/projects/${project.id}/pipelines/${id}/jobs`)).json
    expect(b).toMatchObject({
      stage: 'external',
      ref: 'main',
      tag: false,
      failure_reason: null,
      duration: null,
      user: { id: 1 },
      commit: { id: second, title: expect.any(String) },
      pipeline: { id, sha: second, ref: 'main', status: 'running' },
    })
    expect(running).toMatchObject({ duration: expect.any(Number), queued_duration: expect.any(Number) })
    expect(await world.root.get(`/projects/${project.id}/jobs/${b.id}`)).toMatchObject({ status: 200, json: b })
    const { project: another } = await reported(world)
    expect(await world.root.get(`/projects/${project.id}/jobs/${b.id}/trace`)).toMatchObject({
      status: 200,
      text: '',
      headers: { 'content-type': 'text/plain' },
    })
    for (const path of [
      `/projects/${another.id}/jobs/${b.id}`,
      `/projects/${another.id}/jobs/${b.id}/trace`,
      `/projects/${project.id}/jobs/0`,
    ])
      expect(await world.root.get(path)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
  })
})

test('bridges of a pipeline are empty, as glab requests them', async ({ world }) => {
  const { project, second } = await reported(world)
  const id = await report(world, project, second, { name: 'a', state: 'failed', ref: 'main' })
  const bridges = (pipeline: number) => world.root.get(`/projects/${project.id}/pipelines/${pipeline}/bridges`)
  expect(await bridges(id)).toMatchObject({ status: 200, json: [] })
  expect((await bridges(id)).headers['x-total']).toBe('0')
  expect(await bridges(0)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
})

describe('access to pipelines and jobs', () => {
  test.for([
    ['public', true, 'pipelines', { anonymous: 200, stranger: 200, guest: 200, reporter: 200 }],
    ['public', false, 'pipelines', { anonymous: 200, stranger: 200, guest: 200, reporter: 200 }],
    ['private', true, 'pipelines', { anonymous: 404, stranger: 404, guest: 200, reporter: 200 }],
    ['private', false, 'pipelines', { anonymous: 404, stranger: 404, guest: 403, reporter: 200 }],
    ['public', true, 'jobs', { anonymous: 401, stranger: 200, guest: 200, reporter: 200 }],
    ['public', false, 'jobs', { anonymous: 401, stranger: 403, guest: 403, reporter: 200 }],
    ['private', true, 'jobs', { anonymous: 401, stranger: 404, guest: 200, reporter: 200 }],
    ['private', false, 'jobs', { anonymous: 401, stranger: 404, guest: 403, reporter: 200 }],
  ] as const)(
    '%s project, public jobs %s: access to its %s',
    async ([visibility, public_builds, path, expected], { world }) => {
      const [stranger, guest, reporter] = [await world.user(), await world.user(), await world.user()]
      const members: [Client, Level][] = [
        [guest, 'guest'],
        [reporter, 'reporter'],
      ]
      const { project } = await reported(world, { visibility, members })
      await world.root.put(`/projects/${project.id}`, { public_builds })
      for (const [name, who] of Object.entries({ anonymous: world.anonymous, stranger, guest, reporter }))
        expect((await who.get(`/projects/${project.id}/${path}`)).status, name).toBe(expected[name as 'guest'])
      expect((await world.root.get(`/projects/${project.id}/${path}`)).status).toBe(200)
      await changeProject(world, project.id, { builds_access_level: 10 })
      for (const who of [world.anonymous, stranger])
        expect((await who.get(`/projects/${project.id}/${path}`)).status).toBeOneOf([401, 403, 404])
      expect((await reporter.get(`/projects/${project.id}/${path}`)).status).toBe(200)
      await changeProject(world, project.id, { builds_access_level: 0 })
      expect((await world.root.get(`/projects/${project.id}/${path}`)).status).toBe(403)
    },
  )
})

test('jobs show their commit only to those who may read the code: not to guests of a private project', async ({
  world,
}) => {
  const [guest, reporter] = [await world.user(), await world.user()]
  const { project, second } = await reported(world, {
    visibility: 'private',
    members: [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ],
  })
  const pipeline = await report(world, project, second, { name: 'a', state: 'failed', ref: 'main' })
  const [job] = (await world.root.get(`/projects/${project.id}/jobs`)).json
  expect((await guest.get(`/projects/${project.id}/repository/commits/${second}`)).status).toBe(403)
  for (const path of ['jobs', `jobs/${job.id}`, `pipelines/${pipeline}/jobs`]) {
    const shownTo = async (who: Client) => [(await who.get(`/projects/${project.id}/${path}`)).json].flat()[0]
    expect(await shownTo(guest), path).toMatchObject({ name: 'a', commit: null, pipeline: { sha: second } })
    expect(await shownTo(reporter), path).toMatchObject({ name: 'a', commit: { id: second } })
  }
})
