import { expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { dangersOf } from '../../../markdown/testing/html.ts'
import { openIssue } from '../../planning/issues/testing.ts'
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
