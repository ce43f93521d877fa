import { existsSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { contextFor, failingOnce } from '../../../../test/contexts.ts'
import { failJobs, jobAttempts } from '../../../../test/jobs.ts'
import { addProjectAccess, shareProject } from '../../../../test/tables/access.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeGroup, existingGroups } from '../../../../test/tables/groups.ts'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { projectRow, projectsLeftIn, routesBelow } from '../../../../test/tables/projects.ts'
import { daysAgo } from '../../../../test/tables/statements.ts'
import { test } from '../../../../test/world.ts'
import { loadProject } from '../../projects/projects/subject.ts'
import { projectRepositoryDir } from '../../projects/repositories/location.ts'
import { openForWriting } from '../../projects/repositories/open.ts'
import { removeMarkedGroups, resumeGroupRemovals } from './due-jobs.ts'
import { removeGroup } from './jobs.ts'
import { lockGroup } from './queries.ts'
import { removeHeld } from './removal.ts'

describe('DELETE /groups/:id without delayed deletion', () => {
  test.beforeEach(({ world }) => world.settings({ deletion_adjourned_period: 0 }))

  test('202 for a deleted group, which is hidden from then on with its content', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group({ members: [[ann, 'owner']] })
    const inner = await world.group({ parent: top })
    const project = await world.project({ group: inner })
    expect(await ann.delete(`/groups/${top.id}`)).toMatchObject({ status: 202, json: { message: '202 Accepted' } })
    for (const who of [ann, world.root]) {
      for (const path of [`/groups/${top.id}`, `/groups/${encodeURIComponent(inner.full_path)}`])
        expect(await who.get(path)).toMatchObject({ status: 404, json: { message: '404 Group Not Found' } })
      for (const path of [`/projects/${project.id}`, `/projects/${encodeURIComponent(project.full_path)}`])
        expect(await who.get(path)).toMatchObject({ status: 404, json: { message: '404 Project Not Found' } })
      expect((await who.get(`/groups?search=${inner.path}`)).json).toEqual([])
      expect((await who.get(`/projects?search=${project.path}`)).json).toEqual([])
      expect((await who.get(`/namespaces?search=${inner.path}`)).json).toEqual([])
    }
    expect((await ann.delete(`/groups/${top.id}`)).status).toBe(404)
    const events = await eventsOf(world, { group: top.id }, 'kind', 'payload')
    expect(events.at(-1)).toEqual({ kind: 'group_deleted', payload: { visibility: expect.any(Number) } })
    const audited = (await world.root.get(`/audit_events?entity_type=Group&entity_id=${top.id}`)).json
    expect(audited[0].details).toMatchObject({ entity_path: top.full_path, facts: { full_path: top.full_path } })
  })

  test('owners cannot delete the projects of a group with it while only administrators may delete projects', async ({
    world,
  }) => {
    const ann = await world.user()
    const top = await world.group({ members: [[ann, 'owner']] })
    const project = await world.project({ group: await world.group({ parent: top }) })
    const empty = await world.group({ parent: top })
    await world.settings({ default_project_deletion_protection: true })
    expect((await ann.delete(`/projects/${project.id}`)).status).toBe(403)
    expect(await ann.delete(`/groups/${top.id}`)).toMatchObject({ status: 403, json: { message: '403 Forbidden' } })
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(200)
    expect((await ann.delete(`/groups/${empty.id}`)).status).toBe(202)
    expect((await world.root.delete(`/groups/${top.id}`)).status).toBe(202)
  })

  test('the removal job deletes rows and repositories and frees the paths', async ({ world }) => {
    const top = await world.group()
    const inner = await world.group({ parent: top })
    const project = await world.project({ group: inner })
    const ctx = await contextFor(world, world.root)
    const found = (await loadProject(String(project.id), ctx))!
    await openForWriting(ctx, found)
    expect(existsSync(projectRepositoryDir(ctx, found))).toBe(true)

    await world.root.delete(`/groups/${top.id}`)
    expect(await world.jobs(`remove_group:${top.id}`)).toHaveLength(1)
    expect((await world.root.post('/groups', { name: top.path, path: top.path })).status).toBe(400)
    await removeGroup.run({ groupId: top.id }, ctx)
    // A second run finds nothing to do.
    await removeGroup.run({ groupId: top.id }, ctx)

    expect(existsSync(projectRepositoryDir(ctx, found))).toBe(false)
    expect(await existingGroups(world, [top.id, inner.id])).toEqual([])
    expect(await projectRow(world, project.id, 'id')).toEqual([])
    expect(await routesBelow(world, top.path)).toEqual([])
    expect((await world.root.post('/groups', { name: top.path, path: top.path })).status).toBe(201)
  })

  test('a removal job that failed too often is restarted with all subgroups', async ({ world }) => {
    const [top, kept] = [await world.group(), await world.group()]
    const inner = await world.group({ parent: top })
    await world.root.delete(`/groups/${top.id}`)
    const keys = [top, inner, kept].map(({ id }) => `remove_group:${id}`)
    const jobs = () => jobAttempts(world, keys)
    await failJobs(world, keys)
    await resumeGroupRemovals.run({}, await contextFor(world, null))
    expect(await jobs()).toEqual([{ key: `remove_group:${top.id}`, attempts: 0 }])
  })

  test('the removal job ignores a group that is not marked for removal', async ({ world }) => {
    const group = await world.group()
    const project = await world.project({ group })
    await removeGroup.run({ groupId: group.id }, await contextFor(world, null))
    expect((await world.root.get(`/projects/${project.id}`)).status).toBe(200)
  })

  test('members of a deleted group lose at once what was shared with it', async ({ world }) => {
    const ann = await world.user()
    const partners = await world.group({ members: [[ann, 'developer']] })
    const project = await world.project()
    await shareProject(world, project.id, partners.id, 30)
    await addProjectAccess(world, ann.id, project.id)
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(200)
    await world.root.delete(`/groups/${partners.id}`)
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(404)
    expect((await world.root.get(`/projects/${project.id}`)).json.shared_with_groups).toEqual([])
  })

  test('a deleted group leaves no projects that were created concurrently', async ({ world }) => {
    const top = await world.group()
    const inner = await world.group({ parent: top })
    const [removed, ...made] = await Promise.all([
      world.root.delete(`/groups/${top.id}`),
      ...Array.from({ length: 8 }, (_, n) => world.root.post('/projects', { name: `P${n}`, namespace_id: inner.id })),
    ])
    expect(removed.status).toBe(202)
    for (const { status } of made) expect([201, 400, 404]).toContain(status)
    expect(await projectsLeftIn(world, inner.id)).toEqual([])
    await removeGroup.run({ groupId: top.id }, await contextFor(world, null))
    expect(await existingGroups(world, inner.id)).toEqual([])
  })

  test.for([
    { who: 'owner', status: 202 },
    { who: 'maintainer', status: 403 },
    { who: 'none', status: 404 },
  ] as const)('deleting a group is for owners: $who gets $status', async ({ who, status }, { world }) => {
    const ann = await world.user()
    const group = await world.group({ members: who === 'none' ? [] : [[ann, who]] })
    expect((await world.anonymous.delete(`/groups/${group.id}`)).status).toBe(401)
    expect((await ann.delete(`/groups/${group.id}`)).status).toBe(status)
  })

  test('412 when a group changed after If-Unmodified-Since of its deletion', async ({ world }) => {
    const group = await world.group()
    const since = (offset: number) => ({
      headers: { 'if-unmodified-since': new Date(Date.now() + offset).toUTCString() },
    })
    expect(await world.root.delete(`/groups/${group.id}`, since(-3_600_000))).toMatchObject({
      status: 412,
      json: { message: '412 Precondition Failed' },
    })
    expect((await world.root.delete(`/groups/${group.id}`, since(3_600_000))).status).toBe(202)
  })
})

describe('DELETE /groups/:id with delayed deletion', () => {
  test.beforeEach(({ world }) => world.settings({ deletion_adjourned_period: 7 }))
  const today = () => new Date().toISOString().slice(0, 10)

  test('delayed deletion marks the group, which stays usable, and is idempotent', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group({ members: [[ann, 'owner']] })
    const project = await world.project({ group: top })
    const one = `/groups/${top.id}`
    expect(await ann.delete(one)).toMatchObject({ status: 202, json: { message: '202 Accepted' } })
    expect((await ann.get(one)).json.marked_for_deletion_on).toBe(today())
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(200)
    await changeGroup(world, top.id, { marked_for_deletion_on: daysAgo(3) })
    expect((await ann.delete(one)).status).toBe(202)
    expect((await ann.get(one)).json.marked_for_deletion_on).not.toBe(today())
    expect(await eventsOf(world, { group: top.id, kind: 'group_marked_for_deletion' })).toHaveLength(1)
  })

  test('owners restore a group marked for deletion', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({
      members: [
        [ann, 'owner'],
        [bob, 'maintainer'],
      ],
    })
    const restore = `/groups/${group.id}/restore`
    expect(await ann.post(restore)).toMatchObject({
      status: 400,
      json: { message: 'Group is not marked for deletion' },
    })
    await ann.delete(`/groups/${group.id}`)
    expect((await world.anonymous.post(restore)).status).toBe(401)
    expect((await bob.post(restore)).status).toBe(403)
    expect(await ann.post(restore)).toMatchObject({ status: 201, json: { id: group.id, marked_for_deletion_on: null } })
  })

  test('a group whose removal has begun meanwhile is not restored', async ({ world }) => {
    const group = await world.group()
    await world.root.delete(`/groups/${group.id}`)
    const ctx = await contextFor(world, null)
    const sent = await ctx.transaction(async (tx) => {
      const held = await lockGroup(tx, group.id)
      const waiting = world.root.post(`/groups/${group.id}/restore`)
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
      await removeHeld(tx, held!, null)
      return { waiting }
    })
    expect((await sent.waiting).status).toBe(404)
    expect(await eventsOf(world, { group: group.id, kind: 'group_restored' })).toEqual([])
  })

  test('a group that is restored before its removal begins stays, with its content', async ({ world }) => {
    const group = await world.group()
    const project = await world.project({ group: await world.group({ parent: group }) })
    await world.root.delete(`/groups/${group.id}`)
    await changeGroup(world, group.id, { marked_for_deletion_on: daysAgo(30) })
    const ctx = await contextFor(world, null)
    const sent = await world.db.transaction(async (tx) => {
      await lockGroup(tx, group.id)
      const restored = world.root.post(`/groups/${group.id}/restore`)
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
      const removed = removeMarkedGroups.run({}, ctx)
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(2)
      return { restored, removed }
    })
    expect((await sent.restored).status).toBe(201)
    await sent.removed
    await removeGroup.run({ groupId: group.id }, ctx)
    expect((await world.root.get(`/groups/${group.id}`)).json).toMatchObject({ marked_for_deletion_on: null })
    expect((await world.root.get(`/projects/${project.id}`)).status).toBe(200)
  })

  test('a job removes groups whose delay is over, not restored ones', async ({ world }) => {
    const [due, early, restored] = [await world.group(), await world.group(), await world.group()]
    const inner = await world.group({ parent: due })
    for (const { id } of [due, early, restored]) await world.root.delete(`/groups/${id}`)
    await changeGroup(world, [due.id, restored.id], { marked_for_deletion_on: daysAgo(7) })
    await changeGroup(world, early.id, { marked_for_deletion_on: daysAgo(6) })
    await world.root.post(`/groups/${restored.id}/restore`)
    const ctx = await contextFor(world, null)
    await removeMarkedGroups.run({}, ctx)
    await removeMarkedGroups.run({}, ctx)
    const status = async ({ id }: { id: number }) => (await world.root.get(`/groups/${id}`)).status
    expect(await Promise.all([due, inner, early, restored].map(status))).toEqual([404, 404, 200, 200])
    await removeGroup.run({ groupId: due.id }, ctx)
    expect(await existingGroups(world, inner.id)).toEqual([])
  })

  test('a marked group that cannot be removed does not keep the job from removing the others', async ({ world }) => {
    const [failing, next] = [await world.group(), await world.group()]
    for (const { id } of [failing, next]) await world.root.delete(`/groups/${id}`)
    await changeGroup(world, [failing.id, next.id], { marked_for_deletion_on: daysAgo(7) })
    const run = removeMarkedGroups.run({}, failingOnce(await contextFor(world, null)))
    await expect(run).rejects.toThrow('1 step failed')
    const status = async ({ id }: { id: number }) => (await world.root.get(`/groups/${id}`)).status
    expect(await Promise.all([failing, next].map(status))).toEqual([200, 404])
    await removeMarkedGroups.run({}, await contextFor(world, null))
    expect(await status(failing)).toBe(404)
  })

  test('a project of a deleted group that cannot be removed does not keep the job from removing the others', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0 })
    const group = await world.group()
    const [failing, next] = [await world.project({ group }), await world.project({ group })]
    await world.root.delete(`/groups/${group.id}`)
    const run = removeGroup.run({ groupId: group.id }, failingOnce(await contextFor(world, null)))
    await expect(run).rejects.toThrow('1 step failed')
    const left = async ({ id }: { id: number }) => (await projectRow(world, id, 'id')).length
    expect(await Promise.all([failing, next].map(left))).toEqual([1, 0])
    await removeGroup.run({ groupId: group.id }, await contextFor(world, null))
    expect(await left(failing)).toBe(0)
    expect(await existingGroups(world, group.id)).toEqual([])
  })
})
