import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import type { Level } from '../../../access/levels.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { limits } from '../../../markdown/limits.ts'
import { dangersOf, elementsOf } from '../../../markdown/testing/html.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

/** The HTML of a text, read in a project if one is given. */
async function htmlFor(who: Client, text: string, project?: string): Promise<string> {
  const made = await who.post('/markdown', { text, gfm: true, ...(project !== undefined && { project }) })
  expect(made.status, made.text).toBe(201)
  return made.json.html
}

const hrefs = (html: string): string[] =>
  elementsOf(html).flatMap(({ name, attributes }) => (name === 'a' ? (attributes['href'] ?? []) : []))

describe('references for a reader who may see the target', () => {
  test('all forms become links, short within the project', async ({ world }) => {
    const { project, iid, head, base } = await openMergeRequest(world, { title: 'Add "quotes" & <tags>' })
    const issue = await openIssue(world, { project, title: 'Broken' })
    const { full_path: path } = project
    const [group, name] = path.split('/') as [string, string]
    const { id: labelId } = (
      await world.root.post(`/projects/${project.id}/labels`, {
        name: 'two words',
        color: '#00FF00',
        description: 'Both',
      })
    ).json
    await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#FF0000' })
    const milestone = (await world.root.post(`/projects/${project.id}/milestones`, { title: 'v1.0' })).json
    const home = `${world.origin}/${path}`
    const link = (kind: string, href: string, text: string, title?: string, color?: string) =>
      `<a href="${href}" class="reference reference-${kind}"${title === undefined ? '' : ` title="${title}"`}${color === undefined ? '' : ` data-color="${color}"`}>${text}</a>`
    const mergeRequestTitle = 'Add &quot;quotes&quot; &amp; &lt;tags&gt;'
    const forms: [written: string, html: string][] = [
      [`#${issue.iid}`, link('issue', `${home}/-/issues/${issue.iid}`, `#${issue.iid}`, 'Broken')],
      [`!${iid}`, link('merge-request', `${home}/-/merge_requests/${iid}`, `!${iid}`, mergeRequestTitle)],
      [`${path}#${issue.iid}`, link('issue', `${home}/-/issues/${issue.iid}`, `${path}#${issue.iid}`, 'Broken')],
      [`${name}#${issue.iid}`, link('issue', `${home}/-/issues/${issue.iid}`, `${name}#${issue.iid}`, 'Broken')],
      [`${home}/-/issues/${issue.iid}`, link('issue', `${home}/-/issues/${issue.iid}`, `#${issue.iid}`, 'Broken')],
      [
        `${home}/-/issues/${issue.iid}#note_5`,
        link('issue', `${home}/-/issues/${issue.iid}#note_5`, `#${issue.iid} (note 5)`, 'Broken'),
      ],
      ['~bug', link('label', `${home}/-/issues?label_name[]=bug`, 'bug', undefined, '#FF0000')],
      ['~"two words"', link('label', `${home}/-/issues?label_name[]=two%20words`, 'two words', 'Both', '#00FF00')],
      [`~${labelId}`, link('label', `${home}/-/issues?label_name[]=two%20words`, 'two words', 'Both', '#00FF00')],
      ['%v1.0', link('milestone', `${home}/-/milestones/${milestone.iid}`, '%v1.0')],
      [`%${milestone.iid}`, link('milestone', `${home}/-/milestones/${milestone.iid}`, '%v1.0')],
      ['%"v1.0"', link('milestone', `${home}/-/milestones/${milestone.iid}`, '%v1.0')],
      ['@root', link('user', `${world.origin}/root`, '@root', 'Administrator')],
      [`@${group}`, link('group', `${world.origin}/groups/${group}`, `@${group}`, group)],
      [head, link('commit', `${home}/-/commit/${head}`, head)],
      [head.slice(0, 9), link('commit', `${home}/-/commit/${head}`, head.slice(0, 9))],
      [`${base}..${head}`, link('commit', `${home}/-/compare/${base}...${head}`, `${base}..${head}`)],
      [`${path}@${head}`, link('commit', `${home}/-/commit/${head}`, `${path}@${head}`)],
      [`${home}/-/commit/${head}`, link('commit', `${home}/-/commit/${head}`, head.slice(0, 8))],
    ]
    const html = await htmlFor(world.root, forms.map(([written]) => `- ${written}`).join('\n'), path)
    expect(html.match(/<li>.*?<\/li>/g)).toEqual(forms.map(([, expected]) => `<li>${expected}</li>`))
  })

  test('a text without a project needs full references', async ({ world }) => {
    const { project, iid } = await openMergeRequest(world)
    const html = await htmlFor(world.root, `!${iid} ${project.full_path}!${iid}`)
    expect(hrefs(html)).toEqual([`${world.origin}/${project.full_path}/-/merge_requests/${iid}`])
  })

  test('a renamed project is found by its old path', async ({ world }) => {
    const { project, iid } = await openMergeRequest(world)
    const path = unique('renamed')
    await world.root.put(`/projects/${project.id}`, { path })
    const moved = `${project.full_path.slice(0, project.full_path.lastIndexOf('/'))}/${path}`
    const html = await htmlFor(world.root, `${project.full_path}!${iid}`)
    expect(hrefs(html)).toEqual([`${world.origin}/${moved}/-/merge_requests/${iid}`])
  })

  test('what is escaped, code, or part of a link stays text', async ({ world }) => {
    const { project, iid } = await openMergeRequest(world)
    const text = [
      `\\!${iid}`,
      `\`!${iid}\``,
      `    !${iid}`,
      `[!${iid}](x)`,
      `<a href="x">!${iid}</a>`,
      `a!${iid}b`,
      `&#33;${iid}`,
    ]
    const html = await htmlFor(world.root, text.join('\n\n'), project.full_path)
    expect(html).not.toContain('class="reference')
  })

  test('references stay as written once their links have made the HTML as long as it may be', async ({ world }) => {
    const { project, iid } = await openIssue(world, { title: 't'.repeat(255) })
    const html = await htmlFor(world.root, `${`#${iid} `.repeat(4999)} #${iid}`, `${project.full_path}`)
    const long = await htmlFor(world.root, `${`[a](/b) #${iid} `.repeat(4999)} #${iid}`, project.full_path)
    expect(html).toContain(`<a href="${world.origin}/${project.full_path}/-/issues/${iid}"`)
    // Those that stay as written are short.
    expect(long.length).toBeLessThan(limits.html + 25_000)
    expect(long).toMatch(/reference-issue/)
    expect(long.endsWith(` #${iid}</p>`)).toBe(true)
  })
})

/** What one audience may see of a world with things that are open, private, confidential and deleted. */
type Seen = {
  readonly written: string /** A read of the API that succeeds for those who may see it. */
  readonly read: string
}

async function manyThings(world: World, author: Client, guest: Client, reporter: Client) {
  const members: [Client, Level][] = [
    [guest, 'guest'],
    [reporter, 'reporter'],
    [author, 'guest'],
  ]
  const open = await openMergeRequest(world, { visibility: 'public', members, title: 'Seen by all' })
  const hidden = await openMergeRequest(world, { visibility: 'private', members, title: 'Top secret' })
  const internal = await openMergeRequest(world, { visibility: 'internal', title: 'Internal' })
  const seen: Seen[] = []
  for (const { project, iid, head } of [open, hidden, internal]) {
    const at = `/projects/${project.id}`
    const { full_path: path } = project
    const issue = (await world.root.post(`${at}/issues`, { title: 'Top secret issue' })).json
    const confidential = (await author.post(`${at}/issues`, { title: 'Top secret confidential', confidential: true }))
      .json
    const gone = (await world.root.post(`${at}/issues`, { title: 'Top secret deleted' })).json
    expect((await world.root.delete(`${at}/issues/${gone.iid}`)).status).toBe(204)
    await world.root.post(`${at}/labels`, { name: 'top-secret', color: '#FF0000', description: 'Top secret label' })
    const milestone = (await world.root.post(`${at}/milestones`, { title: 'Top-secret' })).json
    const group = path.slice(0, path.indexOf('/'))
    for (const visibility of ['private', 'internal', 'public']) {
      const snippet = { title: 'Top secret snippet', file_name: 'a', content: 'x', visibility }
      const { id } = (await world.root.post(`${at}/snippets`, snippet)).json
      seen.push({ written: `${path}$${id}`, read: `${at}/snippets/${id}` })
    }
    seen.push(
      { written: `${path}!${iid}`, read: `${at}/merge_requests/${iid}` },
      { written: `${path}#${issue.iid}`, read: `${at}/issues/${issue.iid}` },
      { written: `${world.origin}/${path}/-/issues/${issue.iid}`, read: `${at}/issues/${issue.iid}` },
      ...(confidential.iid === undefined
        ? []
        : [{ written: `${path}#${confidential.iid}`, read: `${at}/issues/${confidential.iid}` }]),
      { written: `${path}#${gone.iid}`, read: `${at}/issues/${gone.iid}` },
      { written: `${path}~top-secret`, read: `${at}/labels/top-secret` },
      { written: `${path}%Top-secret`, read: `${at}/milestones/${milestone.id}` },
      { written: `${path}@${head.slice(0, 12)}`, read: `${at}/repository/commits/${head}` },
      { written: `@${group}`, read: `/groups/${group}` },
    )
  }
  return { seen, open, hidden }
}

test('a reference is a link for exactly those of eight audiences who can read the target by the API', async ({
  world,
}) => {
  const [author, guest, reporter, other] = [
    await world.user(),
    await world.user(),
    await world.user(),
    await world.user(),
  ]
  const external = await world.user({ external: true })
  const { seen, open } = await manyThings(world, author, guest, reporter)
  const made = await world.root.post('/user/personal_access_tokens', {
    name: 'limited',
    scopes: ['api'],
    project_ids: [open.project.id],
  })
  const limited = new (world.root.constructor as typeof Client)(world.origin, {
    id: 1,
    username: 'root',
    token: made.json.token,
  })
  const audiences = {
    anonymous: world.anonymous,
    external,
    other,
    guest,
    reporter,
    author,
    limited,
    administrator: world.root,
  }
  const text = seen.map(({ written }) => `- ${written}`).join('\n')
  for (const [audience, who] of Object.entries(audiences)) {
    const html = await htmlFor(who, text)
    expect(dangersOf(html)).toEqual([])
    const items = html.match(/<li>.*?<\/li>/g)!
    for (const [index, { written, read }] of seen.entries()) {
      const { status } = await who.get(read)
      const isLink = items[index]!.includes('class="reference ')
      expect(isLink, `${written} for ${audience}: ${status}`).toBe(status === 200)
      if (isLink) continue
      // The same as a reference to what does not exist: as written, or the plain link that any URL is.
      const plain = written.startsWith('http') ? `<a href="${written}">${written}</a>` : written
      expect(items[index]).toBe(`<li>${plain}</li>`)
    }
  }
})

test('a reference stops being a link when the reader loses access, at once and in spite of the cache', async ({
  world,
}) => {
  const ann = await world.user()
  const { project, iid } = await openMergeRequest(world, { visibility: 'private', members: [[ann, 'reporter']] })
  const written = `${project.full_path}!${iid}`
  expect(hrefs(await htmlFor(ann, written))).toHaveLength(1)
  await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
  expect(await htmlFor(ann, written)).toBe(`<p>${written}</p>`)
  expect(hrefs(await htmlFor(world.root, written))).toHaveLength(1)
})

test('a document with many references costs a statement for each kind, whatever their number', async ({ world }) => {
  const { project } = await openMergeRequest(world)
  const statementsFor = async (count: number): Promise<number> => {
    const ctx = await contextFor(world, world.root)
    let statements = 0
    const counted: Ctx['db']['snapshotCache'] = {
      expects: (shape, statement) => ctx.db.snapshotCache.expects(shape, statement),
      byId: (shape, ids, statementOf) => {
        statements++
        return ctx.db.snapshotCache.byId(shape, ids, statementOf)
      },
      row: (shape, statement) => {
        statements++
        return ctx.db.snapshotCache.row(shape, statement)
      },
      rows: (shape, statement) => {
        statements++
        return ctx.db.snapshotCache.rows(shape, statement)
      },
    }
    const refuse = { value: () => expect.unreachable() }
    const db = Object.create(ctx.db, { snapshotCache: { value: counted }, row: refuse, rows: refuse, run: refuse })
    const text = Array.from(
      { length: count },
      (_, index) => `#${index} !${index} ~a${index} %b${index} @user${index} @root other/p${index}#1`,
    ).join('\n')
    await ctx.markdown.html({ ...ctx, db }, [
      { text, place: { of: 'project', full_path: project.full_path } },
      { text: `${text} again`, place: { of: 'instance' } },
    ])
    return statements
  }
  expect([await statementsFor(1), await statementsFor(100)]).toEqual([6, 6])
  const ctx = await contextFor(world, null)
  const none = Object.create(ctx.db, { snapshotCache: { get: () => expect.unreachable() } })
  await ctx.markdown.html({ ...ctx, db: none }, [{ text: 'no *reference*', place: { of: 'instance' } }])
})

test('anonymous readers see no user where users are not public', async ({ world }) => {
  const ann = await world.user()
  expect(hrefs(await htmlFor(world.anonymous, `@${ann.username}`))).toEqual([`${world.origin}/${ann.username}`])
  await world.settings({ restricted_visibility_levels: ['public'] })
  expect(await htmlFor(world.anonymous, `@${ann.username}`)).toBe(`<p>@${ann.username}</p>`)
  expect(hrefs(await htmlFor(ann, `@${ann.username}`))).toHaveLength(1)
})

test('404 for a project that the caller cannot see, as for one that does not exist', async ({ world }) => {
  const ann = await world.user()
  const { full_path, id } = await world.project({ visibility: 'private' })
  const absent = await ann.post('/markdown', { text: 'x', project: 'no/such' })
  expect(absent).toMatchObject({ status: 404, json: { message: '404 Project Not Found' } })
  for (const project of [full_path, String(id)])
    expect((await ann.post('/markdown', { text: 'x', project })).json).toEqual(absent.json)
})
