import { expect, test } from 'vitest'
import { openEpic } from '../../src/modules/planning/epics/testing.ts'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { everything } from '../reads.ts'
import { World } from '../world.ts'

const title = 'Unspeakable'

/** Queries that a read is asked with, besides none. */
const queries: readonly (readonly [path: RegExp, query: string])[] = [
  [/\/search$/, `scope=notes&search=${title}`],
  [/\/labels$/, 'with_counts=true'],
  [/epics$/, 'confidential=true'],
  [/epics$/, `search=${title}&order_by=title&include_ancestor_groups=true`],
  [/epics$/, 'labels=bug&my_reaction_emoji=None'],
  [/issues$/, 'scope=all&epic_id=Any'],
  [/issues$/, 'scope=all&epic_id=None'],
  [/issues$/, 'scope=all&not[epic_id]=Any'],
  [/issues_statistics$/, 'scope=all&epic_id=Any'],
  [/^\/todos$/, 'type=Epic'],
  [/\/events$/, 'target_type=epic'],
]

test('no read of the API shows a trace of a confidential epic to users without access, nor after it is revoked', async () => {
  await using world = await World.start()
  await world.settings({ search_rate_limit: 0 })
  const [author, guest, stranger, former] = await Promise.all(Array.from({ length: 4 }, () => world.user()))
  const group = await world.group({
    visibility: 'public',
    members: [
      [author!, 'developer'],
      [guest!, 'guest'],
      [former!, 'guest'],
    ],
  })
  const root = world.root
  const project = await storedProject(world, { group, visibility: 'public' })
  const [parent, plain] = [await openEpic(world, { group }), await openEpic(world, { group })]
  const issue = await openIssue(world, { project })
  const label = (await root.post(`/groups/${group.id}/labels`, { name: 'bug', color: '#ff0000' })).json
  const words = {
    projects: `${project.id}`,
    groups: `${group.id}`,
    users: `${author!.id}`,
    namespaces: `${group.id}`,
    ':user_id': `${author!.id}`,
    ':issue_iid': `${issue.iid}`,
    ':label_id': `${label.id}`,
  }
  const hidden = plain.iid + 1
  const reads = { words, each: { ':epic_iid': [parent.iid, plain.iid, hidden] }, queries }
  const readers = { guest: guest!, stranger: stranger!, former: former! }
  const read = async () =>
    new Map(
      await Promise.all(
        Object.entries(readers).map(async ([name, client]) => [name, await everything(client, reads)] as const),
      ),
    )
  await world.runJobs()
  // A change of the issue, so that its record differs in nothing else.
  expect((await root.put(issue.at, { title: 'Plain' })).status).toBe(200)
  const before = await read()

  await root.put(`/groups/${group.id}/members/${former!.id}`, { access_level: 20 })
  const mentions = `@${guest!.username} @${stranger!.username} @${former!.username} ${project.full_path}#1 &${plain.iid}`
  const secret = await openEpic(world, {
    group,
    author: author!,
    title,
    description: `${title}: ${mentions}`,
    confidential: true,
    labels: 'bug',
    parent_id: parent.id,
    due_date_fixed: '2031-01-01',
  })
  expect(secret.iid).toBe(hidden)
  for (const [path, body] of [
    ['notes', { body: `${title} again: ${mentions}` }],
    ['discussions', { body: `${title} more` }],
    ['award_emoji', { name: 'tada' }],
    [`issues/${issue.id}`, {}],
    ['epics', { title: `${title} child`, confidential: true }],
  ] as const)
    expect((await author!.post(`${secret.at}/${path}`, body)).status, path).toBe(201)
  expect((await author!.post(`${secret.at}/epics/${plain.id}`)).status).toBe(201)
  expect((await author!.put(secret.at, { state_event: 'close', labels: '' })).status).toBe(200)
  expect((await author!.put(secret.at, { state_event: 'reopen', labels: 'bug' })).status).toBe(200)
  await expect
    .poll(async () => JSON.stringify((await author!.get(`${plain.at}/notes`)).json))
    .toContain(`mentioned in epic &${hidden}`)

  const asReporter = await everything(former!, reads)
  const showing = [...asReporter].filter(([, answer]) => answer.includes(title)).map(([address]) => address)
  expect(showing).toEqual(
    expect.arrayContaining([
      `/groups/${group.id}/epics`,
      `${parent.at}/epics`,
      issue.at,
      '/todos',
      `/users/${author!.id}/events`,
    ]),
  )
  await root.put(`/groups/${group.id}/members/${former!.id}`, { access_level: 10 })

  for (const [name, answers] of await read())
    for (const [address, answer] of answers)
      expect.soft(answer, `${name} ${address}`).toBe(before.get(name)!.get(address))
})
