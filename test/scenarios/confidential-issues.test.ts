import { expect, test } from 'vitest'
import { openIssue } from '../../src/modules/planning/issues/testing.ts'
import { storedProject } from '../../src/modules/repository/commits/testing.ts'
import { openMergeRequest } from '../../src/modules/review/merge-requests/testing.ts'
import { everything } from '../reads.ts'
import { World } from '../world.ts'

const title = 'Unspeakable'

/** Queries that a read is asked with, besides none. */
const queries: readonly (readonly [path: RegExp, query: string])[] = [
  [/\/search$/, `scope=issues&search=${title}`],
  [/\/search$/, `scope=notes&search=${title}`],
  [/\/labels$/, 'with_counts=true'],
  [/\/projects(\/:id)?$/, 'statistics=true'],
  [/issues$/, 'confidential=true'],
  [/issues$/, `scope=all&search=${title}&order_by=relative_position`],
  [/issues$/, 'scope=all&labels=bug&milestone=Any&assignee_id=Any'],
  [/issues_statistics$/, 'scope=all'],
  [/^\/todos$/, 'type=Issue'],
  [/\/events$/, 'target_type=issue'],
]

test('D3-ISSUES-CONFIDENTIAL: no read of the API shows a trace of a confidential issue to users without access, nor after it is revoked', async () => {
  await using world = await World.start()
  await world.settings({ search_rate_limit: 0 })
  const [author, guest, stranger, former] = await Promise.all(Array.from({ length: 4 }, () => world.user()))
  const group = await world.group({ visibility: 'public' })
  const project = await storedProject(world, {
    group,
    members: [
      [author!, 'developer'],
      [guest!, 'guest'],
      [former!, 'guest'],
    ],
  })
  const root = world.root
  const { base, at, iid, head } = await openMergeRequest(world, { project, author: author! })
  const plain = await openIssue(world, { project, author: author! })
  const label = (await root.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#ff0000' })).json
  const milestone = (await root.post(`/projects/${project.id}/milestones`, { title: 'v1' })).json
  const board = (await root.post(`/projects/${project.id}/boards`, { name: 'Plan' })).json
  const list = (await root.post(`/projects/${project.id}/boards/${board.id}/lists`, { label_id: label.id })).json
  const discussion = (await author!.post(`${at}/discussions`, { body: 'Why?' })).json
  const words = {
    projects: `${project.id}`,
    groups: `${group.id}`,
    users: `${author!.id}`,
    namespaces: `${group.id}`,
    ':user_id': `${author!.id}`,
    ':merge_request_iid': `${iid}`,
    ':label_id': `${label.id}`,
    ':milestone_id': `${milestone.id}`,
    ':board_id': `${board.id}`,
    ':list_id': `${list.id}`,
    ':discussion_id': discussion.id,
    ':note_id': `${discussion.notes[0].id}`,
    ':sha': head,
    ':branch': 'main',
    ':file_path': 'a',
  }
  const hidden = plain.iid + 1
  const reads = { words, each: { ':issue_iid': [plain.iid, hidden] }, queries }
  const readers = { guest: guest!, stranger: stranger!, former: former! }
  const read = async () =>
    new Map(
      await Promise.all(
        Object.entries(readers).map(async ([name, client]) => [name, await everything(client, reads)] as const),
      ),
    )
  await world.runJobs()
  await expect.poll(async () => (await root.get(at)).json.merge_status).toBe('can_be_merged')
  const before = await read()

  await root.put(`/projects/${project.id}/members/${former!.id}`, { access_level: 20 })
  const mentions = `@${guest!.username} @${stranger!.username} @${former!.username} ${plain.record.references.full} !${iid} ${base}`
  const secret = await openIssue(world, {
    project,
    author: author!,
    title,
    description: `${title}: ${mentions}\n- [ ] a task`,
    confidential: true,
    labels: 'bug',
    milestone_id: milestone.id,
    assignee_ids: [author!.id],
    due_date: '2031-01-01',
    weight: 7,
  })
  expect(secret.iid).toBe(hidden)
  for (const [path, body] of [
    ['notes', { body: `${title} again: ${mentions}` }],
    ['discussions', { body: `${title} more` }],
    ['award_emoji', { name: 'tada' }],
    ['add_spent_time', { duration: '1h' }],
    ['links', { target_project_id: project.id, target_issue_iid: plain.iid }],
  ] as const)
    expect((await author!.post(`${secret.at}/${path}`, body)).status, path).toBe(201)
  expect((await author!.put(secret.at, { state_event: 'close', labels: '' })).status).toBe(200)
  expect((await author!.put(secret.at, { state_event: 'reopen', labels: 'bug' })).status).toBe(200)
  await expect
    .poll(async () => JSON.stringify((await author!.get(`${plain.at}/notes`)).json))
    .toContain(`mentioned in issue #${hidden}`)

  const asReporter = await everything(former!, reads)
  const showing = [...asReporter].filter(([, answer]) => answer.includes(title)).map(([address]) => address)
  expect(showing).toEqual(
    expect.arrayContaining([
      `/projects/${project.id}/issues`,
      `/groups/${group.id}/issues`,
      `/projects/${project.id}/events`,
      '/todos',
      `/search?scope=issues&search=${title}`,
    ]),
  )
  await root.put(`/projects/${project.id}/members/${former!.id}`, { access_level: 10 })

  for (const [name, answers] of await read())
    for (const [address, answer] of answers)
      expect.soft(answer, `${name} ${address}`).toBe(before.get(name)!.get(address))
})
