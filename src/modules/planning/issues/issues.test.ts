import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { openIssue } from './testing.ts'

describe('POST /projects/:id/issues', () => {
  test('creates an issue with the next number of the project', async ({ world }) => {
    const ann = await world.user()
    const { project, record } = await openIssue(world, {
      members: [[ann, 'developer']],
      title: 'One',
      description: '- [x] a\n- [ ] b',
      labels: 'bug,urgent',
      assignee_ids: [ann.id],
      due_date: '2030-01-02',
      weight: 3,
      confidential: true,
    })
    expect(record).toMatchObject({
      iid: 1,
      project_id: project.id,
      title: 'One',
      state: 'opened',
      issue_type: 'issue',
      labels: ['bug', 'urgent'],
      assignees: [{ id: ann.id }],
      assignee: { id: ann.id },
      due_date: '2030-01-02',
      weight: 3,
      confidential: true,
      has_tasks: true,
      task_status: '1 of 2 tasks completed',
      subscribed: true,
      references: { short: '#1', relative: '#1', full: `${project.full_path}#1` },
    })
    const second = await openIssue(world, { project, description: '1. [ ] one' })
    expect(second.record).toMatchObject({ iid: 2, has_tasks: true, task_status: '0 of 1 task completed' })
    const third = await openIssue(world, { project, description: '[x] not in a list' })
    expect(third.record).toMatchObject({ iid: 3, has_tasks: false, task_completion_status: { count: 0 } })
    expect(third.record).not.toHaveProperty('task_status')
    const fourth = await openIssue(world, { project, description: '```\n- [ ] in code\n```\n- [x] one' })
    expect(fourth.record).toMatchObject({ task_status: '1 of 1 task completed' })
    expect((await ann.get('/todos')).json).toMatchObject([{ target_type: 'Issue', target: { iid: 1, title: 'One' } }])
  })

  test('a number that an owner chooses is positive and leaves room for the next ones', async ({ world }) => {
    const { project } = await openIssue(world)
    const open = (iid?: number) => world.root.post(`/projects/${project.id}/issues`, { title: 'One', iid })
    for (const iid of [-1, 0, 2_147_483_647])
      expect.soft(await open(iid)).toMatchObject({ status: 400, json: { error: 'iid does not have a valid value' } })
    expect(await open(1_000_000_000)).toMatchObject({ status: 201, json: { iid: 1_000_000_000 } })
    expect(await open()).toMatchObject({ status: 201, json: { iid: 1_000_000_001 } })
  })

  test('a confidential issue is hidden from users below reporter who are neither author nor assignee', async ({
    world,
  }) => {
    const [guest, reporter, author, assignee, stranger] = await Promise.all(
      Array.from({ length: 5 }, () => world.user()),
    )
    const { at, project } = await openIssue(world, {
      members: [
        [guest!, 'guest'],
        [reporter!, 'reporter'],
        [assignee!, 'guest'],
      ],
      title: 'Open one',
      author: author!,
      confidential: true,
    })
    for (const who of [guest!, stranger!, assignee!])
      expect(await who.get(at)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    for (const who of [reporter!, author!, world.root]) expect(await who.get(at)).toMatchObject({ status: 200 })
    expect((await world.anonymous.get(at)).status).toBe(401)
    await world.root.post(`${at}/notes`, { body: `@${guest!.username} @${author!.username} look` })
    expect((await guest!.get('/todos')).json).toEqual([])
    expect((await author!.get('/todos')).json).toHaveLength(1)
    expect((await guest!.get(`${at}/notes`)).status).toBe(404)
    expect((await guest!.get(`/projects/${project.id}/events`)).json).not.toContainEqual(
      expect.objectContaining({ target_type: 'Issue' }),
    )
    expect((await author!.get(`/projects/${project.id}/events`)).json).toContainEqual(
      expect.objectContaining({ target_type: 'Issue', target_title: 'Open one' }),
    )
  })
})

test('D3-ISSUES-AUTH D3-ISSUES-PRIVATE-404: issues need a token, and membership in a private project', async ({
  world,
}) => {
  const stranger = await world.user()
  const open = await openIssue(world)
  const hidden = await openIssue(world, { visibility: 'private' })
  for (const path of [
    '',
    '/notes',
    '/discussions',
    '/participants',
    '/resource_label_events',
    '/resource_state_events',
  ]) {
    expect((await world.anonymous.get(`${open.at}${path}`)).status, path).toBe(401)
    expect((await stranger.get(`${open.at}${path}`)).status, path).toBe(200)
    expect(await stranger.get(`${hidden.at}${path}`), path).toMatchObject({
      status: 404,
      json: { message: '404 Project Not Found' },
    })
  }
})

test('D3-ISSUE-REFERENCE-DEPRECATED: reference is the short form of references', async ({ world }) => {
  const { record } = await openIssue(world)
  expect(record.reference).toBe(record.references.short)
})
