import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { journalOf, pushesTo } from '../../../../test/tables/pushes.ts'
import { test, type World } from '../../../../test/world.ts'
import { storedProject } from './testing.ts'

const refusal = 'You are not allowed to push into this branch'

async function storedProtected(world: World) {
  const [dev, maintainer] = await Promise.all([world.user(), world.user()])
  const project = await storedProject(world, {
    visibility: 'private',
    members: [
      [dev, 'developer'],
      [maintainer, 'maintainer'],
    ],
  })
  const first = project.repository.commit({ 'a.txt': 'a\n' })
  const second = project.repository.commit({ 'b.txt': 'b\n' })
  project.repository.git('branch', 'open', second)
  const made = await world.root.post(`/projects/${project.id}/protected_branches`, {
    name: 'ma*',
    push_access_level: 40,
  })
  expect(made.status).toBe(201)
  const base = `/projects/${project.id}/repository`
  return {
    dev,
    maintainer,
    base,
    first,
    second,
    id: project.id,
    git: (...args: string[]) => project.repository.git(...args),
  }
}

const commit = (branch: string, more: object = {}) => ({
  branch,
  commit_message: 'm',
  actions: [{ action: 'create', file_path: 'x', content: 'x' }],
  ...more,
})
const file = (branch: string, more: object = {}) => ({ branch, commit_message: 'm', content: 'x', ...more })

describe('commits to protected branches', () => {
  test('403 for a commit to a protected branch without push access, before other checks', async ({ world }) => {
    const { dev, base, second, git } = await storedProtected(world)
    const closed = { status: 403, json: { message: `403 Forbidden - ${refusal}` } }
    expect(await dev.post(`${base}/commits`, commit('main'))).toMatchObject(closed)
    expect(await dev.post(`${base}/commits`, commit('main', { actions: [], start_branch: 'none' }))).toMatchObject(
      closed,
    )
    expect(await dev.post(`${base}/commits`, commit('mainly', { start_branch: 'open' }))).toMatchObject(closed)
    expect(await dev.post(`${base}/commits/${second}/cherry_pick`, { branch: 'main' })).toMatchObject(closed)
    expect(await dev.post(`${base}/commits/none/revert`, { branch: 'main' })).toMatchObject(closed)
    const refused = { status: 400, json: { message: refusal } }
    expect(await dev.post(`${base}/files/x`, file('main'))).toMatchObject(refused)
    expect(await dev.put(`${base}/files/none`, file('main'))).toMatchObject(refused)
    expect(await dev.delete(`${base}/files/a.txt?branch=main&commit_message=m`)).toMatchObject(refused)
    expect(git('rev-parse', 'main')).toBe(second)
    expect(git('for-each-ref', '--format=%(refname:short)')).toBe('main\nopen')
    expect((await dev.post(`${base}/commits`, commit('open'))).status).toBe(201)
  })

  test('users with push access commit to a protected branch, but cannot overwrite it', async ({ world }) => {
    const { maintainer, base, first, git } = await storedProtected(world)
    expect((await maintainer.post(`${base}/commits`, commit('main'))).status).toBe(201)
    const tip = git('rev-parse', 'main')
    expect((await maintainer.post(`${base}/files/y`, file('main'))).status).toBe(201)
    expect(git('rev-parse', 'main~')).toBe(tip)
    const forced = await maintainer.post(`${base}/commits`, commit('main', { start_sha: first, force: true }))
    expect(forced).toMatchObject({ status: 403, json: { message: `403 Forbidden - ${refusal}` } })
    expect(git('rev-parse', 'main~')).toBe(tip)
    expect((await maintainer.post(`${base}/commits`, commit('open', { start_sha: first, force: true }))).status).toBe(
      201,
    )
  })

  test('400 for a first commit by a developer when the default branch is protected', async ({ world }) => {
    const dev = await world.user()
    const { id } = await world.project({ members: [[dev, 'developer']] })
    expect(await dev.post(`/projects/${id}/repository/files/x`, file('main'))).toMatchObject({
      status: 400,
      json: { message: refusal },
    })
    expect((await dev.post(`/projects/${id}/repository/commits`, commit('main'))).status).toBe(403)
    expect((await world.root.post(`/projects/${id}/repository/commits`, commit('main'))).status).toBe(201)
  })
})

describe('effects of commits by the API', () => {
  test('each commit by the API emits one push event, a refused one none; a clone has it', async ({ world }) => {
    const { dev, base, id, second, git } = await storedProtected(world)
    const made = await dev.post(`${base}/commits`, commit('open'))
    await dev.post(`${base}/commits`, commit('open'))
    await dev.post(`${base}/commits`, commit('main'))
    const events = await eventsOf(world, { project: id, kind: 'pushed' }, 'actor_id', 'payload')
    expect(events).toMatchObject([{ actor_id: dev.id, payload: { ref_count: 1 } }])
    const refs = await journalOf(world, events[0].payload.push_id)
    expect(refs).toEqual([{ transport: 'api', name: 'refs/heads/open', old_oid: second, new_oid: made.json.id }])
    expect(git('rev-parse', 'open')).toBe(made.json.id)
    expect(await pushesTo(world, id, 'state')).toEqual([{ state: 'done' }])
  })
})
