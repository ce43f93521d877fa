import { createHash } from 'node:crypto'
import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { pullMirrorOf } from '../../../../test/tables/mirrors.ts'
import { largeFilesOf, pushesTo } from '../../../../test/tables/pushes.ts'
import { type Client, git, test, unique, World } from '../../../../test/world.ts'
import { commitTo, done, refsOf, repositoryOf, sourceOf } from '../remotes/testing.ts'
import { mirrorOf, record, state, update } from './testing.ts'

describe('a pull mirror', () => {
  test('a mirror follows commits, branches and tags of its source, as pushes of its user', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const mirror = await mirrorOf(world, source, ann)
    expect(await record(ann, mirror)).toMatchObject({
      import_status: 'finished',
      default_branch: 'main',
      mirror: true,
      mirror_user_id: ann.id,
      mirror_trigger_builds: false,
      only_mirror_protected_branches: false,
      mirror_overwrites_diverged_branches: false,
    })
    await commitTo(world, source)
    await commitTo(world, source, 'new', 'main')
    await done(world.root.post(`/projects/${source.id}/repository/tags?tag_name=v2&ref=new&message=Second`))
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
    const pushes = await eventsOf(world, { project: mirror.id, kind: 'pushed' }, 'actor_id', 'payload')
    expect(pushes).toMatchObject([{ actor_id: ann.id, payload: { ref_count: 3, default_branch_moved: true } }])
    expect((await done(ann.get(`/projects/${mirror.id}/events?action=pushed`))).length).toBeGreaterThan(0)
    expect(await git(await repositoryOf(world, mirror.id), 'fsck', '--full', '--no-dangling')).toBe('')
    await update(world, mirror)
    expect(await eventsOf(world, { project: mirror.id, kind: 'pushed' })).toHaveLength(1)
    expect(await state(ann, mirror)).toMatchObject({ update_status: 'finished', last_error: null })
  })

  test('an empty project becomes a mirror by an edit, and gets the default branch of the source', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    await commitTo(world, source, 'master', 'main')
    const project = await done(ann.post('/projects', { path: unique('mirror') }))
    const sent = { mirror: true, import_url: world.remote(source, world.root), mirror_trigger_builds: true }
    expect(await done(ann.put(`/projects/${project.id}`, sent))).toMatchObject({
      mirror: true,
      mirror_user_id: ann.id,
      mirror_trigger_builds: true,
    })
    expect(await world.jobs(`update_pull_mirror:${project.id}`)).toHaveLength(1)
    await update(world, project)
    expect(await refsOf(world, project)).toEqual(await refsOf(world, source))
    expect(await record(ann, project)).toMatchObject({ default_branch: 'main', import_status: 'finished' })
  })

  test('an edit that leaves the mirror as it is begins no update; another source or user does', async ({ world }) => {
    const [ann, source, other] = [await world.user(), await sourceOf(world), await sourceOf(world)]
    const mirror = await mirrorOf(world, source, ann)
    const begunBy = async (who: Client, sent: object) => {
      await done(who.put(`/projects/${mirror.id}`, sent))
      return (await world.takeJobs(`update_pull_mirror:${mirror.id}`)).length
    }
    const import_url = world.remote(source, world.root)
    expect(await begunBy(ann, { mirror: true, import_url, mirror_user_id: ann.id })).toBe(0)
    expect(await begunBy(ann, { mirror: true })).toBe(0)
    expect(await begunBy(ann, { mirror: true, mirror_trigger_builds: true })).toBe(0)
    expect(await begunBy(ann, { mirror: true, import_url: world.remote(other, world.root) })).toBe(1)
    expect(await begunBy(world.root, { mirror_user_id: world.root.id })).toBe(1)
  })

  test('a project that is no longer a mirror stays, and its URL is deleted with the credentials', async ({ world }) => {
    const ann = await world.user()
    const mirror = await mirrorOf(world, await sourceOf(world), ann)
    const edited = await done(ann.put(`/projects/${mirror.id}`, { mirror: false }))
    expect(edited).toMatchObject({ mirror: false, mirror_user_id: null, mirror_trigger_builds: false })
    expect(await pullMirrorOf(world, mirror.id)).toEqual([])
    expect((await ann.get(`/projects/${mirror.id}/mirror/pull`)).status).toBe(400)
    expect(await ann.put(`/projects/${mirror.id}`, { mirror: true })).toMatchObject({
      status: 400,
      json: { message: { import_url: ["can't be blank"] } },
    })
    await update(world, mirror)
  })

  test('400 for a mirror without a source, and for a source of a project that is no mirror', async ({ world }) => {
    const ann = await world.user()
    expect(await ann.post('/projects', { path: unique('mirror'), mirror: true })).toMatchObject({
      status: 400,
      json: { message: { import_url: ["can't be blank"] } },
    })
    const { id } = await done(ann.post('/projects', { path: unique('mirror') }))
    expect(await ann.put(`/projects/${id}`, { import_url: 'https://203.0.114.1/a.git' })).toMatchObject({
      status: 400,
      json: { message: { import_url: ['requires a mirror'] } },
    })
  })

  test('updates have the push option ci.skip unless the mirror triggers builds', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    await commitTo(world, source)
    await update(world, mirror)
    await done(world.root.put(`/projects/${mirror.id}`, { mirror_trigger_builds: true }))
    await commitTo(world, source)
    await update(world, mirror)
    expect(await pushesTo(world, mirror.id, 'options')).toEqual([{ options: ['ci.skip'] }, { options: [] }])
  })
})

test('a mirror gets pointers to large files, and not the files', async ({ world }) => {
  const source = await sourceOf(world)
  const mirror = await mirrorOf(world, source, world.root)
  const oid = createHash('sha256').update(unique('large')).digest('hex')
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 9\n`
  const file = { branch: 'main', content: pointer, commit_message: 'x' }
  await done(world.root.post(`/projects/${source.id}/repository/files/large.bin`, file))
  await update(world, mirror)
  expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
  expect(await largeFilesOf(world, mirror.id)).toEqual([])
  expect((await state(world.root, mirror)).last_error).toBe(null)
})

test('a plan without mirrors has neither their parameters nor their endpoints, and updates none', async () => {
  await using world = await World.start({ STITHY_PLAN: 'free' })
  const { id } = await done(world.root.post('/projects', { path: 'p', mirror: true }))
  expect((await world.root.get(`/projects/${id}/mirror/pull`)).status).toBe(404)
  expect(await record(world.root, { id })).not.toHaveProperty('mirror')
})
