import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { FormData } from 'undici'
import { describe, expect } from 'vitest'
import { type Client, git, temporaryFolder, test, unique } from '../../../../test/world.ts'
import { edited, files, holder, kinds, page, remoteOf, write } from './testing.ts'

describe('wiki pages', () => {
  test.for(kinds)(
    'render_html shows a page of a %s as HTML, with links to its pages and for the reader',
    async (of, { world }) => {
      const held = await holder(world, of)
      const project = await world.project({ visibility: 'private' })
      const issue = (await world.root.post(`/projects/${project.id}/issues`, { title: 'Secret plans' })).json
      const reference = `${project.full_path}#${issue.iid}`
      const content = `# Start\n\n[next](next) <script>alert(1)</script> ${reference}\n`
      await world.root.post(held.at, { title: 'docs/start', content })
      const home = of === 'project' ? held.full_path : `groups/${held.full_path}`
      const read = async (who: Client) =>
        (await who.get(`${held.at}/docs%2Fstart?render_html=true`)).json.content as string
      const html = await read(world.root)
      expect(html).toContain(`href="${world.origin}/${home}/-/wikis/docs/next"`)
      expect(html).toContain('title="Secret plans"')
      expect(html).not.toContain('<script')
      const ann = await world.user()
      await world.root.post(`/${of}s/${held.id}/members`, { user_id: ann.id, access_level: 20 })
      expect(await read(ann)).toContain(reference)
      expect(await read(ann)).not.toContain('Secret plans')
      expect((await world.root.get(`${held.at}/docs%2Fstart`)).json.content).toBe(content)
    },
  )

  test('render_html shows a page that is not Markdown as it is written', async ({ world }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'plain', content: '= <b>', format: 'asciidoc' })
    const { json } = await world.root.get(`${held.at}/plain?render_html=true`)
    expect(json.content).toBe('<pre><code>= &lt;b&gt;</code></pre>')
  })

  test.for(kinds)('pages of a %s are created, listed, read, changed and deleted', async (of, { world }) => {
    const held = await holder(world, of)
    expect(await world.root.get(held.at)).toMatchObject({ status: 200, json: [] })
    const created = await world.root.post(held.at, { title: 'docs/How to start', content: '# Start\n' })
    expect(created).toMatchObject({
      status: 201,
      json: {
        title: 'How to start',
        slug: 'docs/How-to-start',
        format: 'markdown',
        content: '# Start\n',
        encoding: 'UTF-8',
      },
    })
    await world.root.post(held.at, { title: 'about', content: '= About', format: 'asciidoc' })
    expect((await world.root.get(held.at)).json).toEqual([
      { title: 'about', slug: 'about', format: 'asciidoc' },
      { title: 'How to start', slug: 'docs/How-to-start', format: 'markdown' },
    ])
    const detailed = await world.root.get(`${held.at}?with_content=true&per_page=1&page=2`)
    expect(detailed.json).toEqual([created.json])
    expect(detailed.headers).toMatchObject({ 'x-total': '2', 'x-next-page': '' })
    expect((await world.root.get(`${held.at}/${page('docs/How-to-start')}`)).json).toEqual(created.json)
    const changed = await world.root.put(`${held.at}/${page('docs/How-to-start')}`, { content: 'new', format: 'org' })
    expect(changed).toMatchObject({ status: 200, json: { slug: 'docs/How-to-start', format: 'org', content: 'new' } })
    expect(await files(world, held)).toEqual(['about.asciidoc', 'docs/How-to-start.org'])
    expect((await world.root.delete(`${held.at}/about`)).status).toBe(204)
    expect(await world.root.get(`${held.at}/about`)).toMatchObject({
      status: 404,
      json: { message: '404 Wiki Page Not Found' },
    })
    expect(await world.root.delete(`${held.at}/about`)).toMatchObject({ status: 404 })
    expect(await world.root.put(`${held.at}/about`, { content: 'x' })).toMatchObject({ status: 404 })
  })

  test('a page is renamed in its folder, moved to another one and to the root, with its content', async ({ world }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'a/one', content: 'text' })
    const rename = async (from: string, title: string) =>
      (await world.root.put(`${held.at}/${page(from)}`, { title })).json
    expect(await rename('a/one', 'two')).toMatchObject({ slug: 'a/two', title: 'two', content: 'text' })
    expect(await rename('a/two', 'b/c/three')).toMatchObject({ slug: 'b/c/three' })
    expect(await rename('b/c/three', '/four')).toMatchObject({ slug: 'four' })
    expect(await files(world, held)).toEqual(['four.md'])
    await world.root.post(held.at, { title: 'taken', content: 'x' })
    expect(await world.root.put(`${held.at}/four`, { title: 'taken' })).toMatchObject({
      status: 400,
      json: { message: { title: ['has already been taken'] } },
    })
  })

  test.for<[object, object]>([
    [{ title: 'x' }, { error: 'content is missing' }],
    [{ content: 'x' }, { error: 'title is missing' }],
    [{ title: 'x', content: '' }, { message: { content: ["can't be blank"] } }],
    [{ title: ' ', content: 'x' }, { message: { title: ["can't be blank"] } }],
    [{ title: 'a/../b', content: 'x' }, { message: { title: ['is invalid'] } }],
    [{ title: '.git/x', content: 'x' }, { message: { title: ['is invalid'] } }],
    [{ title: 'pages', content: 'x' }, { message: { title: ['is reserved'] } }],
    [{ title: 'x', content: 'x', format: 'word' }, { error: 'format does not have a valid value' }],
    [
      { title: 'x'.repeat(246), content: 'x' },
      { message: { title: ['exceeds the limit of 245 bytes for page titles'] } },
    ],
  ])('400 for the new page %j', async ([sent, json], { world }) => {
    const held = await holder(world, 'project')
    expect(await world.root.post(held.at, sent)).toMatchObject({ status: 400, json })
  })

  test('a page larger than 5 MB is refused, and a pushed one is left out of lists', async ({ world }) => {
    const held = await holder(world, 'project')
    const large = 'x'.repeat(5 * 1024 * 1024 + 1)
    expect(await world.root.post(held.at, { title: 'x', content: large })).toMatchObject({
      status: 400,
      json: { message: { content: ['is too long. The maximum size is 5 MB.'] } },
    })
    await world.root.post(held.at, { title: 'small', content: 'y' })
    await edited(world, held, (clone) => write(clone, { 'large.md': large }))
    expect((await world.root.get(`${held.at}?with_content=true`)).json).toEqual([
      { title: 'large', slug: 'large', format: 'markdown' },
      expect.objectContaining({ slug: 'small', content: 'y' }),
    ])
    expect((await world.root.get(`${held.at}/large`)).status).toBe(413)
  })

  test('a second page of the same title is refused, also from concurrent requests', async ({ world }) => {
    const held = await holder(world, 'project')
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) => world.root.post(held.at, { title: 'Same', content: `${n}` })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 400, 400, 400, 400, 400])
    expect(await files(world, held)).toEqual(['Same.md'])
  })

  test('of concurrent changes of a page one wins and the others are conflicts; other pages are not affected', async ({
    world,
  }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'shared', content: 'first' })
    const [same, others] = await Promise.all([
      Promise.all(Array.from({ length: 6 }, (_, n) => world.root.put(`${held.at}/shared`, { content: `${n}` }))),
      Promise.all(Array.from({ length: 4 }, (_, n) => world.root.post(held.at, { title: `p${n}`, content: 'x' }))),
    ])
    const won = same.filter(({ status }) => status === 200)
    expect(won.length).toBeGreaterThan(0)
    expect(same.filter(({ status }) => status !== 200).every(({ status }) => status === 409)).toBe(true)
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201, 201])
    const { content } = (await world.root.get(`${held.at}/shared`)).json
    expect(won.map(({ json }) => json.content)).toContain(content)
  })

  test('an earlier version of a page is read by its commit, not by a branch', async ({ world }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'p', content: 'old' })
    await using folder = await temporaryFolder()
    await git(folder.path, 'clone', '-q', remoteOf(world, held), 'clone')
    const commit = await git(join(folder.path, 'clone'), 'rev-parse', 'HEAD')
    await world.root.put(`${held.at}/p`, { content: 'new' })
    const read = (version: string) => world.root.get(`${held.at}/p?version=${version}`)
    expect((await read(commit)).json.content).toBe('old')
    expect((await read(commit.slice(0, 9))).json.content).toBe('old')
    for (const version of ['master', '0'.repeat(40), 'HEAD', '-x']) expect((await read(version)).status).toBe(404)
  })

  test('attachments are committed beside the pages; pictures are embedded', async ({ world }) => {
    const held = await holder(world, 'project')
    const upload = (name: string, branch?: string) => {
      const form = new FormData()
      form.set('file', new Blob([randomBytes(100)]), name)
      if (branch !== undefined) form.set('branch', branch)
      return world.root.send('POST', `${held.at}/attachments`, { body: form })
    }
    const { status, json } = await upload('a picture.png')
    expect(status).toBe(201)
    expect(json).toEqual({
      file_name: 'a_picture.png',
      file_path: expect.stringMatching(/^uploads\/[0-9a-f]{32}\/a_picture\.png$/),
      branch: 'master',
      link: { url: json.file_path, markdown: `![a_picture.png](${json.file_path})` },
    })
    expect((await upload('x.zip', 'master')).json.link.markdown).toMatch(/^\[x\.zip\]/)
    expect((await upload('x.zip', 'other')).status).toBe(400)
    expect((await world.root.get(held.at)).json).toEqual([])
    expect(await files(world, held)).toHaveLength(2)
    await world.settings({ max_attachment_size: 1 })
    const form = new FormData()
    form.set('file', new Blob([randomBytes(1024 * 1024 + 1)]), 'large.bin')
    expect((await world.root.send('POST', `${held.at}/attachments`, { body: form })).status).toBe(413)
  })
})

describe('search in wikis', () => {
  test('text of pages is found in the latest version by those who read the wiki, not in the code', async ({
    world,
  }) => {
    const held = await holder(world, 'project', 'public')
    const [stranger, word] = [await world.user(), unique('word')]
    const find = (who: Client, scope: string) => who.get(`/projects/${held.id}/search?scope=${scope}&search=${word}`)
    expect((await find(stranger, 'wiki_blobs')).json).toEqual([])
    await world.root.post(held.at, { title: 'docs/a', content: `one\ntwo ${word}\n` })
    expect(await find(stranger, 'wiki_blobs')).toMatchObject({
      status: 200,
      json: [{ path: 'docs/a.md', ref: 'master', project_id: held.id, data: expect.stringContaining(word) }],
    })
    expect((await find(stranger, 'blobs')).json).toEqual([])
    await world.root.put(`/projects/${held.id}`, { wiki_access_level: 'private' })
    expect((await find(stranger, 'wiki_blobs')).status).toBe(403)
    await world.root.delete(`${held.at}/${page('docs/a')}`)
    expect((await find(world.root, 'wiki_blobs')).json).toEqual([])
  })
})

describe('wikis and their projects', () => {
  test('a wiki stays with its project through rename, transfer and archiving, and a fork has none', async ({
    world,
  }) => {
    const held = await holder(world, 'project')
    await world.root.post(held.at, { title: 'home', content: 'h' })
    const group = await world.group()
    expect((await world.root.put(`/projects/${held.id}/transfer`, { namespace: group.id })).status).toBe(200)
    expect((await world.root.get(`${held.at}/home`)).json.content).toBe('h')
    expect(
      await files(world, { ...held, full_path: `${group.full_path}/${held.full_path.split('/').at(-1)}` }),
    ).toEqual(['home.md'])
    const fork = (await world.root.post(`/projects/${held.id}/fork`, { path: unique('fork') })).json
    expect((await world.root.get(`/projects/${fork.id}/wikis`)).json).toEqual([])
    await world.root.post(`/projects/${held.id}/archive`)
    expect((await world.root.put(`${held.at}/home`, { content: 'x' })).status).toBe(403)
    expect((await world.root.get(`${held.at}/home`)).status).toBe(200)
  })

  test('administrators download a snapshot of the repository of a wiki; before its first page there is none', async ({
    world,
  }) => {
    const held = await holder(world, 'project')
    const at = `/projects/${held.id}/snapshot?wiki=true`
    expect((await world.root.get(at)).status).toBe(404)
    await world.root.post(held.at, { title: 'home', content: 'h' })
    expect(await world.root.get(at)).toMatchObject({
      status: 200,
      headers: { 'content-disposition': expect.stringContaining('.wiki.git.tar') },
    })
  })
})
