import { describe, expect } from 'vitest'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { dangersOf } from '../../../markdown/testing/html.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

test('render_html adds title and description of a merge request as HTML, alone and in lists', async ({ world }) => {
  const { project, at } = await openMergeRequest(world, {
    title: 'Fix *all* <b>bugs</b> :tada:',
    description: 'See **this** and [docs](docs/a.md).',
  })
  const rendered = {
    title_html: 'Fix *all* &lt;b&gt;bugs&lt;/b&gt; 🎉',
    description_html: `<p>See <strong>this</strong> and <a href="${world.origin}/${project.full_path}/-/blob/HEAD/docs/a.md">docs</a>.</p>`,
  }
  expect((await world.root.get(`${at}?render_html=true`)).json).toMatchObject(rendered)
  expect((await world.root.get(at)).json).not.toHaveProperty('title_html')
  for (const list of [
    `/projects/${project.id}/merge_requests?render_html=true`,
    '/merge_requests?render_html=true&scope=all',
  ])
    expect((await world.root.get(list)).json[0]).toMatchObject(rendered)
  expect((await world.root.get(`/projects/${project.id}/merge_requests`)).json[0]).not.toHaveProperty(
    'description_html',
  )
})

test('render_html adds title and description of an issue as HTML, with references for the reader', async ({
  world,
}) => {
  const ann = await world.user()
  const hidden = await openIssue(world, { visibility: 'private', title: 'Secret plans' })
  const written = `${hidden.project.full_path}#${hidden.iid}`
  const { at, project } = await openIssue(world, { title: `Like ${written}`, description: written })
  const plain = { title_html: `Like ${written}`, description_html: `<p>${written}</p>` }
  expect((await ann.get(`${at}?render_html=true`)).json).toMatchObject(plain)
  expect((await ann.get(`/projects/${project.id}/issues?render_html=true`)).json).toMatchObject([plain])
  expect((await world.root.get(`${at}?render_html=true`)).json.description_html).toContain('title="Secret plans"')
  await world.root.put(at, { description: '' })
  expect((await ann.get(`${at}?render_html=true`)).json).toMatchObject({ description_html: '' })
})

test('descriptions of labels are HTML with links and emoji, not Markdown', async ({ world }) => {
  const { project, at } = await openIssue(world)
  const description = 'See #1 :tada: *now* <script>alert(1)</script>'
  await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#FF0000', description })
  await world.root.put(at, { labels: 'bug' })
  const [issue] = (await world.root.get(`/projects/${project.id}/issues?with_labels_details=true`)).json
  const { description_html: html } = issue.labels[0]
  expect(html).toMatch(/^See <a [^>]*>#1<\/a> 🎉 \*now\* &lt;script&gt;alert\(1\)&lt;\/script&gt;$/)
  expect(dangersOf(html)).toEqual([])
})

test('a text that is too large or complex is returned escaped, and the next one is rendered', async ({ world }) => {
  const large = `<b>${'a'.repeat(600_000)}`
  const { json } = await world.root.post('/markdown', { text: large })
  expect(json.html).toBe(`<pre>&lt;b&gt;${'a'.repeat(600_000)}</pre>`)
  const complex = '<b><p>'.repeat(20_000)
  expect((await world.root.post('/markdown', { text: complex })).json.html).toMatch(/^<pre>&lt;b&gt;&lt;p&gt;/)
  expect((await world.root.post('/markdown', { text: '**a**' })).json.html).toBe('<p><strong>a</strong></p>')
})

test('gfm=false leaves references and emoji codes as written', async ({ world }) => {
  const { project, iid } = await openIssue(world)
  const text = `#${iid} :tada: @root`
  const plain = await world.root.post('/markdown', { text, project: project.full_path })
  expect(plain.json.html).toBe(`<p>${text}</p>`)
  const full = await world.root.post('/markdown', { text, project: String(project.id), gfm: true })
  expect(full.json.html).toMatch(/^<p><a .*>#\d+<\/a> 🎉 <a .*>@root<\/a><\/p>$/)
})

describe('the HTML of a merge request that was read before', () => {
  /** A public merge request that names things of a private project, whose reporter `member` is. */
  async function scene(world: World) {
    const [member, named] = await Promise.all([world.user(), world.user()])
    const group = await world.group({ visibility: 'public' })
    const project = await storedProject(world, { visibility: 'private', group, members: [[member, 'reporter']] })
    const target = await openIssue(world, { project, title: 'Before' })
    const of = `/projects/${target.project.id}`
    const { full_path: path } = target.project
    const { at } = await openMergeRequest(world, {
      title: `Like ${path}#${target.iid}`,
      description: `${path}#${target.iid} ${path}~later ${path}%later @${named.username}`,
    })
    return { at, of, target, member, named }
  }

  /** The title that the link to the issue shows; undefined if it is not a link. Of two equal requests. */
  async function issueTitle(who: Client, at: string): Promise<string | undefined> {
    const [first, second] = [await who.get(`${at}?render_html=true`), await who.get(`${at}?render_html=true`)]
    expect(first.status, first.text).toBe(200)
    expect(second.text).toBe(first.text)
    const titles = ['title_html', 'description_html'].map((field) => first.json[field].match(/title="(\w+)">/)?.[1])
    expect(titles[0]).toBe(titles[1])
    return titles[0]
  }

  const changed = async (answer: ReturnType<Client['put']>) => {
    const { status, text } = await answer
    expect(status, text).toBeLessThan(300)
  }

  test('has links for one reader and none for another, in turns', async ({ world }) => {
    const { at, member } = await scene(world)
    const stranger = await world.user()
    for (const _ of [1, 2]) {
      expect(await issueTitle(member, at)).toBe('Before')
      expect(await issueTitle(stranger, at)).toBeUndefined()
      expect(await issueTitle(world.root, at)).toBe('Before')
    }
  })

  test('shows a target that was renamed, hidden and deleted as it is now', async ({ world }) => {
    const { at, of, target, member } = await scene(world)
    const guest = await world.user()
    await world.root.post(`${of}/members`, { user_id: guest.id, access_level: 10 })
    expect([await issueTitle(member, at), await issueTitle(guest, at)]).toEqual(['Before', 'Before'])
    await changed(world.root.put(target.at, { title: 'After' }))
    expect([await issueTitle(member, at), await issueTitle(guest, at)]).toEqual(['After', 'After'])
    await changed(world.root.put(target.at, { confidential: true }))
    expect([await issueTitle(member, at), await issueTitle(guest, at)]).toEqual(['After', undefined])
    await changed(world.root.delete(target.at))
    expect([await issueTitle(member, at), await issueTitle(world.root, at)]).toEqual([undefined, undefined])
  })

  test('loses its links with the access of the reader, and has them again with it', async ({ world }) => {
    const { at, of, member } = await scene(world)
    const stranger = await world.user()
    const seen = async () => [await issueTitle(member, at), await issueTitle(stranger, at)]
    expect(await seen()).toEqual(['Before', undefined])
    await changed(world.root.delete(`${of}/members/${member.id}`))
    expect(await seen()).toEqual([undefined, undefined])
    await changed(world.root.put(of, { visibility: 'public' }))
    expect(await seen()).toEqual(['Before', 'Before'])
    await changed(world.root.put(of, { issues_access_level: 'private' }))
    expect(await seen()).toEqual([undefined, undefined])
    await changed(world.root.put(of, { issues_access_level: 'enabled' }))
    await changed(world.root.put(of, { visibility: 'private' }))
    expect(await seen()).toEqual([undefined, undefined])
  })

  test('leads to the place of a project that was renamed', async ({ world }) => {
    const { at, of, member } = await scene(world)
    expect(await issueTitle(member, at)).toBe('Before')
    const path = unique('renamed')
    await changed(world.root.put(of, { path }))
    expect((await member.get(`${at}?render_html=true`)).json.description_html).toContain(`/${path}/-/issues/`)
  })

  test('has links to what is there only since it was read', async ({ world }) => {
    const { at, of, member, named } = await scene(world)
    const links = async () => {
      const { json } = await member.get(`${at}?render_html=true`)
      return Array.from(json.description_html.matchAll(/reference-(\w+)/g), ([, kind]) => kind)
    }
    expect([await links(), await links()]).toEqual([
      ['issue', 'user'],
      ['issue', 'user'],
    ])
    await changed(world.root.post(`${of}/labels`, { name: 'later', color: '#FF0000' }))
    expect(await links()).toEqual(['issue', 'label', 'user'])
    await changed(world.root.post(`${of}/milestones`, { title: 'later' }))
    expect(await links()).toEqual(['issue', 'label', 'milestone', 'user'])
    await changed(world.root.put(`/users/${named.id}`, { username: unique('renamed') }))
    expect(await links()).toEqual(['issue', 'label', 'milestone'])
    await changed(world.root.delete(`${of}/labels/later`))
    expect(await links()).toEqual(['issue', 'milestone'])
  })
})
