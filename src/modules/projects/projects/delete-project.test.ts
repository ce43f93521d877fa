import { existsSync, readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor, failingOnce } from '../../../../test/contexts.ts'
import { failJobs } from '../../../../test/jobs.ts'
import { auditOf, eventsOf } from '../../../../test/tables/events.ts'
import { lockRow } from '../../../../test/tables/instance.ts'
import { TableLock } from '../../../../test/tables/locks.ts'
import { changeProject, rowsOfProject } from '../../../../test/tables/projects.ts'
import { daysAgo } from '../../../../test/tables/statements.ts'
import { test, unique, World } from '../../../../test/world.ts'
import { projectRepositoryDir } from '../repositories/location.ts'
import { openForWriting } from '../repositories/open.ts'
import { removeMarkedProjects, removeProject, resumeProjectRemovals } from './jobs.ts'
import { loadProject } from './subject.ts'

const accepted = { status: 202, json: { message: '202 Accepted' } }
const notFound = { status: 404, json: { message: '404 Project Not Found' } }

const namesIn = (folder: string): string[] => (existsSync(folder) ? readdirSync(folder) : [])

const queued = async (world: World, id: number) =>
  (await world.jobs(`remove_project:${id}`)).map(({ key }) => ({ key }))

describe('DELETE /projects/:id', () => {
  test('D2-DELETE-MARKS: a deleted project of a group is marked, archived and still visible', async ({ world }) => {
    const project = await world.project()
    const one = `/projects/${project.id}`
    expect(await world.root.delete(one)).toMatchObject(accepted)
    const today = new Date().toISOString().slice(0, 10)
    expect((await world.root.get(one)).json).toMatchObject({
      archived: true,
      marked_for_deletion_at: today,
      marked_for_deletion_on: today,
    })
    await changeProject(world, project.id, { marked_for_deletion_on: daysAgo(3) })
    // A second call succeeds and does not delay the deletion.
    expect(await world.root.delete(one)).toMatchObject(accepted)
    expect((await world.root.get(one)).json.marked_for_deletion_on).not.toBe(today)
    expect(await queued(world, project.id)).toEqual([])
    const events = await auditOf(
      world,
      { type: 'Project', id: project.id, event: 'project_marked_for_deletion' },
      'facts',
    )
    expect(events).toEqual([{ facts: { full_path: project.full_path } }])
  })

  test('a project of a group or user is deleted while an insert of another row refers to it, without a wait', async ({
    world,
  }) => {
    const ann = await world.user()
    for (const { id } of [await world.project(), (await ann.post('/projects', { name: unique('own') })).json]) {
      const deleted = await world.db.transaction(async (tx) => {
        await lockRow(tx, 'projects', id, 'key share')
        return { answer: await world.root.delete(`/projects/${id}`) }
      })
      expect(deleted.answer).toMatchObject(accepted)
    }
  })

  test('the daily job removes marked projects when their days are over, not before', async ({ world }) => {
    const [due, early, kept] = [await world.project(), await world.project(), await world.project()]
    const also = await world.project()
    for (const { id } of [due, also, early]) await world.root.delete(`/projects/${id}`)
    for (const { id } of [due, also]) await changeProject(world, id, { marked_for_deletion_on: daysAgo(7) })
    await changeProject(world, early.id, { marked_for_deletion_on: daysAgo(6) })
    await removeMarkedProjects.run({}, await contextFor(world, null))
    for (const { id } of [due, also]) {
      expect(await queued(world, id)).toHaveLength(1)
      expect(await world.root.get(`/projects/${id}`)).toMatchObject(notFound)
    }
    for (const { id } of [early, kept]) expect((await world.root.get(`/projects/${id}`)).status).toBe(200)
    const [audited] = (await world.root.get(`/audit_events?entity_type=Project&entity_id=${due.id}`)).json
    expect(audited).toMatchObject({
      event_name: 'project_deleted',
      author_id: -1,
      details: { entity_path: due.full_path, ip_address: null, token_id: null },
    })
  })

  test('a marked project that cannot be removed does not keep the job from removing the others', async ({ world }) => {
    const [failing, next] = [await world.project(), await world.project()]
    for (const { id } of [failing, next]) await world.root.delete(`/projects/${id}`)
    await changeProject(world, [failing.id, next.id], { marked_for_deletion_on: daysAgo(7) })
    const run = removeMarkedProjects.run({}, failingOnce(await contextFor(world, null)))
    await expect(run).rejects.toThrow('1 step failed')
    expect((await world.root.get(`/projects/${failing.id}`)).status).toBe(200)
    expect((await world.root.get(`/projects/${next.id}`)).status).toBe(404)
    await removeMarkedProjects.run({}, await contextFor(world, null))
    expect((await world.root.get(`/projects/${failing.id}`)).status).toBe(404)
  })

  test('a deleted personal project is removed at once, with rows and repository', async ({ world }) => {
    const ann = await world.user()
    const { id, path_with_namespace: path } = (await ann.post('/projects', { name: 'Mine' })).json
    const ctx = await contextFor(world, ann)
    const project = (await loadProject(String(id), ctx))!
    await openForWriting(ctx, project)

    expect(await ann.delete(`/projects/${id}`)).toMatchObject(accepted)

    for (const name of [id, encodeURIComponent(path)])
      for (const verb of ['GET', 'PUT', 'DELETE'])
        expect(await ann.send(verb, `/projects/${name}`, verb === 'PUT' ? { json: { path: 'x' } } : {})).toMatchObject(
          notFound,
        )
    expect((await ann.get('/projects?owned=true')).json).toEqual([])
    expect(await queued(world, id)).toHaveLength(1)
    // The path is free once everything is removed.
    expect((await ann.post('/projects', { name: 'Mine' })).status).toBe(400)
    await removeProject.run({ projectId: id }, ctx)
    await removeProject.run({ projectId: id }, ctx)
    expect(existsSync(projectRepositoryDir(ctx, project))).toBe(false)
    for (const table of [
      'projects where id',
      'members where project_id',
      'routes where project_id',
      'project_access where project_id',
    ])
      expect(await rowsOfProject(world, table, id), table).toEqual([])
    expect((await ann.post('/projects', { name: 'Mine' })).status).toBe(201)
    const events = await eventsOf(world, { project: id }, 'kind', 'payload')
    // Other events of the project are deleted with it.
    expect(events).toEqual([
      { kind: 'project_deleted', payload: { namespace_id: expect.any(Number), visibility: expect.any(Number) } },
    ])
    const [audited] = (await world.root.get(`/audit_events?entity_type=Project&entity_id=${id}`)).json
    expect(audited).toMatchObject({ event_name: 'project_deleted', details: { facts: { full_path: path } } })
  })

  test('one of several concurrent deletions of a project succeeds', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/projects', { name: 'Mine' })).json
    const answers = await Promise.all(Array.from({ length: 5 }, () => ann.delete(`/projects/${id}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 404, 404, 404, 404])
    expect(await eventsOf(world, { project: id, kind: 'project_deleted' })).toHaveLength(1)
  })

  test('a project removal that failed too often is restarted', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/projects', { name: 'Mine' })).json
    const kept = await world.project()
    await ann.delete(`/projects/${id}`)
    await failJobs(world, [`remove_project:${id}`])
    await resumeProjectRemovals.run({}, await contextFor(world, null))
    expect(await world.jobs(`remove_project:${id}`)).toMatchObject([{ attempts: 0 }])
    expect(await queued(world, kept.id)).toEqual([])
  })

  test('commits that run while the project is removed bring nothing of it back', async ({ world }) => {
    const ann = await world.user()
    const { id } = (await ann.post('/projects', { name: 'Removed', initialize_with_readme: true })).json
    const ctx = await contextFor(world, ann)
    const project = (await loadProject(String(id), ctx))!
    const dir = projectRepositoryDir(ctx, project)
    const commit = (file_path: string) =>
      ann.post(`/projects/${id}/repository/commits`, {
        branch: 'master',
        commit_message: file_path,
        actions: [{ action: 'create', file_path, content: file_path }],
      })
    const lock = await TableLock.take(world.databaseUrl, 'pushes')
    // One waits to record its push, the others for their turn at the branch.
    const commits = ['a', 'b', 'c'].map(commit)
    await lock.waiting('insert into pushes')
    expect(await ann.delete(`/projects/${id}`)).toMatchObject(accepted)
    const removal = removeProject.run({ projectId: id }, ctx)
    await expect.poll(() => existsSync(dir)).toBe(false)
    await lock.release()
    await removal
    for (const { status } of await Promise.all(commits)) expect([403, 404, 422]).toContain(status)
    const left = ['lost+found', dirname(dir)].flatMap((folder) => namesIn(resolve(world.config.dataDir, folder)))
    expect(left.filter((name) => name.includes(`${id}.git`))).toEqual([])
    // One that was allowed to write before, and begins now.
    await expect(openForWriting(ctx, project)).rejects.toMatchObject({ kind: 'not_found' })
    expect(existsSync(dir)).toBe(false)
  })

  test('the removal job ignores a project that is not being deleted', async ({ world }) => {
    const project = await world.project()
    await removeProject.run({ projectId: project.id }, await contextFor(world, null))
    expect((await world.root.get(`/projects/${project.id}`)).status).toBe(200)
  })

  test.for([
    { who: 'none', status: 404 },
    { who: 'maintainer', status: 403 },
    { who: 'owner', status: 202 },
  ] as const)('deleting a project is for owners: $who gets $status', async ({ who, status }, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: who === 'none' ? [] : [[ann, who]] })
    const project = await world.project({ group })
    expect((await world.anonymous.delete(`/projects/${project.id}`)).status).toBe(401)
    expect((await ann.delete(`/projects/${project.id}`)).status).toBe(status)
  })

  test('412 when a project changed after If-Unmodified-Since of its deletion', async ({ world }) => {
    const project = await world.project()
    const headers = { 'if-unmodified-since': new Date(Date.now() - 3_600_000).toUTCString() }
    expect(await world.root.delete(`/projects/${project.id}`, { headers })).toMatchObject({ status: 412 })
    const garbage = { 'if-unmodified-since': 'yesterday' }
    expect((await world.root.delete(`/projects/${project.id}`, { headers: garbage })).status).toBe(202)
  })
})

describe('DELETE /projects/:id without delayed deletion', () => {
  test('a deleted project is removed at once when the delay is zero days', async () => {
    await using world = await World.start()
    await world.settings({ deletion_adjourned_period: 0 })
    const project = await world.project()
    expect(await world.root.delete(`/projects/${project.id}`)).toMatchObject(accepted)
    expect(await world.root.get(`/projects/${project.id}`)).toMatchObject(notFound)
    expect(await queued(world, project.id)).toHaveLength(1)
  })
})
