import { describe, expect } from 'vitest'
import { contextFor, counting } from '../../../../test/contexts.ts'
import { counting as countingStatements } from '../../../../test/counting.ts'
import { endedAccess, lockMember, membersBesideRoot, membershipsOf } from '../../../../test/tables/access.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { test, unique } from '../../../../test/world.ts'
import { levels } from '../../../access/levels.ts'
import { purgeExpiredMembers } from './jobs.ts'
import { groupMembership, removeMember } from './service.ts'

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
const refused = { status: 403, json: { message: '403 Forbidden' } }

describe('removing a member', () => {
  test('204 for removing a member, who loses access at once', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'developer']] })
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(200)
    expect(await world.root.delete(`/projects/${project.id}/members/${ann.id}`)).toMatchObject({
      status: 204,
      text: '',
    })
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(404)
    expect(await world.root.delete(`/projects/${project.id}/members/${ann.id}`)).toMatchObject({
      status: 404,
      json: { message: '404 Not found' },
    })
  })

  test('members may leave, whatever their level', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'guest']] })
    const group = await world.group({ members: [[ann, 'guest']] })
    for (const path of [`/projects/${project.id}`, `/groups/${group.id}`])
      expect((await ann.delete(`${path}/members/${ann.id}`)).status).toBe(204)
  })

  test.for(['project', 'group'] as const)('412 when a member of a %s is newer than the date', async (of, { world }) => {
    const ann = await world.user()
    const holder = await world[of]({ members: [[ann, 'developer']] })
    const path = `/${of}s/${holder.id}/members/${ann.id}`
    const since = (offsetMs: number) => ({
      headers: { 'if-unmodified-since': new Date(Date.now() + offsetMs).toUTCString() },
    })
    expect(await world.root.delete(path, since(-60_000))).toMatchObject({
      status: 412,
      json: { message: '412 Precondition Failed' },
    })
    expect((await world.root.delete(path, since(60_000))).status).toBe(204)
    expect((await world.root.delete(path, since(60_000))).status).toBe(404)
  })

  test('a project maintainer may edit and remove another maintainer', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const project = await world.project({
      members: [
        [ann, 'maintainer'],
        [bob, 'maintainer'],
      ],
    })
    expect((await ann.put(`/projects/${project.id}/members/${bob.id}`, { access_level: 30 })).status).toBe(200)
    expect((await ann.delete(`/projects/${project.id}/members/${bob.id}`)).status).toBe(204)
  })

  test('removing a group member removes only their memberships below the group', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const top = await world.group({
      members: [
        [ann, 'guest'],
        [bob, 'guest'],
      ],
    })
    const sub = await world.group({ parent: top, members: [[ann, 'developer']] })
    const project = await world.project({
      group: sub,
      members: [
        [ann, 'maintainer'],
        [bob, 'developer'],
      ],
    })
    const elsewhere = await world.project({ members: [[ann, 'developer']] })
    await world.root.delete(`/groups/${top.id}/members/${ann.id}`)
    for (const path of [`/groups/${sub.id}`, `/projects/${project.id}`]) {
      expect((await ann.get(path)).status).toBe(404)
      expect((await world.root.get(`${path}/members/${ann.id}`)).status).toBe(404)
    }
    expect((await bob.get(`/projects/${project.id}`)).status).toBe(200)
    expect((await ann.get(`/projects/${elsewhere.id}`)).status).toBe(200)
    // Removing a member below does not remove memberships above.
    await world.root.delete(`/projects/${project.id}/members/${bob.id}`)
    expect((await bob.get(`/groups/${top.id}`)).status).toBe(200)
    // Each event names its project or group.
    const removals = { kind: 'member_removed', payload: { user_id: ann.id } }
    expect(await eventsOf(world, removals, 'group_id', 'project_id')).toEqual([
      { group_id: top.id, project_id: null },
      { group_id: sub.id, project_id: null },
      { group_id: null, project_id: project.id },
    ])
  })

  test('the last active owner of a group cannot be removed, a blocked owner can', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = (await ann.post('/groups', { name: unique('kept'), path: unique('kept') })).json
    await ann.post(`/groups/${group.id}/members`, { user_id: bob.id, access_level: 50 })
    await world.root.post(`/users/${bob.id}/block`)
    expect((await ann.delete(`/groups/${group.id}/members/${ann.id}`)).status).toBe(403)
    expect((await ann.delete(`/groups/${group.id}/members/${bob.id}`)).status).toBe(204)
  })

  test('403 for removing or demoting the last owner of a group', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const top = await world.group({}, bob)
    const group = await world.group({ parent: top }, bob)
    const one = `/groups/${group.id}/members/${bob.id}`
    for (const who of [bob, world.root]) {
      expect(await who.delete(one)).toMatchObject(refused)
      expect(await who.put(one, { access_level: 40 })).toMatchObject(refused)
      expect(await who.put(one, { access_level: 50, expires_at: day(0) })).toMatchObject(refused)
    }
    // An owner of the parent group does not count, another direct one does.
    await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: levels.owner })
    expect((await ann.put(one, { access_level: 50, expires_at: day(9) })).status).toBe(200)
    expect((await bob.delete(one)).status).toBe(204)
    expect(await ann.delete(`/groups/${group.id}/members/${ann.id}`)).toMatchObject(refused)
  })

  test('an owner with an expired membership does not count as the last owner', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const group = await world.group({}, bob)
    await bob.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 50, expires_at: day(0) })
    expect(await bob.delete(`/groups/${group.id}/members/${bob.id}`)).toMatchObject(refused)
  })

  test('403 for removing the last owner without an end date, or setting one, also if an owner until a date remains', async ({
    world,
  }) => {
    const [ann, bob, cid] = [await world.user(), await world.user(), await world.user()]
    const group = await world.group({}, bob)
    const at = `/groups/${group.id}/members`
    for (const { id } of [ann, cid])
      expect((await bob.post(at, { user_id: id, access_level: 50, expires_at: day(9) })).status).toBe(201)
    expect(await bob.delete(`${at}/${bob.id}`)).toMatchObject(refused)
    for (const change of [{ access_level: 40 }, { access_level: 50, expires_at: day(9) }])
      expect(await bob.put(`${at}/${bob.id}`, change)).toMatchObject(refused)
    // Owners until a date are no reason to keep each other.
    expect((await ann.delete(`${at}/${cid.id}`)).status).toBe(204)
    expect((await bob.put(`${at}/${ann.id}`, { access_level: 50, expires_at: '' })).status).toBe(200)
    expect((await bob.delete(`${at}/${bob.id}`)).status).toBe(204)
  })

  test('removing a member of a group takes as many statements for many projects below it as for few', async ({
    world,
  }) => {
    const group = await world.group()
    const statements = async (projects: number) => {
      const ann = await world.user()
      const below = await world.group({ parent: group })
      expect((await world.root.post(`/groups/${below.id}/members`, { user_id: ann.id, access_level: 30 })).status).toBe(
        201,
      )
      for (let count = 0; count < projects; count++)
        await world.project({ group: below, members: [[ann, 'maintainer']] })
      const counted = await countingStatements(world)
      const source = groupMembership({ id: below.id, traversal_ids: [group.id, below.id] })
      await removeMember(counted.ctx, source, ann.id, async () => true)
      expect(await membershipsOf(world, [ann.id])).toEqual([])
      return counted.counts.statements
    }
    expect(await statements(4)).toBe(await statements(1))
  })

  test('403 for removing or demoting the owner of a personal project', async ({ world }) => {
    const ann = await world.user()
    const mine = (await ann.post('/projects', { name: 'Mine' })).json.id
    const one = `/projects/${mine}/members/${ann.id}`
    expect((await ann.get(one)).json).toMatchObject({ access_level: 40 })
    for (const who of [ann, world.root]) {
      expect(await who.delete(one)).toMatchObject(refused)
      expect(await who.put(one, { access_level: 10 })).toMatchObject(refused)
    }
  })

  test('the user is the owner of a project that an administrator creates in their namespace', async ({ world }) => {
    const ann = await world.user()
    const space = (await world.root.get(`/namespaces/${ann.username}`)).json.id
    const made = await world.root.post('/projects', { name: 'Gift', namespace_id: space })
    expect((await ann.get(`/projects/${made.json.id}/members`)).json).toMatchObject([{ id: ann.id, access_level: 40 }])
  })
})

describe('purge of expired memberships', () => {
  test('the purge deletes expired memberships only', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const project = await world.project({ members: [[bob, 'guest']] })
    const group = await world.group()
    for (const path of [`/projects/${project.id}`, `/groups/${group.id}`])
      await world.root.post(`${path}/members`, { user_id: ann.id, access_level: 30, expires_at: day(-1) })
    await world.root.put(`/projects/${project.id}/members/${bob.id}`, { access_level: 10, expires_at: day(1) })
    const rows = () => membershipsOf(world, [ann.id, bob.id])
    expect(await rows()).toHaveLength(3)

    await purgeExpiredMembers.run({}, await contextFor(world, null))

    expect(await rows()).toEqual([{ user_id: bob.id }])
    for (const table of ['project_access', 'group_access'] as const)
      expect(await endedAccess(world, table, ann.id)).toEqual([])
  })

  test('activity tells a membership that expired from one that a user ended', async ({ world }) => {
    const [ann, bob, cid] = [await world.user(), await world.user(), await world.user()]
    const project = await world.project()
    const members = `/projects/${project.id}/members`
    for (const { id } of [ann, bob])
      await world.root.post(members, { user_id: id, access_level: 20, expires_at: day(-1) })
    await world.root.post(members, { user_id: cid.id, access_level: 20 })
    await cid.delete(`${members}/${cid.id}`)
    // The membership that is in the way of another one ends before the purge.
    await world.root.post(members, { user_id: bob.id, access_level: 20 })
    await purgeExpiredMembers.run({}, await contextFor(world, null))
    const ends = async (action: string) =>
      (await world.root.get(`/projects/${project.id}/events?action=${action}`)).json.map((each: any) => [
        each.action_name,
        each.author_id,
      ])
    const expired = 'removed due to membership expiration from'
    expect(await ends('expired')).toEqual([ann.id, bob.id].map((id) => [expired, id]))
    expect(await ends('left')).toEqual([['left', cid.id]])
  })

  test('the end of an expired membership is an event with the level that the user had', async ({ world }) => {
    const ann = await world.user()
    const [project, group] = [await world.project(), await world.group()]
    for (const [path, level] of [
      [`/projects/${project.id}`, 20],
      [`/groups/${group.id}`, 40],
    ] as const)
      await world.root.post(`${path}/members`, { user_id: ann.id, access_level: level, expires_at: day(-1) })
    await purgeExpiredMembers.run({}, await contextFor(world, null))
    for (const place of [{ project: project.id }, { group: group.id }])
      expect(await eventsOf(world, { ...place, kind: 'member_removed' }, 'actor_id', 'payload')).toEqual([
        { actor_id: null, payload: { user_id: ann.id } },
      ])
    const { json } = await world.root.get(`/groups/${group.id}/audit_events`)
    expect(json[0].details).toMatchObject({ remove: 'user_access', target_id: ann.id })
  })

  test('a member who is added again before the purge was removed first', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group()
    for (const expires_at of [day(-1), null])
      expect(
        await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 30, expires_at }),
      ).toMatchObject({ status: 201 })
    const kinds = await eventsOf(
      world,
      { group: group.id, kind: 'member%', payload: { user_id: String(ann.id) } },
      'kind',
    )
    expect(kinds.map(({ kind }) => kind)).toEqual(['member_added', 'member_removed', 'member_added'])
  })

  test('the purge takes few statements, skips locked rows and may run concurrently', async ({ world }) => {
    const ctx = await contextFor(world, null)
    const people = await Promise.all(Array.from({ length: 6 }, () => world.user()))
    const group = await world.group()
    for (const { id } of people)
      await world.root.post(`/groups/${group.id}/members`, { user_id: id, access_level: 30, expires_at: day(-1) })
    const left = () => membersBesideRoot(world, group.id)

    const held = people[0]!.id
    await ctx.transaction(async (tx) => {
      await lockMember(tx, group.id, held)
      const counted = counting(ctx)
      await purgeExpiredMembers.run({}, counted.ctx)
      expect(counted.counts).toEqual({ transactions: 1, writes: 2 })
      expect(await left()).toEqual([{ user_id: held }])
    })
    await Promise.all([1, 2].map(() => purgeExpiredMembers.run({}, ctx)))
    expect(await left()).toEqual([])
  })
})
