import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { largeFilesOf, pushesInState } from '../../../../test/tables/pushes.ts'
import { test, unique } from '../../../../test/world.ts'
import { batch, follow, oidOf, upload } from '../../pushes/large-files/testing.ts'

const create = (file_path: string, content: string) => ({ action: 'create', file_path, content })

describe('commits of files that .gitattributes assigns to LFS', () => {
  test('new LFS files are committed as pointers, and their content is stored', async ({ world }) => {
    const project = await world.project()
    const commit = (...actions: object[]) =>
      world.root.post(`/projects/${project.id}/repository/commits`, { branch: 'main', commit_message: 'Add', actions })
    const raw = async (path: string) =>
      (await world.root.get(`/projects/${project.id}/repository/files/${encodeURIComponent(path)}/raw?ref=main`)).text
    const content = unique('large')
    // Changes of attributes apply from the next commit on.
    expect((await commit(create('.gitattributes', '*.bin filter=lfs\n'), create('first.bin', 'small'))).status).toBe(
      201,
    )
    expect(await raw('first.bin')).toBe('small')

    expect((await commit(create('art/a.bin', content), create('a.txt', 'text'))).status).toBe(201)
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(content)}\nsize ${content.length}\n`
    expect([await raw('art/a.bin'), await raw('a.txt')]).toEqual([pointer, 'text'])
    const { download } = (await batch(world.root, project, 'download', [content])).json.objects[0].actions
    expect((await follow(world.root, 'GET', download)).text).toBe(content)

    expect((await commit(create('b.bin', pointer))).status).toBe(201)
    expect(await raw('b.bin')).toBe(pointer)
    // Nothing is stored for a refused commit.
    expect((await commit(create('c.bin', 'unused'), create('art/a.bin', 'again'))).status).toBe(400)
    expect((await batch(world.root, project, 'download', ['unused'])).json.objects[0].error.code).toBe(404)

    await world.root.put(`/projects/${project.id}`, { lfs_enabled: false })
    expect((await commit(create('d.bin', 'plain'))).status).toBe(201)
    expect(await raw('d.bin')).toBe('plain')
  })

  test('a .gitattributes of more than a megabyte has no effect, and stops no commit', async ({ world }) => {
    const { id } = await world.project()
    const commit = (...actions: object[]) =>
      world.root.post(`/projects/${id}/repository/commits`, { branch: 'main', commit_message: 'Add', actions })
    const attributes = `*.bin filter=lfs\n${`# ${'x'.repeat(78)}\n`.repeat(13_200)}`
    expect((await commit(create('.gitattributes', attributes))).status).toBe(201)
    expect((await commit(create('a.bin', 'plain'))).status).toBe(201)
    expect((await world.root.get(`/projects/${id}/repository/files/a.bin/raw?ref=main`)).text).toBe('plain')
  })

  test('a commit that starts from another project brings the LFS files of its history', async ({ world }) => {
    const [project, fork] = [await world.project(), await world.project()]
    await changeProject(world, fork.id, { forked_from_project_id: project.id })
    const commit = (id: number, wish: object) =>
      world.root.post(`/projects/${id}/repository/commits`, { branch: 'main', commit_message: 'Add', ...wish })
    const [content, other] = [unique('large'), unique('other')]
    for (const each of [content, other]) await upload(world.root, fork, each)
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(content)}\nsize ${content.length}\n`
    await commit(fork.id, { actions: [create('a.bin', pointer)] })
    await commit(fork.id, { actions: [{ action: 'delete', file_path: 'a.bin' }, create('b', 'b')] })
    const made = await commit(project.id, {
      branch: 'theirs',
      start_project: fork.id,
      start_branch: 'main',
      actions: [create('c', 'c')],
    })
    expect(made.status).toBe(201)
    const found = (await batch(world.root, project, 'download', [content, other])).json.objects
    expect(found).toMatchObject([{ actions: { download: {} } }, { error: { code: 404 } }])
  })

  test('a commit that a push rule refuses adds no LFS files to the project, of its own or of another one', async ({
    world,
  }) => {
    const [project, fork] = [await world.project(), await world.project()]
    await changeProject(world, fork.id, { forked_from_project_id: project.id })
    const commit = (id: number, wish: object) =>
      world.root.post(`/projects/${id}/repository/commits`, { branch: 'main', commit_message: 'Add', ...wish })
    const [small, content] = [unique('small'), unique('large')]
    await upload(world.root, fork, content)
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oidOf(content)}\nsize ${content.length}\n`
    await commit(fork.id, { actions: [create('a.bin', pointer)] })
    await commit(project.id, { actions: [create('.gitattributes', '*.bin filter=lfs\n')] })
    await world.root.post(`/projects/${project.id}/push_rule`, { commit_message_regex: '^ok' })

    const theirs = {
      branch: 'theirs',
      start_project: fork.id,
      start_branch: 'main',
      actions: [create('c', 'c')],
    }
    const own = { actions: [create('a.bin', small), create('b.bin', 'other')] }
    for (const wish of [own, theirs])
      expect(await commit(project.id, wish)).toMatchObject({
        status: 400,
        json: { message: expect.stringContaining('^ok') },
      })
    const sizeOf = async () =>
      (await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.lfs_objects_size
    expect([await sizeOf(), await largeFilesOf(world, project.id)]).toEqual([0, []])

    expect((await world.root.delete(`/projects/${project.id}/push_rule`)).status).toBe(204)
    for (const wish of [own, theirs]) expect((await commit(project.id, wish)).status).toBe(201)
    expect(await sizeOf()).toBe(small.length + 'other'.length + content.length)
    const stored = await eventsOf(world, { project: project.id, kind: 'large_file_stored' }, 'payload', 'actor_id')
    expect(stored.map(({ payload }) => (payload as { oid: string }).oid).sort()).toEqual(
      [small, 'other'].map(oidOf).sort(),
    )
  })

  test('a commit whose LFS files exceed the size limit of the project moves no branch and leaves nothing pending', async ({
    world,
  }) => {
    const { id } = await world.project()
    const commit = (...actions: object[]) =>
      world.root.post(`/projects/${id}/repository/commits`, { branch: 'main', commit_message: 'Add', actions })
    const made = await commit(create('.gitattributes', '*.bin filter=lfs\n'))
    await world.settings({ repository_size_limit: 1 })
    try {
      // Each fits alone.
      const large = [1, 2].map((n) => create(`${n}.bin`, unique('large').padEnd(600_000, 'x')))
      expect(await commit(...large)).toMatchObject({
        status: 403,
        json: { message: expect.stringContaining('would exceed its size limit of 1 MB by') },
      })
      expect((await commit(large[0]!)).status).toBe(201)
    } finally {
      await world.settings({ repository_size_limit: 0 })
    }
    expect(await pushesInState(world, id, 'intended')).toEqual([])
    expect(await largeFilesOf(world, id)).toHaveLength(1)
    const { json } = await world.root.get(`/projects/${id}/repository/commits?ref_name=main`)
    expect(json).toMatchObject([{ parent_ids: [made.json.id] }, { id: made.json.id }])
  })

  test('nothing is stored for a commit with an LFS file above max_lfs_object_size', async ({ world }) => {
    const { id } = await world.project()
    const commit = (...actions: object[]) =>
      world.root.post(`/projects/${id}/repository/commits`, { branch: 'main', commit_message: 'Add', actions })
    await commit(create('.gitattributes', '*.bin filter=lfs\n'))
    await world.settings({ max_lfs_object_size: 1 })
    try {
      const actions = [create('a.bin', unique('small')), create('b.bin', 'x'.repeat(1_100_000))]
      expect((await commit(...actions)).status).toBe(413)
    } finally {
      await world.settings({ max_lfs_object_size: 0 })
    }
    expect(await largeFilesOf(world, id)).toEqual([])
  })
})
