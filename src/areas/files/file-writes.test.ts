import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../test/world.ts'
import { hostilePaths, storedProject } from '../commits/testing.ts'

const enc = encodeURIComponent

const fileOf = (id: number, path: string) => `/projects/${id}/repository/files/${enc(path)}`

const write = { branch: 'main', content: 'two\n', commit_message: 'Change' }

async function withFile(world: World, members: readonly [Client, 'developer'][] = []) {
  const project = await storedProject(world, { visibility: 'private', members })
  const first = project.repository.commit({ 'dir/a.txt': 'one\n', 'b.txt': 'b\n' })
  return { ...project, first, tip: () => project.repository.git('rev-parse', 'main') }
}

describe('POST, PUT and DELETE /projects/:id/repository/files/:file_path', () => {
  test('D1-FILE-WRITE-RESULT D1-FILE-ONE-PER-CALL: a developer creates, changes and deletes a file', async ({
    world,
  }) => {
    const ann = await world.user({ name: 'Ann Example' })
    const project = await withFile(world, [[ann, 'developer']])
    const path = fileOf(project.id, 'dir/ü ß.txt')

    const made = await ann.post(path, { ...write, content: 'grün\n' })
    expect(made).toMatchObject({ status: 201 })
    expect(made.json).toEqual({ file_path: 'dir/ü ß.txt', branch: 'main' })
    expect(project.repository.git('show', 'main:dir/ü ß.txt')).toBe('grün')
    expect(project.repository.git('log', '-1', '--format=%an|%ae|%cn|%ce|%B|%P', 'main')).toBe(
      `Ann Example|${ann.username}@example.com|Ann Example|${ann.username}@example.com|Change|${project.first}`,
    )

    const changed = await ann.put(path, {
      ...write,
      content: Buffer.from([0, 255, 10]).toString('base64'),
      encoding: 'base64',
      author_name: 'Bob',
      author_email: 'bob@example.com',
    })
    expect(changed).toMatchObject({ status: 200, json: { file_path: 'dir/ü ß.txt', branch: 'main' } })
    expect((await ann.get(`${path}?ref=main`)).json).toMatchObject({ content: 'AP8K', size: 3 })
    expect(project.repository.git('log', '-1', '--format=%an|%ae|%cn', 'main')).toBe('Bob|bob@example.com|Ann Example')

    const gone = await ann.delete(`${path}?branch=main&commit_message=Remove`)
    expect(gone).toMatchObject({ status: 204, text: '' })
    expect(project.repository.git('ls-tree', '-r', '--name-only', 'main')).toBe('b.txt\ndir/a.txt')
    expect(project.repository.git('fsck', '--strict')).toBe('')
  })
})
