import { describe, expect } from 'vitest'
import { latestStatus, pipelinesOf, statusesOf } from '../../../../test/tables/ci.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeProject, deleteProject } from '../../../../test/tables/projects.ts'
import { deleteUser } from '../../../../test/tables/users.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import { hostileRefs, type StoredProject } from '../commits/testing.ts'
import { reported, reportPath, statusesPath } from './testing.ts'

const report = (world: World, project: StoredProject, sha: string, body: object) =>
  world.root.post(reportPath(project, sha), body)

describe('POST /projects/:id/statuses/:sha', () => {
  test('D1-STATUS-STATE-VS-STATUS D1-STATUS-COVERAGE: a report becomes a status of the commit', async ({ world }) => {
    const { project, second } = await reported(world)
    const ann = await world.user()
    await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 30 })
    const made = await ann.post(reportPath(project, second), {
      state: 'success',
      ref: 'main',
      name: 'build',
      target_url: 'https://ci.example.com/1',
      description: 'All well',
      coverage: 87.5,
    })
    expect(made).toMatchObject({
      status: 201,
      json: {
        sha: second,
        ref: 'main',
        status: 'success',
        name: 'build',
        target_url: 'https://ci.example.com/1',
        description: 'All well',
        coverage: 87.5,
        allow_failure: false,
        started_at: null,
        finished_at: expect.stringMatching(/^\d{4}-.*Z$/),
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        author: { id: ann.id, username: ann.username, state: 'active' },
      },
    })
    expect(made.json).not.toHaveProperty('state')
    expect(Object.keys(made.json.author).sort()).toEqual(['avatar_url', 'id', 'name', 'state', 'username', 'web_url'])
    expect((await world.root.get(statusesPath(project, second))).json).toEqual([made.json])
    const bare = await report(world, project, second, { state: 'pending', name: 'bare' })
    expect(bare.json).toMatchObject({ coverage: null, target_url: null, description: null, finished_at: null })
  })

  test('D1-STATUS-NAME-CONTEXT: context is an alias of name, and the default is `default`', async ({ world }) => {
    const { project, second } = await reported(world)
    const name = async (body: object) => (await report(world, project, second, { state: 'success', ...body })).json.name
    expect(await name({})).toBe('default')
    expect(await name({ context: 'ci/x' })).toBe('ci/x')
    expect(await name({ name: 'ci/x' })).toBe('ci/x')
    expect(await name({ name: 'wins', context: 'loses' })).toBe('wins')
    const names = (await world.root.get(statusesPath(project, second))).json.map((each: any) => each.name)
    expect(names).toEqual(['default', 'ci/x', 'wins'])
  })

  test('D1-STATUS-UPSERT: an unfinished status is updated, a finished one is followed by a new one', async ({
    world,
  }) => {
    const { project, second } = await reported(world)
    const post = async (state: string, more = {}) => (await report(world, project, second, { state, ...more })).json
    const pending = await post('pending', { target_url: 'http://a.example.com', description: 'Soon', coverage: 1 })
    expect(pending).toMatchObject({ status: 'pending', started_at: null })
    const running = await post('running', { description: 'Now' })
    expect(running).toMatchObject({
      id: pending.id,
      status: 'running',
      started_at: expect.any(String),
      finished_at: null,
      target_url: 'http://a.example.com',
      description: 'Now',
      coverage: 1,
    })
    const done = await post('failed')
    expect(done).toMatchObject({ id: pending.id, status: 'failed', started_at: running.started_at })
    expect(done.finished_at >= done.started_at).toBe(true)
    for (const [from, to] of [
      ['failed', 'pending'],
      ['canceled', 'running'],
      ['success', 'canceled'],
      ['success', 'success'],
    ] as const) {
      const name = `${from}-${to}`
      const before = await post(from, { name })
      const after = await post(to, { name })
      expect(after, name).toMatchObject({ status: to })
      expect(after.id, name).toBeGreaterThan(before.id)
    }
  })

  test('D1-STATUS-UPSERT: a repeated or earlier state updates the status', async ({ world }) => {
    const { project, second } = await reported(world)
    for (const [first, next] of [
      ['pending', 'pending'],
      ['running', 'pending'],
      ['running', 'running'],
    ] as const) {
      const name = `${first}-${next}`
      const before = (await report(world, project, second, { state: first, name })).json
      const after = await report(world, project, second, { state: next, name, description: 'x' })
      expect(after, name).toMatchObject({
        status: 201,
        json: { ...before, status: next, description: 'x', started_at: next === 'pending' ? null : before.started_at },
      })
      expect((await world.root.get(`${statusesPath(project, second)}?name=${name}`)).json).toEqual([after.json])
    }
  })

  test('another user or ref gets a separate status', async ({ world }) => {
    const { project, second } = await reported(world)
    const ann = await world.user({ admin: true })
    const one = (await report(world, project, second, { state: 'running', ref: 'main' })).json
    const other = (await report(world, project, second, { state: 'running', ref: 'feature' })).json
    const otherUsers = (await ann.post(reportPath(project, second), { state: 'running', ref: 'main' })).json
    expect(new Set([one.id, other.id, otherUsers.id]).size).toBe(3)
    expect(one.pipeline_id).toBe(otherUsers.pipeline_id)
    expect(one.pipeline_id).not.toBe(other.pipeline_id)
  })

  test('the default ref is that of the newest pipeline, else the first branch with the commit', async ({ world }) => {
    const { project, first, second } = await reported(world)
    const ref = async (sha: string, body = {}) =>
      (await report(world, project, sha, { state: 'success', ...body })).json
    expect(await ref(second)).toMatchObject({ ref: 'feature' })
    await ref(first, { ref: 'main' })
    expect(await ref(first)).toMatchObject({ ref: 'main' })
    expect(await ref('main', { ref: 'refs/heads/main' })).toMatchObject({ sha: second, ref: 'main' })
    project.repository.git('tag', 'v1', first)
    expect(await ref(first.slice(0, 9), { ref: 'v1' })).toMatchObject({ sha: first, ref: 'v1' })
    const lost = project.repository.commit({ 'c.txt': 'c' }, { branch: 'gone' })
    project.repository.git('branch', '-D', 'gone')
    const missing = { status: 404, json: { message: '404 References for commit Not Found' } }
    expect(await report(world, project, lost, { state: 'success' })).toMatchObject(missing)
    expect(await report(world, project, lost, { state: 'success', ref: 'gone' })).toMatchObject(missing)
  })

  test('a deleted branch can still be reported on where it was before', async ({ world }) => {
    const { project, second } = await reported(world)
    await report(world, project, second, { state: 'running', ref: 'feature' })
    project.repository.git('branch', '-D', 'feature')
    expect(await report(world, project, second, { state: 'success', ref: 'feature' })).toMatchObject({ status: 201 })
  })

  test('D1-STATUS-PIPELINE: pipeline_id selects a pipeline; an unknown one creates another', async ({ world }) => {
    const { project, second } = await reported(world)
    const post = async (body: object) => (await report(world, project, second, { state: 'running', ...body })).json
    const one = (await post({ ref: 'main', name: 'a' })).pipeline_id
    const two = (await post({ ref: 'main', name: 'a', pipeline_id: 2147483647 })).pipeline_id
    expect(two).toBeGreaterThan(one)
    expect(await post({ name: 'b', pipeline_id: one })).toMatchObject({ pipeline_id: one })
    expect(await post({ name: 'c', pipeline_id: two })).toMatchObject({ pipeline_id: two })
    expect(await post({ name: 'd' })).toMatchObject({ pipeline_id: two })
    const elsewhere = await reported(world)
    const { json } = await report(world, elsewhere.project, elsewhere.second, { state: 'running', pipeline_id: one })
    expect(json.pipeline_id).not.toBe(one)
  })

  test('concurrent reports of one status create one row and true responses', async ({ world }) => {
    const { project, second } = await reported(world)
    const race = (state: string, name: string) =>
      Promise.all(Array.from({ length: 8 }, () => report(world, project, second, { state, name })))
    const started = await race('running', 'begin')
    expect(started.map(({ status, json }) => [status, json.id])).toEqual(Array(8).fill([201, started[0]!.json.id]))
    const ended = await race('success', 'end')
    expect(ended.map(({ status }) => status)).toEqual(Array(8).fill(201))
    const latest = (await world.root.get(statusesPath(project, second))).json
    expect(latest.map(({ name, id }: any) => [name, id])).toEqual([
      ['begin', started[0]!.json.id],
      ['end', Math.max(...ended.map(({ json }) => json.id))],
    ])
    expect(new Set([...ended, ...started].flatMap(({ json }) => json.pipeline_id ?? [])).size).toBe(1)
    const names = Array.from({ length: 12 }, (_, index) => `job-${index}`)
    await Promise.all(names.map((name) => report(world, project, second, { state: 'failed', name })))
    const pipelines = (await world.root.get(`/projects/${project.id}/pipelines`)).json
    expect(pipelines).toMatchObject([{ status: 'running' }])
  })

  test('concurrent pipelines of several commits get distinct iids', async ({ world }) => {
    const { project } = await reported(world)
    const shas = Array.from({ length: 8 }, (_, index) => project.repository.commit({ n: `${index}` }))
    const made = await Promise.all(shas.map((sha) => report(world, project, sha, { state: 'success', ref: 'main' })))
    expect(made.map(({ status }) => status)).toEqual(Array(8).fill(201))
    const iids = (await world.root.get(`/projects/${project.id}/pipelines`)).json.map(({ iid }: any) => iid)
    expect(iids).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
  })

  test('400 for reports without required or with invalid parameters', async ({ world }) => {
    const { project, second } = await reported(world)
    const post = (body: object, sha: string = second) => report(world, project, sha, { state: 'success', ...body })
    for (const [body, error] of [
      [{ state: null }, 'state is missing'],
      [{ state: 'skipped' }, 'state does not have a valid value'],
      [{ coverage: 'much' }, 'coverage is invalid'],
      [{ coverage: 100.1 }, 'coverage does not have a valid value'],
      [{ pipeline_id: 'x' }, 'pipeline_id is invalid'],
    ] as const)
      expect(await post(body), error).toMatchObject({ status: 400, json: { error } })
    const long = 'x'.repeat(256)
    const tooLong = 'is too long (maximum is 255 characters)'
    for (const [body, message] of [
      [{ target_url: 'http://' }, { target_url: ['must be a valid URL'] }],
      [{ target_url: 'no url' }, { target_url: ['must be a valid URL'] }],
      [{ target_url: 'http://x/\u0001' }, { target_url: ['must be a valid URL'] }],
      [{ target_url: 'javascript:alert(1)' }, { target_url: ['is blocked: Only allowed schemes are http, https'] }],
      [{ target_url: `http://x/${long}` }, { target_url: [tooLong] }],
      [
        { description: long, name: long },
        { name: [tooLong], description: [tooLong] },
      ],
      [{ name: ' ' }, { name: ["can't be blank"] }],
    ] as const)
      expect(await post(body), JSON.stringify(message)).toMatchObject({ status: 400, json: { message } })
    expect(await post({}, 'nope')).toMatchObject({ status: 404, json: { message: '404 Commit Not Found' } })
    expect((await world.root.get(statusesPath(project, second))).json).toEqual([])
  })

  test('4xx for hostile names of commits and refs in reports, without side effects', async ({ world }) => {
    const { project, second } = await reported(world)
    for (const ref of hostileRefs) {
      const label = JSON.stringify(ref.slice(0, 60))
      expect((await report(world, project, ref, { state: 'success' })).status, label).toBeOneOf([400, 404, 405, 414])
      expect((await report(world, project, second, { state: 'success', ref })).status, label).toBeOneOf([400, 404])
      expect((await world.root.get(statusesPath(project, ref))).status, label).toBeOneOf([400, 404, 414])
    }
    expect((await world.root.get(`/projects/${project.id}/pipelines`)).json).toEqual([])
  })

  test('reporting a status is for developers and up', async ({ world }) => {
    const who = { stranger: await world.user() } as Record<string, Client>
    const roles = ['guest', 'reporter', 'developer', 'maintainer'] as const
    for (const role of [...roles, 'owner']) who[role] = await world.user()
    const members = roles.map((role): [Client, Level] => [who[role]!, role])
    for (const [visibility, stranger] of [
      ['public', 403],
      ['private', 404],
    ] as const) {
      const { project, second } = await reported(world, { visibility, members })
      const group = encodeURIComponent(project.full_path.split('/')[0]!)
      await world.root.post(`/groups/${group}/members`, { user_id: who['owner']!.id, access_level: 50 })
      const all = { anonymous: world.anonymous, ...who, admin: world.root }
      const post = async () => {
        const got: Record<string, number> = {}
        for (const [name, client] of Object.entries(all))
          got[name] = (await client.post(reportPath(project, second), { state: 'success' })).status
        return got
      }
      const few = { anonymous: 401, stranger, guest: 403, reporter: 403 }
      expect(await post()).toEqual({ ...few, developer: 201, maintainer: 201, owner: 201, admin: 201 })
      await changeProject(world, project.id, { archived: true })
      expect(await post()).toEqual({ ...few, developer: 403, maintainer: 403, owner: 403, admin: 403 })
      expect(await who['reporter']!.get(statusesPath(project, second))).toMatchObject({ status: 200 })
    }
  })

  test('status and pipeline events are emitted on each change, not on repetitions', async ({ world }) => {
    const { project, second } = await reported(world)
    for (const state of ['pending', 'running', 'running', 'success'])
      await report(world, project, second, { state, ref: 'main', name: 'build', coverage: 50 })
    const events = await eventsOf(world, { project: project.id, kind: '%changed' }, 'kind', 'actor_id', 'payload')
    expect(events.map(({ kind, payload }) => [kind, payload.previous_status, payload.status])).toEqual([
      ['commit_status_changed', null, 'pending'],
      ['pipeline_changed', 'created', 'pending'],
      ['commit_status_changed', 'pending', 'running'],
      ['pipeline_changed', 'pending', 'running'],
      ['commit_status_changed', 'running', 'success'],
      ['pipeline_changed', 'running', 'success'],
    ])
    const [{ id: status_id, pipeline_id }] = await latestStatus(world, project.id)
    expect(events[4]).toMatchObject({ actor_id: 1, payload: { status_id, pipeline_id, sha: second } })
    expect(events[5]).toMatchObject({ actor_id: 1, payload: { pipeline_id, sha: second } })
  })
})

describe('GET /projects/:id/repository/commits/:sha/statuses', () => {
  test('D1-STATUSES-ALL: the latest status of each name, in pages; all of them with `all`', async ({ world }) => {
    const { project, second } = await reported(world)
    for (const name of ['a', 'b', 'a', 'a', 'c'])
      await report(world, project, second, { state: 'success', name, ref: 'main' })
    const names = async (query: string) => {
      const { json, headers } = await world.root.get(`${statusesPath(project, second)}?${query}`)
      return { names: json.map(({ name }: any) => name).join(''), total: headers['x-total'] }
    }
    expect(await names('')).toEqual({ names: 'bac', total: '3' })
    expect(await names('per_page=2&page=2')).toEqual({ names: 'c', total: '3' })
    expect(await names('all=true')).toEqual({ names: 'abaac', total: '5' })
    expect(await names('all=true&per_page=2&page=2')).toEqual({ names: 'aa', total: '5' })
    expect(await names('all=true&pagination=keyset&per_page=2')).toMatchObject({ names: 'ab' })
  })

  test('D1-STATUSES-REF: statuses of a ref, default branch by default; stage and name filter', async ({ world }) => {
    const { project, first, second } = await reported(world)
    const other = project.repository.commit({ 'c.txt': 'c' }, { branch: 'other', parents: [second] })
    await report(world, project, second, { state: 'success', name: 'x', ref: 'main' })
    await report(world, project, second, { state: 'success', name: 'y', ref: 'feature' })
    await report(world, project, other, { state: 'success', name: 'z', ref: 'other' })
    const names = async (query = '', sha: string = second) =>
      (await world.root.get(`${statusesPath(project, sha)}?${query}`)).json.map(({ name }: any) => name).join('')
    expect(await names()).toBe('x')
    expect(await names('ref=main')).toBe('x')
    expect(await names('ref=feature')).toBe('y')
    expect(await names('ref=refs%2Fheads%2Ffeature')).toBe('y')
    expect(await names('ref=nope')).toBe('')
    await report(world, project, first, { state: 'success', name: 'v', ref: 'feature' })
    expect(await names('', first)).toBe('v')
    expect(await names('ref=main', first)).toBe('')
    expect(await names('stage=external')).toBe('x')
    expect(await names('stage=test')).toBe('')
    expect(await names('stage=&name=&ref='), 'what is empty filters nothing').toBe(await names(''))
    expect(await names('name=x')).toBe('x')
    expect(await names('name=y')).toBe('')
    // It has no report there, and the default branch does not contain it.
    expect(await names('', other)).toBe('z')
    expect(await names('', 'other')).toBe('z')
    expect(await names('', other.slice(0, 8))).toBe('z')
    // Once the default branch has moved away, no branch has the commit before others.
    project.repository.git('branch', '-f', 'main', first)
    expect(await names()).toBe('xy')
    expect(await world.root.get(statusesPath(project, 'nope'))).toMatchObject({
      status: 404,
      json: { message: '404 Commit Not Found' },
    })
  })

  test('statuses are visible as pipelines are', async ({ world }) => {
    const [stranger, external, guest, reporter] = [
      await world.user(),
      await world.user({ external: true }),
      await world.user(),
      await world.user(),
    ]
    const members: [Client, Level][] = [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ]
    const all = { anonymous: world.anonymous, stranger, external, guest, reporter, admin: world.root }
    for (const [visibility, expected] of [
      ['public', { anonymous: 401, stranger: 200, external: 200, guest: 200, reporter: 200, admin: 200 }],
      ['internal', { anonymous: 401, stranger: 200, external: 404, guest: 200, reporter: 200, admin: 200 }],
      ['private', { anonymous: 401, stranger: 404, external: 404, guest: 403, reporter: 200, admin: 200 }],
    ] as const) {
      const { project, second } = await reported(world, { visibility, members })
      for (const [name, client] of Object.entries(all))
        expect((await client.get(statusesPath(project, second))).status, `${visibility} ${name}`).toBe(
          expected[name as keyof typeof all],
        )
      await changeProject(world, project.id, { builds_access_level: 0 })
      expect((await world.root.get(statusesPath(project, second))).status).toBe(403)
    }
  })

  test('statuses outlive their reporter, and are deleted with the project', async ({ world }) => {
    const { project, second } = await reported(world)
    const ann = await world.user({ admin: true })
    await ann.post(reportPath(project, second), { state: 'success', ref: 'main' })
    await deleteUser(world, ann.id)
    const [status] = (await world.root.get(statusesPath(project, second))).json
    expect(status).toMatchObject({ status: 'success', author: null })
    expect((await world.root.get(`/projects/${project.id}/pipelines/${status.pipeline_id}`)).json.user).toBe(null)
    expect((await world.root.get(`/projects/${project.id}/jobs`)).json).toMatchObject([{ user: null }])
    await deleteProject(world, { id: project.id })
    expect(await statusesOf(world, project.id)).toEqual([])
    expect(await pipelinesOf(world, project.id)).toEqual([])
  })
})

describe('pipeline of a commit', () => {
  test('a commit shows its newest pipeline to callers who can read pipelines', async ({ world }) => {
    const { project, second } = await reported(world)
    const shown = async (who = world.root) => {
      const { json } = await who.get(`/projects/${project.id}/repository/commits/${second}`)
      return { status: json.status, last_pipeline: json.last_pipeline }
    }
    expect(await shown()).toEqual({ status: null, last_pipeline: null })
    await report(world, project, second, { state: 'success', ref: 'main' })
    const { pipeline_id } = (await report(world, project, second, { state: 'failed', ref: 'feature' })).json
    const last = {
      id: pipeline_id,
      project_id: project.id,
      sha: second,
      ref: 'feature',
      status: 'failed',
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      web_url: `${world.origin}/${project.full_path}/-/pipelines/${pipeline_id}`,
    }
    expect(await shown()).toEqual({ status: 'failed', last_pipeline: last })
    const jobs = `/projects/${project.id}/pipelines/${pipeline_id}/jobs`
    expect((await world.root.get(jobs)).json).toMatchObject([{ pipeline: last }])
    expect(await shown(world.anonymous)).toEqual({ status: 'failed', last_pipeline: last })
    await changeProject(world, project.id, { builds_access_level: 10 })
    expect(await shown(world.anonymous)).toEqual({ status: null, last_pipeline: null })
    expect(await shown()).toEqual({ status: 'failed', last_pipeline: last })
  })
})
