import { expect, test } from 'vitest'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { createSnippet } from '../../src/modules/text/snippets/testing.ts'
import { everything } from '../reads.ts'
import { type Client, World } from '../world.ts'

const title = 'Unspeakable'

const queries: readonly (readonly [path: RegExp, query: string])[] = [
  ...['snippet_titles', 'snippet_blobs', 'snippets', 'notes'].map(
    (scope) => [/\/search$/, `scope=${scope}&search=${title}`] as const,
  ),
  [/\/events$/, 'target_type=snippet'],
  [/\/events$/, 'target_type=note'],
]

test('D2-SNIPPET-VISIBILITY: no read of the API shows a trace of a hidden snippet to users without access, nor after it is revoked', async () => {
  await using world = await World.start()
  await world.settings({ search_rate_limit: 0 })
  const [author, guest, stranger, former] = await Promise.all(Array.from({ length: 4 }, () => world.user()))
  const external = await world.user({ external: true })
  const group = await world.group({ visibility: 'public' })
  const project = await storedProject(world, {
    group,
    members: [
      [author!, 'developer'],
      [guest!, 'guest'],
    ],
  })
  const plain = await openIssue(world, { project, author: author! })
  const open = await createSnippet(world, { project, author: author!, visibility: 'public' })
  const words = {
    projects: `${project.id}`,
    groups: `${group.id}`,
    users: `${author!.id}`,
    namespaces: `${group.id}`,
    ':user_id': `${author!.id}`,
    ':issue_iid': `${plain.iid}`,
    ':ref': 'master',
    ':file_path': 'a.rb',
  }
  const hidden = [open.id + 1, open.id + 2, open.id + 3]
  const reads = {
    words,
    each: { ':snippet_id': [open.id, ...hidden.slice(0, 2)], ':note_id': [1, 2, 3, 4] },
    queries,
  }
  const readers: Record<string, Client> = {
    anonymous: world.anonymous,
    external,
    stranger: stranger!,
    former: former!,
  }
  const read = async (only: readonly string[] = Object.keys(readers)) =>
    new Map(await Promise.all(only.map(async (name) => [name, await everything(readers[name]!, reads)] as const)))
  await world.runJobs()
  const before = await read()

  await world.root.post(`/groups/${group.id}/members`, { user_id: former!.id, access_level: 20 })
  const everyone = [guest!, stranger!, former!, external].map(({ username }) => `@${username}`).join(' ')
  const mentions = `${everyone} ${plain.record.references.full} ${project.full_path}$${open.id}`
  for (const visibility of ['private', 'internal'] as const) {
    const secret = await createSnippet(world, {
      project,
      author: author!,
      visibility,
      title,
      description: `${title}: ${mentions}`,
      content: `${title} content`,
    })
    expect(hidden).toContain(secret.id)
    for (const [path, body] of [
      ['notes', { body: `${title} again: ${mentions}` }],
      ['discussions', { body: `${title} more` }],
      ['award_emoji', { name: 'tada' }],
    ] as const)
      expect((await author!.post(`${secret.at}/${path}`, body)).status, path).toBe(201)
    expect((await author!.put(secret.at, { description: `${title} changed: ${mentions}` })).status).toBe(200)
  }
  const personal = await createSnippet(world, { author: author!, title, content: title })
  expect(hidden).toContain(personal.id)
  await expect
    .poll(async () => JSON.stringify((await author!.get(`${plain.at}/notes`)).json))
    .toContain(`mentioned in snippet $${hidden[0]}`)

  // A member reads both, and what they say of others.
  const asMember = await everything(former!, reads)
  const showing = [...asMember].filter(([, answer]) => answer.includes(title)).map(([address]) => address)
  expect(showing).toEqual(
    expect.arrayContaining([
      `/projects/${project.id}/snippets`,
      `/projects/${project.id}/snippets/${hidden[0]}/raw`,
      `/projects/${project.id}/events`,
      `/projects/${project.id}/search?scope=snippets&search=${title}`,
      `/search?scope=snippet_titles&search=${title}`,
      `/search?scope=snippet_blobs&search=${title}`,
      `/search?scope=notes&search=${title}`,
    ]),
  )
  expect([...asMember.values()].some((answer) => answer.includes(`mentioned in snippet $${hidden[0]}`))).toBe(true)
  await world.root.delete(`/groups/${group.id}/members/${former!.id}`)
  // For users who are not external, only the private snippet is hidden.
  expect((await stranger!.get(`/projects/${project.id}/snippets/${hidden[1]}`)).status).toBe(200)
  await world.root.put(`/projects/${project.id}/snippets/${hidden[1]}`, { visibility: 'private' })

  for (const [name, answers] of await read())
    for (const [address, answer] of answers)
      expect.soft(answer, `${name} ${address}`).toBe(before.get(name)!.get(address))
})
