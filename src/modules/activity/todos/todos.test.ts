import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { latestTodo } from '../../../../test/tables/discussion.ts'
import { changeProject } from '../../../../test/tables/projects.ts'
import { deleteMergeRequest } from '../../../../test/tables/review.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { deleteMergeRequest as deleteMergeRequestRow } from '../../review/merge-requests/edit-queries.ts'
import { asNoteable } from '../../review/merge-requests/noteable.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { markTodo } from './service.ts'

const ids = ({ json }: { json: { id: number }[] }) => json.map(({ id }) => id)

/** A merge request with a todo that the user created. */
async function marked(world: World, more: Parameters<typeof openMergeRequest>[1] = {}, who?: Client) {
  const ann = who ?? (await world.user())
  const opened = await openMergeRequest(world, more)
  return { ...opened, ann, todo: (await ann.post(`${opened.at}/todo`)).json }
}

describe('todos of users', () => {
  test('404 for a todo for a merge request that is deleted meanwhile', async ({ world }) => {
    const [ann, { at, id, project }] = [await world.user(), await openMergeRequest(world)]
    const { answer } = await world.db.transaction(async (tx) => {
      await deleteMergeRequestRow(tx, id)
      const answer = ann.post(`${at}/todo`)
      await world.waitsForLock()
      return { answer }
    })
    expect((await answer).status).toBe(404)
    // The same for a request that has loaded the merge request, and comes to the todo only now.
    const marking = markTodo(await contextFor(world, ann), asNoteable({ id, project_id: project.id }))
    await expect(marking).rejects.toThrow('Not found')
  })

  test('D3-MR-TODO-304: a user creates one todo per merge request', async ({ world }) => {
    const { ann, at, todo, project, record } = await marked(world)
    expect(todo).toEqual({
      id: expect.any(Number),
      project: {
        id: project.id,
        description: expect.toBeOneOf([null, expect.any(String)]),
        name: expect.any(String),
        name_with_namespace: expect.stringContaining(' / '),
        path: expect.any(String),
        path_with_namespace: project.full_path,
        created_at: expect.stringMatching(/Z$/),
      },
      author: expect.objectContaining({ id: ann.id }),
      action_name: 'marked',
      target_type: 'MergeRequest',
      target: expect.objectContaining({ id: record.id, iid: 1, title: 'Merge topic', state: 'opened' }),
      target_url: record.web_url,
      body: 'Merge topic',
      state: 'pending',
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
    })
    expect(await ann.post(`${at}/todo`)).toMatchObject({ status: 304, text: '' })
    expect((await ann.get('/todos')).json).toEqual([todo])
    await ann.post(`/todos/${todo.id}/mark_as_done`)
    expect(await ann.post(`${at}/todo`)).toMatchObject({ status: 201, json: { state: 'pending' } })
    expect((await world.anonymous.post(`${at}/todo`)).status).toBe(401)
  })

  test('users mark one todo as done, or all', async ({ world }) => {
    const first = await marked(world)
    const { ann } = first
    const second = await marked(world, {}, ann)
    const other = await marked(world)
    expect(await ann.post(`/todos/${first.todo.id}/mark_as_done`)).toMatchObject({
      status: 201,
      json: { id: first.todo.id, state: 'done' },
    })
    expect((await ann.post(`/todos/${first.todo.id}/mark_as_done`)).json.state).toBe('done')
    expect(ids(await ann.get('/todos'))).toEqual([second.todo.id])
    for (const id of [other.todo.id, 0])
      expect(await ann.post(`/todos/${id}/mark_as_done`)).toMatchObject({
        status: 404,
        json: { message: '404 Not found' },
      })
    expect(await ann.post('/todos/mark_as_done')).toMatchObject({ status: 204, text: '' })
    expect((await ann.get('/todos')).json).toEqual([])
    expect(ids(await ann.get('/todos?state=done'))).toEqual([second.todo.id, first.todo.id])
    expect(ids(await other.ann.get('/todos'))).toEqual([other.todo.id])
  })

  test('a todo is done when its user acts on the merge request', async ({ world }) => {
    const { ann, at, id } = await marked(world)
    const state = async () => (await latestTodo(world, id))[0].state
    for (const act of [
      () => ann.post(`${at}/notes`, { body: 'Done' }),
      () => ann.post(`${at}/discussions`, { body: 'Done' }),
      () => ann.post(`${at}/award_emoji`, { name: 'tada' }),
    ]) {
      await ann.post(`${at}/todo`)
      expect(await state()).toBe('pending')
      await world.root.post(`${at}/notes`, { body: 'Of others' })
      expect(await state()).toBe('pending')
      expect((await act()).status).toBe(201)
      expect(await state()).toBe('done')
    }
  })

  test('assignments and mentions create todos', async ({ world }) => {
    const ann = await world.user()
    const { id } = await openMergeRequest(world, { members: [[ann, 'developer']], assignee_ids: [ann.id] })
    expect((await ann.get('/todos')).json).toMatchObject([
      { action_name: 'assigned', author: { id: 1 }, target: { id }, body: 'Merge topic' },
    ])
  })

  test('a user who is assigned by the request that mentions them has the todo of an assignee', async ({ world }) => {
    const ann = await world.user()
    const { at, project } = await openMergeRequest(world, { members: [[ann, 'developer']] })
    const issues = `/projects/${project.id}/issues`
    const { iid } = (await world.root.post(issues, { title: 'Plan' })).json
    for (const each of [at, `${issues}/${iid}`])
      await world.root.put(each, { description: `For @${ann.username}`, assignee_ids: [ann.id] })
    expect((await ann.get('/todos')).json.map((todo: any) => [todo.target_type, todo.action_name])).toEqual([
      ['Issue', 'assigned'],
      ['MergeRequest', 'assigned'],
    ])
  })

  test('todos can be filtered by each parameter', async ({ world }) => {
    const ann = await world.user()
    const outer = await world.group({ visibility: 'public' })
    const group = await world.group({ visibility: 'public', parent: outer })
    const inside = await marked(world, { project: await storedProject(world, { group }) }, ann)
    const { at, project } = await openMergeRequest(world)
    await world.root.post(`${at}/notes`, { body: `For @${ann.username}` })
    const [named] = ids(await ann.get('/todos?action=mentioned'))
    for (const [query, expected] of [
      ['', [named, inside.todo.id]],
      ['?action=marked', [inside.todo.id]],
      ['?action=assigned', []],
      [`?author_id=${ann.id}`, [inside.todo.id]],
      ['?author_id=1', [named]],
      [`?project_id=${project.id}`, [named]],
      [`?group_id=${outer.id}`, [inside.todo.id]],
      [`?group_id=${group.id}`, [inside.todo.id]],
      ['?group_id=0', []],
      ['?type=MergeRequest', [named, inside.todo.id]],
      ['?type=Issue', []],
      ['?state=done', []],
      ['?per_page=1&page=2', [inside.todo.id]],
      [`?pagination=keyset&per_page=1&id_before=${named}`, [inside.todo.id]],
    ] as const)
      expect(ids(await ann.get(`/todos${query}`)), query).toEqual(expected)
    for (const query of ['action=none', 'state=all', 'type=None'])
      expect(await ann.get(`/todos?${query}`)).toMatchObject({
        status: 400,
        json: { error: `${query.split('=')[0]} does not have a valid value` },
      })
    expect((await world.anonymous.get('/todos')).status).toBe(401)
  })

  test('a todo is hidden from a user who can no longer read the merge request', async ({ world }) => {
    const ann = await world.user()
    const { project, todo } = await marked(world, { visibility: 'private', members: [[ann, 'reporter']] }, ann)
    const isListed = async () => (await ann.get('/todos')).json.length === 1
    expect(await isListed()).toBe(true)
    await world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 10 })
    expect(await isListed()).toBe(false)
    expect((await ann.post(`/todos/${todo.id}/mark_as_done`)).status).toBe(404)
    await world.root.put(`/projects/${project.id}/members/${ann.id}`, { access_level: 20 })
    await changeProject(world, project.id, { merge_requests_access_level: 0 })
    expect(await isListed()).toBe(false)
    await changeProject(world, project.id, { merge_requests_access_level: 20 })
    expect(await isListed()).toBe(true)
    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    expect(await isListed()).toBe(false)
    expect((await ann.get('/todos')).headers['x-total']).toBe('0')
  })

  test('a todo is deleted with its merge request', async ({ world }) => {
    const { ann, id } = await marked(world)
    await deleteMergeRequest(world, id)
    expect((await ann.get('/todos')).json).toEqual([])
  })
})
