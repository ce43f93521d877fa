import { describe, expect } from 'vitest'
import { commentNumbers } from '../../../../test/tables/discussion.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { test } from '../../../../test/world.ts'
import { addUpComments } from '../../discussion/comment-counts/jobs.ts'
import { openEpic } from '../../planning/epics/testing.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

describe('GET /application/statistics', () => {
  test('statistics count users, groups and more, as text with commas', async ({ world }) => {
    const counts = async () => (await world.root.get('/application/statistics')).json
    const before = await counts()
    const ann = await world.user()
    await world.group()
    const { project } = await openMergeRequest(world)
    await openIssue(world, { project })
    const more = (text: string, added: number) => (Number(text.replaceAll(',', '')) + added).toLocaleString('en-US')
    expect(await counts()).toEqual({
      ...before,
      users: more(before.users, 1),
      active_users: more(before.active_users, 1),
      groups: more(before.groups, 2),
      issues: more(before.issues, 1),
      merge_requests: more(before.merge_requests, 1),
      projects: more(before.projects, 1),
    })
    await changeUser(world, ann.id, { state: 'blocked' })
    expect((await counts()).active_users).toBe(before.active_users)
  })

  test('statistics count neither groups nor projects that are deleted, also before a job has deleted them', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0 })
    const counts = async () => (await world.root.get('/application/statistics')).json
    const before = await counts()
    const group = await world.group()
    await world.project({ group: await world.group({ parent: group }) })
    expect((await world.root.delete(`/groups/${group.id}`)).status).toBe(202)
    expect(await counts()).toEqual(before)
  })

  test('statistics count comments of each kind, forks and issues in every state; notes of the system and what is deleted are not counted', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0 })
    const counts = async () => {
      const { json } = await world.root.get('/application/statistics')
      return ['notes', 'issues', 'forks'].map((name) => Number(json[name].replaceAll(',', '')))
    }
    const { project, at, head } = await openMergeRequest(world)
    const issue = await openIssue(world, { project })
    const epic = await openEpic(world)
    const snippet = (
      await world.root.post(`/projects/${project.id}/snippets`, {
        title: 'x',
        visibility: 'public',
        files: [{ file_path: 'x', content: 'x' }],
      })
    ).json
    const before = await counts()
    const post = async (path: string, body: object) => {
      const { status, json } = await world.root.post(path, body)
      expect([path, status]).toEqual([path, 201])
      return json
    }
    await post(`${at}/notes`, { body: 'x' })
    const note = await post(`${issue.at}/notes`, { body: 'x' })
    await post(`${epic.at}/notes`, { body: 'x' })
    await post(`/projects/${project.id}/snippets/${snippet.id}/notes`, { body: 'x' })
    await post(`/projects/${project.id}/repository/commits/${head}/comments`, { note: 'x' })
    // Leaves a note of the system.
    await world.root.put(issue.at, { state_event: 'close' })
    const [notes, issues, forks] = before as [number, number, number]
    expect(await counts()).toEqual([notes + 5, issues, forks])
    await world.root.delete(`${issue.at}/notes/${note.id}`)
    const other = await openIssue(world, { project })
    expect(await counts()).toEqual([notes + 4, issues + 1, forks])
    await world.root.delete(other.at)
    const ann = await world.user()
    const fork = await post(`/projects/${project.id}/fork`, { namespace: ann.username })
    expect(await counts()).toEqual([notes + 4, issues, forks + 1])
    expect((await world.root.delete(`/projects/${fork.id}`)).status).toBe(202)
    expect(await counts()).toEqual([notes + 4, issues, forks])
  })

  test('statistics count all comments, also while their numbers are added up, and after a cascade', async ({
    world,
  }) => {
    const counts = async () => {
      const { kept, counted } = await commentNumbers(world)
      const { json } = await world.root.get('/application/statistics')
      return { shown: Number(json.notes.replaceAll(',', '')), kept, counted }
    }
    const addUp = async () => addUpComments.run({}, await world.app.open(null))
    const { at } = await openIssue(world)
    const { at: other } = await openIssue(world)
    const comment = async (path: string) =>
      expect((await world.root.post(`${path}/notes`, { body: 'x' })).status).toBe(201)
    const before = await counts()
    expect(before).toEqual({ shown: before.counted, kept: before.counted, counted: before.counted })
    await Promise.all([
      comment(at),
      addUp(),
      comment(at),
      comment(other),
      addUp(),
      comment(other),
      comment(at),
      addUp(),
    ])
    const all = before.counted + 5
    expect(await counts()).toEqual({ shown: all, kept: all, counted: all })
    await addUp()
    expect((await commentNumbers(world)).rows).toBe(1)
    await Promise.all([world.root.delete(at), addUp()])
    expect(await counts()).toEqual({ shown: all - 3, kept: all - 3, counted: all - 3 })
  })

  test('statistics count snippets of users and projects', async ({ world }) => {
    const count = async () =>
      Number((await world.root.get('/application/statistics')).json.snippets.replaceAll(',', ''))
    const before = await count()
    const project = await world.project()
    const snippet = { title: 'x', visibility: 'private', files: [{ file_path: 'x', content: 'x' }] }
    const { json: own } = await world.root.post('/snippets', snippet)
    expect((await world.root.post(`/projects/${project.id}/snippets`, snippet)).status).toBe(201)
    expect(await count()).toBe(before + 2)
    await world.root.delete(`/snippets/${own.id}`)
    expect(await count()).toBe(before + 1)
  })

  test('D2-SETTINGS-INSTANCE-STATS: 403 for statistics unless the caller is an administrator', async ({ world }) => {
    const ann = await world.user()
    await world.settings({ instance_statistics_visibility_private: true })
    expect(await ann.get('/application/statistics')).toMatchObject({
      status: 403,
      json: { message: '403 Forbidden' },
    })
    expect((await world.anonymous.get('/application/statistics')).status).toBe(401)
    expect((await world.root.get('/application/statistics')).status).toBe(200)
  })

  test('404 for GET /license', async ({ world }) => {
    expect((await world.root.get('/license')).status).toBe(404)
  })
})
