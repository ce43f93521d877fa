import { describe, expect } from 'vitest'
import { test, unique } from '../../../../test/world.ts'
import { batch, follow, oidOf } from '../../pushes/large-files/testing.ts'

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
})
