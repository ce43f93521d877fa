import { describe, expect } from 'vitest'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Oid } from '../../../git/format/oid.ts'
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
  test('D1-FILE-WRITE-RESULT D1-FILE-ONE-PER-CALL: a developer creates, edits and deletes a file', async ({
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

  test('Base64 may have line breaks and no padding, and a + that a form did not encode is refused', async ({
    world,
  }) => {
    const ann = await world.user()
    const { id } = await withFile(world, [[ann, 'developer']])
    const bytes = Buffer.from([0xfb, 0xff, 0xbf, 0xfb, 0xff])
    const text = bytes.toString('base64')
    const at = (name: string) => fileOf(id, name)
    const fields = { branch: 'main', commit_message: 'Add it', encoding: 'base64' }
    for (const [name, content] of [
      ['padded', text],
      ['bare', text.replaceAll('=', '')],
      ['lines', `\r\n${text.slice(0, 3)}\n${text.slice(3)}\n`],
    ] as const) {
      expect((await ann.post(at(name), { ...fields, content })).status, name).toBe(201)
      const { content: stored } = (await ann.get(`${at(name)}?ref=main`)).json
      expect(stored, name).toBe(text)
    }
    const form = `${new URLSearchParams(fields)}&content=${text}`
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const sent = await ann.send('POST', at('form'), { headers, body: form })
    expect([sent.status, text.includes('+')]).toEqual([400, true])
  })

  test('D1-FILE-ENCODING: content is text unless encoding is base64, even if it looks like it', async ({ world }) => {
    const project = await withFile(world)
    let count = 0
    for (const [encoding, stored] of [
      [undefined, 'dHdv'],
      ['text', 'dHdv'],
      ['base64', 'two'],
    ] as const) {
      const made = `made-${++count}`
      const content = { ...write, content: 'dHdv', encoding }
      expect(await world.root.post(fileOf(project.id, made), content)).toMatchObject({ status: 201 })
      const old = project.repository.commit({ [`old-${count}`]: 'old' })
      expect(await world.root.put(fileOf(project.id, `old-${count}`), content)).toMatchObject({ status: 200 })
      expect(project.repository.git('rev-parse', 'main~')).toBe(old)
      for (const name of [made, `old-${count}`]) expect(project.repository.git('show', `main:${name}`)).toBe(stored)
    }
  })

  test('D1-FILE-PATH-ENCODED: the path of a written file is one decoded segment', async ({ world }) => {
    const project = await withFile(world)
    for (const path of [
      'a b+c&d=e;f#g?.txt',
      '100%.txt',
      '%2F',
      '"q\'',
      'back\\slash',
      '.dot',
      'data.json',
      '\u{1f600}',
    ]) {
      const made = await world.root.post(fileOf(project.id, path), { ...write, content: path })
      expect(made).toMatchObject({ status: 201, json: { file_path: path } })
      expect(project.repository.git('show', `main:${path}`)).toBe(path)
    }
    expect(project.repository.git('fsck', '--strict')).toBe('')
  })

  test('D1-FILE-START-BRANCH: start_branch creates the branch, which must not exist', async ({ world }) => {
    const project = await withFile(world)
    const send = (more: object) => world.root.post(fileOf(project.id, 'x'), { ...write, ...more })
    expect(await send({ branch: 'new', start_branch: 'main' })).toMatchObject({ status: 201, json: { branch: 'new' } })
    expect(project.repository.git('rev-parse', 'new~')).toBe(project.first)
    expect(project.tip()).toBe(project.first)
    expect(await send({ branch: 'new', start_branch: 'main' })).toMatchObject({
      status: 400,
      json: { message: "A branch called 'new' already exists. Switch to that branch in order to make changes" },
    })
    expect(await send({ branch: 'none' })).toMatchObject({
      status: 400,
      json: { message: 'You can only create or edit files when you are on a branch' },
    })
  })

  test('D1-FILE-LAST-COMMIT-ID D1-FILE-FAIL-STALE: 400 for a file that changed since', async ({ world }) => {
    const project = await withFile(world)
    const path = fileOf(project.id, 'b.txt')
    const second = project.repository.commit({ 'b.txt': 'changed\n' })
    const third = project.repository.commit({ 'other.txt': 'x' })
    expect(await world.root.put(path, { ...write, last_commit_id: project.first })).toMatchObject({
      status: 400,
      json: { message: 'You are attempting to update a file that has changed since you started editing it.' },
    })
    const gone = `${path}?branch=main&commit_message=m&last_commit_id=`
    expect(await world.root.delete(gone + project.first)).toMatchObject({
      status: 400,
      json: { message: 'You are attempting to delete a file that has been previously updated.' },
    })
    expect(project.tip()).toBe(third)
    expect((await world.root.put(path, { ...write, last_commit_id: second })).status).toBe(200)
    expect((await world.root.delete(gone + project.tip())).status).toBe(204)
  })

  test.for([
    ['POST', 'b.txt', {}, { message: 'A file with this name already exists' }],
    ['POST', 'dir', {}, { message: 'A directory with this name already exists' }],
    ['POST', 'b.txt/c', {}, { message: 'A file with this name already exists' }],
    ['PUT', 'none', {}, { message: "A file with this name doesn't exist" }],
    ['PUT', 'dir', {}, { message: "A file with this name doesn't exist" }],
    ['DELETE', 'none', {}, { message: "A file with this name doesn't exist" }],
    ['PUT', 'b.txt', { content: 'b\n' }, { message: 'Nothing would change: the commit would be empty' }],
    ['POST', 'a/../b', {}, { error: 'file_path should be a valid file path' }],
    ['PUT', '../b.txt', {}, { error: 'file_path should be a valid file path' }],
    ['DELETE', 'x/..', {}, { error: 'file_path should be a valid file path' }],
    ['POST', 'a//b', {}, { message: "invalid path: 'a//b'" }],
    ['POST', '/a', {}, { message: "invalid path: '/a'" }],
    ['POST', '.git/hooks/update', {}, { message: "invalid path: '.git/hooks/update'" }],
    ['POST', 'x', { encoding: 'rot13' }, { error: 'encoding does not have a valid value' }],
    ['POST', 'x', { branch: '' }, { error: 'branch is empty' }],
    ['POST', 'x', { commit_message: ' ' }, { error: 'commit_message is empty' }],
    ['PUT', 'b.txt', { content: undefined }, { error: 'content is missing' }],
    [
      'POST',
      'x',
      { branch: undefined, commit_message: undefined },
      { error: 'branch is missing, commit_message is missing' },
    ],
    ['POST', 'x', { content: '*', encoding: 'base64' }, { message: 'The content is not valid Base64' }],
  ] as const)(
    'D1-FILE-FAIL-400 D1-FILE-FAIL-EMPTY: %s %s %j is refused',
    async ([method, path, more, json], { world }) => {
      const project = await withFile(world)
      const answer = await world.root.send(method, fileOf(project.id, path), { json: { ...write, ...more } })
      expect(answer).toMatchObject({ status: 400, json })
      expect(project.tip()).toBe(project.first)
    },
  )

  test.for([
    ['anonymous', 'public', 'none', 401, '401 Unauthorized'],
    ['a stranger', 'private', 'none', 404, '404 Project Not Found'],
    ['a stranger', 'public', 'none', 403, '403 Forbidden'],
    ['a reporter', 'private', 'reporter', 403, '403 Forbidden'],
  ] as const)('%s of a %s project (%s): write is %i', async ([who, visibility, level, status, message], { world }) => {
    const ann = who === 'anonymous' ? world.anonymous : await world.user()
    const project = await storedProject(world, { visibility, members: level === 'none' ? [] : [[ann, level]] })
    const first = project.repository.commit({ 'b.txt': 'b\n' })
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect(await ann.send(method, fileOf(project.id, 'b.txt'), { json: write })).toMatchObject({
        status,
        json: { message },
      })
    expect(project.repository.git('rev-parse', 'main')).toBe(first)
  })

  test('D1-FILES-SCOPES: writing needs the scope api, and 403 in an archived project', async ({ world }) => {
    const ann = await world.user()
    const project = await withFile(world, [[ann, 'developer']])
    const reader = await world.as(ann, ['read_repository', 'read_api', 'write_repository'])
    expect((await reader.post(fileOf(project.id, 'x'), write)).status).toBe(403)
    await world.archive(project as never)
    for (const who of [ann, world.root]) expect((await who.post(fileOf(project.id, 'x'), write)).status).toBe(403)
  })

  test('a large file is stored for a developer; 401 without an account before reading the body', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world, { visibility: 'public', members: [[ann, 'developer']] })
    project.repository.commit({ 'b.txt': 'b\n' })
    const bytes = Buffer.alloc(12 * 1024 * 1024, 'x')
    const large = { ...write, content: bytes.toString('base64'), encoding: 'base64' }
    expect((await ann.post(fileOf(project.id, 'large'), large)).status).toBe(201)
    expect(project.repository.git('cat-file', '-s', 'main:large')).toBe(String(bytes.length))
    expect((await world.anonymous.post(fileOf(project.id, 'other'), large)).status).toBe(401)
  })

  test('edits of other files keep links and submodules; an edited link keeps its mode', async ({ world }) => {
    const { id, repository } = await withFile(world)
    repository.commit({
      link: { mode: '120000', content: 'b.txt' },
      sub: { mode: '160000', oid: 'c'.repeat(40) as Oid },
      run: { mode: '100755', content: 'x' },
    })
    expect((await world.root.put(fileOf(id, 'link'), { ...write, content: 'dir' })).status).toBe(200)
    expect((await world.root.put(fileOf(id, 'run'), write)).status).toBe(200)
    expect((await world.root.put(fileOf(id, 'sub'), write)).status).toBe(400)
    const move = (previous_path: string, file_path: string) =>
      world.root.post(`/projects/${id}/repository/commits`, {
        branch: 'main',
        commit_message: 'm',
        actions: [{ action: 'move', previous_path, file_path }],
      })
    for (const name of ['.gitmodules', 'gitmod~1', '.git\u200cmodules'])
      for (const from of ['link', 'sub'])
        expect([from, name, (await move(from, name)).status]).toEqual([from, name, 400])
    expect((await move('sub', 'x/.gitmodules/y')).status).toBe(400)
    const modes = repository.git('ls-tree', 'main').replaceAll(/ \w+ [0-9a-f]+\t/g, ' ')
    expect(modes).toBe('100644 b.txt\n040000 dir\n120000 link\n100755 run\n160000 sub')
  })

  test('D1-FILE-FAIL-TRAVERSAL: hostile paths change and delete nothing', async ({ world }) => {
    const project = await withFile(world)
    for (const path of hostilePaths) {
      for (const method of ['PUT', 'DELETE']) {
        const answer = await world.root.send(method, fileOf(project.id, path), { json: write })
        expect([400, 404, 414], `${method} ${JSON.stringify(path)}`).toContain(answer.status)
      }
    }
    expect(project.tip()).toBe(project.first)
  })
})
