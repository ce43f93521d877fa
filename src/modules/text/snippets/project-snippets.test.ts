import { randomBytes } from 'node:crypto'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { hideSnippet } from '../../../../test/tables/text.ts'
import { type Client, git, test, type World } from '../../../../test/world.ts'
import { removeUser } from '../../groups/user-removal/jobs.ts'
import { findSideRepository, openSideRepository } from '../../pushes/index.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { createSnippet } from './testing.ts'

const created = { title: 'Hello', file_name: 'hello.rb', content: 'puts 1\n', visibility: 'public' }
const missing = { status: 404, json: { message: '404 Snippet Not Found' } }

/** A public project with a reporter. */
async function withReporter(world: World) {
  const ann = await world.user()
  const project = await storedProject(world, { visibility: 'public', members: [[ann, 'reporter']] })
  return { ann, project, path: `/projects/${project.id}/snippets` }
}

describe('snippets of a project', () => {
  test('D2-SNIPPET-CREATE-RIGHT: reporters create snippets, others do not', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    expect((await ann.post(path, created)).status).toBe(201)
    expect((await (await world.user()).post(path, created)).status).toBe(403)
    expect((await world.anonymous.post(path, created)).status).toBe(401)
  })

  test.for(['private', 'disabled'])(
    'anonymous callers get a 401 for a snippet, as for the list, and others a 403, if snippets of the project are %s',
    async (snippets_access_level, { world }) => {
      const { ann, project, path } = await withReporter(world)
      const one = `${path}/${(await ann.post(path, created)).json.id}`
      expect((await world.anonymous.get(one)).status).toBe(200)
      await world.root.put(`/projects/${project.id}`, { snippets_access_level })
      const stranger = await world.user()
      for (const at of [path, one, `${one}/raw`, `${one}/notes`, `${one}/discussions`, `${one}/award_emoji`]) {
        expect(await world.anonymous.get(at)).toMatchObject({ status: 401, json: { message: '401 Unauthorized' } })
        expect(await stranger.get(at)).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
      }
    },
  )

  test('a snippet is created, read, listed, changed and deleted', async ({ world }) => {
    const { ann, project, path } = await withReporter(world)
    const made = await ann.post(path, { ...created, description: 'Says *one*' })
    const { id } = made.json
    const page = `${world.origin}/${project.full_path}/-/snippets/${id}`
    expect(made.json).toEqual({
      id,
      title: 'Hello',
      description: 'Says *one*',
      visibility: 'public',
      author: expect.objectContaining({ id: ann.id, username: ann.username, state: 'active' }),
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      project_id: project.id,
      web_url: page,
      raw_url: `${page}/raw`,
      ssh_url_to_repo: expect.stringMatching(new RegExp(`${project.full_path}/snippets/${id}\\.git$`)),
      http_url_to_repo: `${world.origin}/${project.full_path}/snippets/${id}.git`,
      file_name: 'hello.rb',
      files: [{ path: 'hello.rb', raw_url: `${page}/raw/master/hello.rb` }],
    })
    const one = `${path}/${id}`
    expect((await ann.get(one)).json).toEqual(made.json)
    const second = (await ann.post(path, { ...created, title: 'Second' })).json
    expect((await ann.get(path)).json).toEqual([second, made.json])
    expect((await ann.get(`${path}?per_page=1&page=2`)).json).toEqual([made.json])
    const changed = await ann.put(one, {
      title: 'Bye',
      file_name: 'bye.rb',
      content: 'puts 2\n',
      visibility: 'internal',
    })
    expect(changed).toMatchObject({
      status: 200,
      json: { id, title: 'Bye', file_name: 'bye.rb', visibility: 'internal', description: 'Says *one*' },
    })
    expect((await ann.get(`${one}/raw`)).text).toBe('puts 2\n')
    expect((await ann.put(one, { description: '' })).json.description).toBe('')
    expect(await ann.delete(one)).toMatchObject({ status: 204, text: '' })
    expect(await ann.get(one)).toMatchObject(missing)
  })

  test('D2-SNIPPET-DELETE: 404 for deleting a snippet that is missing or of another project', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const other = await storedProject(world, { visibility: 'public' })
    const elsewhere = await createSnippet(world, { project: other, visibility: 'public' })
    expect(await ann.delete(`${path}/999999`)).toMatchObject(missing)
    expect(await world.root.delete(`${path}/${elsewhere.id}`)).toMatchObject(missing)
    const personal = await createSnippet(world, { visibility: 'public' })
    expect(await world.root.get(`${path}/${personal.id}`)).toMatchObject(missing)
    const headers = { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }
    expect((await world.root.delete(elsewhere.at, { headers })).status).toBe(412)
  })

  test('400 for missing, empty and invalid attributes', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const without = async (name: string) => {
      const { [name]: _, ...rest } = created as Record<string, string>
      return (await ann.post(path, rest)).json
    }
    for (const name of ['title', 'file_name', 'content', 'visibility'])
      expect(await without(name)).toEqual({ error: `${name} is missing` })
    const refused = async (with_: object) => (await ann.post(path, { ...created, ...with_ })).json
    expect(await refused({ content: '' })).toEqual({ error: 'content is empty' })
    expect(await refused({ visibility: 'secret' })).toEqual({ error: 'visibility does not have a valid value' })
    const long = 'is too long (maximum is 255 characters)'
    expect(await refused({ title: 'x'.repeat(256) })).toEqual({ message: { title: [long] } })
    expect(await refused({ file_name: 'x'.repeat(256) })).toEqual({ message: { file_name: [long] } })
    const { id } = (await ann.post(path, created)).json
    expect((await ann.put(`${path}/${id}`, {})).json.error).toMatch(
      /^title, file_name, description, content, visibility.* are missing, at least one parameter must be provided$/,
    )
    expect((await ann.put(`${path}/${id}`, { content: '' })).json).toEqual({ error: 'content is empty' })
  })

  test('the content may be named code, as older clients do', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const { content: code, ...rest } = created
    const made = await ann.post(path, { ...rest, code })
    expect(made.status).toBe(201)
    const one = `${path}/${made.json.id}`
    expect((await ann.get(`${one}/raw`)).text).toBe(code)
    expect((await ann.put(one, { code: 'older' })).status).toBe(200)
    expect((await ann.get(`${one}/raw`)).text).toBe('older')
  })

  test('D2-SNIPPET-RAW: the raw content is plain text, byte for byte, and a download', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const content = '\uFEFF<script>alert(1)</script>\r\n\tümläut\n\n'
    const { id } = (await ann.post(path, { ...created, file_name: 'täst.html', content })).json
    const raw = await ann.get(`${path}/${id}/raw`)
    expect(raw.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(raw.headers['content-disposition']).toMatch(/^attachment/)
    expect(raw.headers['content-security-policy']).toContain('sandbox')
    expect(raw.headers['content-length']).toBe(String(Buffer.byteLength(content)))
    expect(raw.text).toBe(content.slice(1))
    expect(await ann.get(`${path}/${id}/files/master/t%C3%A4st.html/raw`)).toMatchObject({
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      text: content.slice(1),
    })
    for (const name of ['master/none', 'none/t%C3%A4st.html', 'master/..%2Fx'])
      expect([400, 404]).toContain((await ann.get(`${path}/${id}/files/${name}/raw`)).status)
  })

  test('400 above snippet_size_limit, and for restricted visibility levels', async () => {
    const { World } = await import('../../../../test/world.ts')
    await using world = await World.start()
    const { ann, path } = await withReporter(world)
    await world.settings({ snippet_size_limit: 10, restricted_visibility_levels: ['public'] })
    const small = { ...created, content: 'x'.repeat(10), visibility: 'private' }
    const { status, json } = await ann.post(path, small)
    expect(status).toBe(201)
    const big = { content: ['is too long (11 Bytes). The maximum size is 10 Bytes.'] }
    const content = 'x'.repeat(11)
    expect(await ann.post(path, { ...small, content })).toMatchObject({ status: 400, json: { message: big } })
    expect(await ann.put(`${path}/${json.id}`, { content })).toMatchObject({ status: 400, json: { message: big } })
    const restricted = await ann.post(path, { ...small, visibility: 'public' })
    expect(restricted).toMatchObject({ status: 400, json: { message: { visibility_level: [expect.any(String)] } } })
    expect((await world.root.post(path, { ...small, visibility: 'public' })).status).toBe(201)
  })

  test('a snippet keeps a visibility level that was restricted since', async () => {
    const { World } = await import('../../../../test/world.ts')
    await using world = await World.start()
    const { ann, path } = await withReporter(world)
    const { id } = (await ann.post(path, created)).json
    await world.settings({ restricted_visibility_levels: ['public'] })
    const edit = { title: 'Bye', content: 'puts 2\n', visibility: 'public' }
    expect(await ann.put(`${path}/${id}`, edit)).toMatchObject({
      status: 200,
      json: { title: 'Bye', visibility: 'public' },
    })
    expect((await ann.put(`${path}/${id}`, { visibility: 'private' })).status).toBe(200)
    expect((await ann.put(`${path}/${id}`, edit)).status).toBe(400)
  })

  test('400 for a restricted visibility level that a snippet has lost by the time it is changed', async () => {
    const { World } = await import('../../../../test/world.ts')
    await using world = await World.start()
    const { ann, path } = await withReporter(world)
    const { id } = (await ann.post(path, created)).json
    await world.settings({ restricted_visibility_levels: ['public'] })
    const { answer } = await world.db.transaction(async (tx) => {
      await hideSnippet(tx, id)
      const answer = ann.put(`${path}/${id}`, { title: 'Bye', visibility: 'public' })
      await world.waitsForLock()
      return { answer }
    })
    expect(await answer).toMatchObject({ status: 400, json: { message: { visibility_level: [expect.any(String)] } } })
    expect((await ann.get(`${path}/${id}`)).json).toMatchObject({ title: 'Hello', visibility: 'private' })
  })

  test('D2-SNIPPET-AGENT-ADMIN: administrators see which client created a snippet, others do not', async ({
    world,
  }) => {
    const { ann, path } = await withReporter(world)
    const headers = { 'user-agent': 'Spambot/1.0' }
    const { id } = (await ann.send('POST', path, { json: created, headers })).json
    expect(await world.root.get(`${path}/${id}/user_agent_detail`)).toMatchObject({
      status: 200,
      json: { user_agent: 'Spambot/1.0', ip_address: expect.stringMatching(/\S/), spam_filter_submitted: false },
    })
    expect((await ann.get(`${path}/${id}/user_agent_detail`)).status).toBe(403)
  })

  test('snippets that are created and deleted at once all count in the storage of their project', async ({ world }) => {
    const { ann, project, path } = await withReporter(world)
    const size = async () =>
      (await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.snippets_size
    for (let round = 0; round < 3; round++) {
      const made = await Promise.all(Array.from({ length: 8 }, () => ann.post(path, created)))
      expect(await size()).toBe(8 * 7)
      await Promise.all(made.map(({ json }) => ann.delete(`${path}/${json.id}`)))
      expect(await size()).toBe(0)
    }
  })

  test('snippets that are deleted with all contributions of their author do not count any more', async ({ world }) => {
    const { ann, project, path } = await withReporter(world)
    const size = async () =>
      (await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.snippets_size
    await ann.post(path, created)
    await world.root.post(path, created)
    expect(await size()).toBe(14)
    expect((await world.root.delete(`/users/${ann.id}?hard_delete=true`)).status).toBe(204)
    await removeUser.run({ userId: ann.id, hard: true }, await world.app.open(null))
    expect((await world.root.get(path)).json).toHaveLength(1)
    expect(await size()).toBe(7)
  })

  test('snippets have events, lines in the activity feed, and count as storage of their project', async ({ world }) => {
    const { ann, project, path } = await withReporter(world)
    const { id } = (await ann.post(path, created)).json
    await ann.put(`${path}/${id}`, { title: 'Other' })
    const feed = (await world.root.get(`/projects/${project.id}/events`)).json
    expect(feed).toContainEqual(
      expect.objectContaining({ action_name: 'created', target_type: 'Snippet', target_id: id, target_title: 'Hello' }),
    )
    const { statistics } = (await world.root.get(`/projects/${project.id}?statistics=true`)).json
    expect(statistics).toMatchObject({ snippets_size: 7 })
    expect(statistics.storage_size).toBeGreaterThanOrEqual(7)
    await ann.delete(`${path}/${id}`)
    expect((await world.root.get(`/projects/${project.id}?statistics=true`)).json.statistics.snippets_size).toBe(0)
    const events = await eventsOf(world, { actor: ann.id, kind: 'snippet_%' }, 'kind', 'payload')
    expect(events).toMatchObject([
      { kind: 'snippet_created', payload: { snippet_id: id, user_id: ann.id } },
      { kind: 'snippet_updated', payload: { snippet_id: id, changed: ['title'] } },
      { kind: 'snippet_deleted', payload: { snippet_id: id } },
    ])
    expect((await world.root.get(`/projects/${project.id}/events`)).text).not.toContain('Hello')
  })
})

/** The file in which the repository of a snippet stores a file at its head. */
async function storedAt(world: World, who: Client, id: number, path: string): Promise<string> {
  const ctx = await contextFor(world, who)
  const row = (await findSideRepository(ctx.db, { kind: 'snippet', id }))!
  const { gitDir } = openSideRepository(ctx, row)
  const oid = (await git(gitDir, 'rev-parse', `master:${path}`)).trim()
  return join(gitDir, 'objects', oid.slice(0, 2), oid.slice(2))
}

describe('snippets of several files', () => {
  const files = [
    { file_path: 'b.txt', content: 'b' },
    { file_path: 'a/deep.txt', content: 'deep' },
  ]
  const several = { title: 'Several', visibility: 'public', files }

  test('files are created, changed, moved and deleted in one call', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const made = await ann.post(path, several)
    expect(made).toMatchObject({ status: 201, json: { file_name: 'a/deep.txt' } })
    const one = `${path}/${made.json.id}`
    const paths = async () => (await ann.get(one)).json.files.map((file: { path: string }) => file.path)
    expect(await paths()).toEqual(['a/deep.txt', 'b.txt'])
    const raw = async (name: string) => (await ann.get(`${one}/files/master/${encodeURIComponent(name)}/raw`)).text
    const changed = await ann.put(one, {
      files: [
        { action: 'move', previous_path: 'b.txt', file_path: 'c.txt' },
        { action: 'update', file_path: 'a/deep.txt', content: 'deeper' },
        { action: 'create', file_path: 'b.txt', content: 'new b' },
      ],
    })
    expect(changed.status, changed.text).toBe(200)
    expect(await paths()).toEqual(['a/deep.txt', 'b.txt', 'c.txt'])
    expect([await raw('a/deep.txt'), await raw('b.txt'), await raw('c.txt')]).toEqual(['deeper', 'new b', 'b'])
    await ann.put(one, { files: [{ action: 'delete', file_path: 'a/deep.txt' }] })
    expect(await paths()).toEqual(['b.txt', 'c.txt'])
    expect(await ann.put(one, { content: 'x' })).toMatchObject({
      status: 400,
      json: { message: 'To update snippet with multiple files, you must use the `files` parameter' },
    })
  })

  test("files swap their names and take each other's place, without being written again", async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const { id } = (await ann.post(path, several)).json
    const move = (previous_path: string, file_path: string) => ({ action: 'move', previous_path, file_path })
    const change = async (...actions: object[]) => {
      const answer = await ann.put(`${path}/${id}`, { files: actions })
      expect(answer.status, answer.text).toBe(200)
    }
    const texts = async () => {
      const found: Record<string, string> = {}
      for (const { path: name } of (await ann.get(`${path}/${id}`)).json.files)
        found[name] = (await ann.get(`${path}/${id}/files/master/${encodeURIComponent(name)}/raw`)).text
      return found
    }
    await change(move('b.txt', 'c.txt'), move('a/deep.txt', 'b.txt'), move('c.txt', 'a/deep.txt'))
    expect(await texts()).toEqual({ 'a/deep.txt': 'b', 'b.txt': 'deep' })
    await change(move('b.txt', 'moved'), move('a/deep.txt', 'a.txt'), move('a.txt', 'a'))
    expect(await texts()).toEqual({ a: 'b', moved: 'deep' })
    await change(move('a', 'c'), move('moved', 'a/d'), move('c', 'moved/e'))
    expect(await texts()).toEqual({ 'a/d': 'deep', 'moved/e': 'b' })
    await change(move('a/d', 'f'), { action: 'create', file_path: 'a/d', content: 'new' }, move('moved/e', 'moved/g'), {
      action: 'delete',
      file_path: 'f',
    })
    expect(await texts()).toEqual({ 'a/d': 'new', 'moved/g': 'b' })
  })

  test('a large file moves without being read', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    // Larger than what a search of code reads.
    const content = randomBytes(600_000).toString('hex')
    const { id } = (await ann.post(path, { ...several, files: [{ file_path: 'b.txt', content }] })).json
    const stored = await storedAt(world, ann, id, 'b.txt')
    const whole = await readFile(stored)
    await rm(stored)
    await writeFile(stored, whole.subarray(0, 1000))
    const moved = { action: 'move', previous_path: 'b.txt', file_path: 'c.txt' }
    expect(await ann.put(`${path}/${id}`, { files: [moved] })).toMatchObject({
      status: 200,
      json: { files: [{ path: 'c.txt' }] },
    })
    await rm(stored)
    await writeFile(stored, whole)
    expect((await ann.get(`${path}/${id}/files/master/c.txt/raw`)).text).toBe(content)
  })

  test('400 for a move to a name under which git reads the file, and refuses its content', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const content = '[submodule "x"]\n\tpath = x\n\turl = --upload-pack=touch\n'
    const { id } = (await ann.post(path, { ...several, files: [{ file_path: 'b.txt', content }] })).json
    const moved = { action: 'move', previous_path: 'b.txt', file_path: '.gitmodules' }
    expect(await ann.put(`${path}/${id}`, { files: [moved] })).toMatchObject({
      status: 400,
      json: { message: "invalid file: '.gitmodules'" },
    })
  })

  test('400 for changes that cannot be applied; nothing changes', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const { id } = (await ann.post(path, several)).json
    const refused = async (...changes: object[]) => {
      const answer = await ann.put(`${path}/${id}`, { title: 'Changed', files: changes })
      expect(answer.status, answer.text).toBe(400)
      return answer.json.message ?? answer.json.error
    }
    const gone = { action: 'delete', file_path: 'b.txt' }
    expect(await refused(gone, { action: 'update', file_path: 'b.txt', content: 'x' })).toMatch(/doesn't exist/)
    expect(await refused({ action: 'create', file_path: 'b.txt', content: 'x' })).toMatch(/already exists/)
    expect(await refused({ action: 'create', file_path: 'b.txt/x', content: 'x' })).toMatch(/already exists/)
    expect(await refused({ action: 'move', file_path: 'c' })).toMatch(/previous_path\] is missing/)
    expect(await refused({ action: 'create', file_path: 'c' })).toMatch(/content\] is missing/)
    expect(await refused(gone, { action: 'delete', file_path: 'a/deep.txt' })).toMatch(/at least 1 file/)
    const ten = Array.from({ length: 9 }, (_, n) => ({ action: 'create', file_path: `n${n}`, content: 'x' }))
    expect(await refused(...ten)).toMatch(/at most 10 file/)
    expect((await ann.get(`${path}/${id}`)).json).toMatchObject({ title: 'Several', files: [{}, {}] })
    expect((await ann.post(path, { ...several, content: 'x' })).json.error).toBe(
      'files, content are mutually exclusive',
    )
  })

  test('400 for hostile file names', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const names = [
      '../x',
      'a/../../x',
      '.git/config',
      '.GIT',
      'git~1',
      '.g\u200cit',
      '/etc/passwd',
      'a//b',
      '.',
      'a/',
      'a\nb',
      'a\u0000b',
      ' ',
      '',
    ]
    for (const file_name of names) {
      const { status, text } = await ann.post(path, { ...created, file_name })
      expect(status, `${JSON.stringify(file_name)} ${text}`).toBe(400)
      expect((await ann.post(path, { ...several, files: [{ file_path: file_name, content: 'x' }] })).status).toBe(400)
    }
    expect((await ann.get(path)).json).toEqual([])
  })

  test('concurrent edits of different files are all applied', async ({ world }) => {
    const { ann, path } = await withReporter(world)
    const { id } = (await ann.post(path, several)).json
    const edits = Array.from({ length: 6 }, (_, n) =>
      ann.put(`${path}/${id}`, { files: [{ action: 'create', file_path: `n${n}`, content: String(n) }] }),
    )
    expect((await Promise.all(edits)).map(({ status }) => status)).toEqual(Array(6).fill(200))
    const { files: after } = (await ann.get(`${path}/${id}`)).json
    expect(after.map((file: { path: string }) => file.path)).toEqual([
      'a/deep.txt',
      'b.txt',
      ...[0, 1, 2, 3, 4, 5].map((n) => `n${n}`),
    ])
    const more = Array.from({ length: 6 }, (_, n) =>
      ann.put(`${path}/${id}`, { files: [{ action: 'create', file_path: `m${n}`, content: String(n) }] }),
    )
    expect((await Promise.all(more)).map(({ status }) => status).sort()).toEqual([200, 200, 400, 400, 400, 400])
  })
})
