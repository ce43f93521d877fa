import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { commitTo, done, refsOf, sourceOf } from '../remotes/testing.ts'
import { mirrorOf, record, state, update } from './testing.ts'

describe('differences between a mirror and its source', () => {
  test('diverged branches and moved tags stay, and a diverged default branch is reported', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    const own = await commitTo(world, mirror, 'zebra')
    await commitTo(world, source, 'zebra')
    await commitTo(world, source)
    await done(world.root.send('DELETE', `/projects/${source.id}/repository/tags/v1`).then((a) => ({ ...a, json: {} })))
    await done(world.root.post(`/projects/${source.id}/repository/tags?tag_name=v1&ref=main`))
    const before = await refsOf(world, mirror)
    await update(world, mirror)
    const after = await refsOf(world, mirror)
    expect(after).toMatchObject({ 'refs/heads/zebra': own, 'refs/tags/v1': before['refs/tags/v1'] })
    expect(after['refs/heads/main']).toBe((await refsOf(world, source))['refs/heads/main'])
    expect(await record(world.root, mirror)).toMatchObject({ import_status: 'finished', import_error: null })
    await commitTo(world, mirror)
    await commitTo(world, source)
    await update(world, mirror)
    expect(await record(world.root, mirror)).toMatchObject({
      import_status: 'failed',
      import_error:
        'The default branch (main) has diverged from its upstream counterpart and could not be updated automatically.',
    })
  })

  test('diverged branches and tags are overwritten if the mirror is set up so', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root, { mirror_overwrites_diverged_branches: true })
    await commitTo(world, mirror, 'zebra')
    await commitTo(world, source, 'zebra')
    await world.root.delete(`/projects/${source.id}/repository/tags/v1`)
    await done(world.root.post(`/projects/${source.id}/repository/tags?tag_name=v1&ref=zebra`))
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual(await refsOf(world, source))
  })

  test('branches and tags that the source deletes stay', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root, { mirror_overwrites_diverged_branches: true })
    const before = await refsOf(world, mirror)
    await world.root.delete(`/projects/${source.id}/repository/branches/zebra`)
    await world.root.delete(`/projects/${source.id}/repository/tags/v1`)
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual(before)
  })

  test('only protected branches and tags are updated if the mirror is set up so', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root, { only_mirror_protected_branches: true })
    const before = await refsOf(world, mirror)
    const main = await commitTo(world, source)
    await commitTo(world, source, 'zebra')
    await commitTo(world, source, 'new', 'main')
    await done(world.root.post(`/projects/${source.id}/repository/tags?tag_name=v2&ref=main`))
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual({ ...before, 'refs/heads/main': main, 'refs/tags/v2': main })
  })

  test('refs that the push rules refuse stay and are named, and the others are updated', async ({ world }) => {
    const source = await sourceOf(world)
    const mirror = await mirrorOf(world, source, world.root)
    const closed = { name: 'zebra', push_access_level: 0, merge_access_level: 0 }
    await done(world.root.post(`/projects/${mirror.id}/protected_branches`, closed))
    const before = await refsOf(world, mirror)
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const name of names) await commitTo(world, source, name, 'main')
    await commitTo(world, source, 'zebra')
    await update(world, mirror)
    expect(await refsOf(world, mirror)).toEqual({
      ...(await refsOf(world, source)),
      'refs/heads/zebra': before['refs/heads/zebra'],
    })
    expect((await state(world.root, mirror)).last_error).toBe(
      'Some references were not updated:\nrefs/heads/zebra: You are not allowed to push code to protected branches on this project.',
    )
  })
})
