import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { commitTo, done, proxyTo, refsOf, remoteBy, repositoryOf, sourceOf } from '../remotes/testing.ts'
import { mirrored, mirrorTo, state } from './testing.ts'

describe('a push mirror', () => {
  test('a mirror of a project with a damaged branch fails with a sentence and deletes nothing', async ({ world }) => {
    const mirror = await mirrored(world)
    await mirror.update()
    const before = await refsOf(world, mirror.target)
    await writeFile(join(await repositoryOf(world, mirror.project.id), 'refs/heads/zebra'), '')
    await mirror.update()
    expect(await state(world, mirror)).toMatchObject({
      update_status: 'failed',
      last_error: expect.stringContaining('The repository is damaged'),
    })
    expect(await refsOf(world, mirror.target)).toEqual(before)
  })

  test('a mirror gets branches and tags, their changes, and the deletion of merged branches', async ({ world }) => {
    const mirror = await mirrored(world)
    const { project, target } = mirror
    await mirror.update()
    expect(await refsOf(world, target)).toEqual(await refsOf(world, project))
    expect(await state(world, mirror)).toMatchObject({ update_status: 'finished', last_error: null })
    await commitTo(world, project)
    await commitTo(world, project, 'new', 'main')
    await world.root.delete(`/projects/${project.id}/repository/branches/zebra`)
    await world.root.delete(`/projects/${project.id}/repository/tags/v1`)
    await mirror.update()
    expect(await refsOf(world, target)).toEqual(await refsOf(world, project))
    expect(Object.keys(await refsOf(world, target))).toEqual(['refs/heads/main', 'refs/heads/new'])
  })

  test('a mirror overwrites diverged branches, and deletes no commits that only the target has', async ({ world }) => {
    const mirror = await mirrored(world)
    const { project, target } = mirror
    await mirror.update()
    await commitTo(world, target, 'zebra')
    const own = await commitTo(world, target, 'own', 'main')
    await commitTo(world, project, 'zebra')
    await mirror.update()
    expect(await refsOf(world, target)).toEqual({ ...(await refsOf(world, project)), 'refs/heads/own': own })
  })

  test('a branch of the target that gets a commit while the mirror is updated is not deleted', async ({ world }) => {
    const [project, target] = [await sourceOf(world), await world.project()]
    await world.settings({ default_branch_protection: 0, outbound_local_requests_whitelist: ['127.0.0.1'] })
    let during: (() => Promise<unknown>) | undefined
    await using proxy = await proxyTo(world, async ({ url }) => {
      if (!url.includes('service=git-receive-pack')) return
      const work = during
      during = undefined
      await work?.()
    })
    const mirror = await mirrorTo(world, project, remoteBy(world, proxy, target))
    await mirror.update()
    const main = (await refsOf(world, project))['refs/heads/main']
    await done(world.root.post(`/projects/${target.id}/repository/branches`, { branch: 'theirs', ref: main }))
    let commit: string | undefined
    during = async () => {
      commit = await commitTo(world, target, 'theirs')
    }
    await mirror.update()
    expect(commit).toBeDefined()
    expect((await refsOf(world, target))['refs/heads/theirs']).toBe(commit)
    await mirror.update()
    expect((await refsOf(world, target))['refs/heads/theirs']).toBe(commit)
    expect((await state(world, mirror)).update_status).toBe('finished')
  })

  test('keep_divergent_refs: diverged branches and branches of the target stay, and diverged ones are named', async ({
    world,
  }) => {
    const mirror = await mirrored(world, { keep_divergent_refs: true })
    const { project, target } = mirror
    await mirror.update()
    await commitTo(world, target, 'zebra')
    const before = await refsOf(world, target)
    const main = await commitTo(world, project)
    await commitTo(world, project, 'zebra')
    await world.root.delete(`/projects/${project.id}/repository/tags/v1`)
    await mirror.update()
    expect(await refsOf(world, target)).toEqual({ ...before, 'refs/heads/main': main })
    expect(await state(world, mirror)).toMatchObject({
      update_status: 'failed',
      last_error: 'Some refs have diverged and have not been updated on the remote:\nrefs/heads/zebra',
    })
  })

  test('only_protected_branches: other branches are neither pushed nor deleted', async ({ world }) => {
    const mirror = await mirrored(world, { only_protected_branches: true })
    const { project, target } = mirror
    const refs = await refsOf(world, project)
    await mirror.update()
    expect(await refsOf(world, target)).toEqual({
      'refs/heads/main': refs['refs/heads/main'],
      'refs/tags/v1': refs['refs/tags/v1'],
    })
  })

  test('references that the target refuses are named, and the others are pushed', async ({ world }) => {
    const mirror = await mirrored(world)
    const { project, target } = mirror
    await mirror.update()
    await done(world.root.post(`/projects/${target.id}/protected_branches`, { name: 'zebra', push_access_level: 0 }))
    const before = await refsOf(world, target)
    const main = await commitTo(world, project)
    await commitTo(world, project, 'zebra')
    await done(world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'new', ref: main }))
    await done(world.root.delete(`/projects/${project.id}/repository/tags/v1`))
    await mirror.update()
    const { 'refs/tags/v1': gone, ...left } = before
    expect(gone).toBeDefined()
    expect(await refsOf(world, target)).toEqual({ ...left, 'refs/heads/main': main, 'refs/heads/new': main })
    expect(await state(world, mirror)).toMatchObject({
      update_status: 'failed',
      last_error:
        'Some references were refused by the remote repository:\nrefs/heads/zebra: You are not allowed to push code to protected branches on this project.',
    })
  })

  test('a target that refuses all of many references ends an update after a bounded number of pushes', async ({
    world,
  }) => {
    const [project, target] = [await sourceOf(world), await world.project()]
    await world.settings({ outbound_local_requests_whitelist: ['127.0.0.1'] })
    for (let n = 0; n < 40; n++)
      await done(world.root.post(`/projects/${project.id}/repository/branches`, { branch: `b${n}`, ref: 'main' }))
    await done(world.root.post(`/projects/${target.id}/push_rule`, { commit_message_regex: '^none$' }))
    let pushes = 0
    await using proxy = await proxyTo(world, async ({ method, url }) => {
      if (method === 'POST' && url.endsWith('/git-receive-pack')) pushes++
    })
    const mirror = await mirrorTo(world, project, remoteBy(world, proxy, target))
    await mirror.update()
    expect((await state(world, mirror)).last_error).toMatch(/\nand \d+ more$/)
    expect(pushes).toBeGreaterThan(1)
    expect(pushes).toBeLessThan(60)
    expect(await refsOf(world, target)).toEqual({})
  })
})
