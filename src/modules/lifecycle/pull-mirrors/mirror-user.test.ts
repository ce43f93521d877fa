import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import { commitTo, done, proxyTo, refsOf, remoteBy, sourceOf } from '../remotes/testing.ts'
import { mirrorOf, record, state, update } from './testing.ts'

describe('the user of a pull mirror', () => {
  test('only administrators name another user, and a new source has the rights of the user who enters it', async ({
    world,
  }) => {
    const [ann, bob, source] = [await world.user(), await world.user(), await sourceOf(world)]
    const mirror = await mirrorOf(world, source, ann)
    await done(ann.post(`/projects/${mirror.id}/members`, { user_id: bob.id, access_level: 40 }))
    const put = (who: Client, sent: object) => who.put(`/projects/${mirror.id}`, sent)
    expect(await put(ann, { mirror_user_id: bob.id })).toMatchObject({
      status: 400,
      json: { message: { mirror_user_id: ['is invalid'] } },
    })
    expect((await done(put(bob, { mirror: true }))).mirror_user_id).toBe(ann.id)
    expect((await done(put(bob, { import_url: world.remote(source, world.root) }))).mirror_user_id).toBe(bob.id)
    expect((await done(put(world.root, { mirror_user_id: ann.id }))).mirror_user_id).toBe(ann.id)
    expect((await put(world.root, { mirror_user_id: 999_999_999 })).status).toBe(400)
  })

  test('a mirror stops when its user may no longer push, and continues when the user may again', async ({ world }) => {
    const ann = await world.user()
    const source = await sourceOf(world)
    const project = await world.project({ members: [[ann, 'maintainer']] })
    await done(ann.put(`/projects/${project.id}`, { mirror: true, import_url: world.remote(source, world.root) }))
    await done(world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 }))
    await update(world, project)
    expect(await refsOf(world, project)).toEqual({})
    expect((await record(world.root, project)).import_error).toBe(
      'The user of the mirror is not allowed to push to this project.',
    )
    await done(world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 40 }))
    await update(world, project)
    expect(await refsOf(world, project)).toEqual(await refsOf(world, source))
    await done(world.root.post(`/users/${ann.id}/block`))
    await commitTo(world, source)
    await update(world, project)
    expect((await record(world.root, project)).import_error).toBe('The user of the mirror was deleted or is blocked.')
  })

  test.for([
    ['its user is blocked', (world: World, user: Client) => done(world.root.post(`/users/${user.id}/block`))],
    [
      'the mirror ends',
      (world: World, _user: Client, id: number) => done(world.root.put(`/projects/${id}`, { mirror: false })),
    ],
    [
      'the project is archived',
      (world: World, _user: Client, id: number) => done(world.root.post(`/projects/${id}/archive`)),
    ],
  ] as const)('an update moves nothing if %s while it fetches', async ([, happens], { world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const project = await world.project({ members: [[ann, 'maintainer']] })
    let fetches = 0
    await using proxy = await proxyTo(world, async ({ method, body }) => {
      if (method === 'POST' && body.includes('command=fetch') && fetches++ === 0) await happens(world, ann, project.id)
    })
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
    const import_url = remoteBy(world, proxy, source)
    await done(ann.put(`/projects/${project.id}`, { mirror: true, import_url }))
    await update(world, project)
    expect(fetches).toBeGreaterThan(0)
    expect(await refsOf(world, project)).toEqual({})
  })

  test('a mirror stops when its user is deleted', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const project = await world.project({ members: [[ann, 'maintainer']] })
    await done(ann.put(`/projects/${project.id}`, { mirror: true, import_url: world.remote(source, world.root) }))
    expect((await world.root.delete(`/users/${ann.id}`)).status).toBe(204)
    expect(await record(world.root, project)).toMatchObject({
      mirror: true,
      mirror_user_id: null,
      import_status: 'failed',
      import_error: 'The user of the mirror was deleted.',
    })
    expect(await state(world.root, project)).toMatchObject({ next_update_at: null, update_status: 'failed' })
    await update(world, project)
    expect(await refsOf(world, project)).toEqual({})
  })

  test('maintainers see and update a mirror; archived projects are not updated', async ({ world }) => {
    const [ann, source] = [await world.user(), await sourceOf(world)]
    const mirror = await mirrorOf(world, source, world.root)
    const at = `/projects/${mirror.id}/mirror/pull`
    await done(world.root.post(`/projects/${mirror.id}/members`, { user_id: ann.id, access_level: 30 }))
    expect([(await ann.get(at)).status, (await ann.post(at)).status]).toEqual([403, 403])
    await done(world.root.put(`/projects/${mirror.id}/members/${ann.id}`, { access_level: 40 }))
    expect(await ann.post(at)).toMatchObject({ status: 200, json: { id: mirror.id, update_status: 'scheduled' } })
    await commitTo(world, source)
    const before = await refsOf(world, mirror)
    await done(world.root.post(`/projects/${mirror.id}/archive`))
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual(before)
    expect([(await ann.get(at)).status, (await ann.post(at)).status]).toEqual([200, 403])
    expect((await ann.put(`/projects/${mirror.id}`, { mirror: true })).status).toBe(403)
    expect((await ann.put(`/projects/${mirror.id}`, { mirror: false })).status).toBe(200)
  })
})
