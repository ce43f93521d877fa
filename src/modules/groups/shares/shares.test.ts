import { describe, expect } from 'vitest'
import { contextFor, counting } from '../../../../test/contexts.ts'
import { groupsSharedWith, projectsSharedWith, reachEndOfShares } from '../../../../test/tables/access.ts'
import { caughtUp } from '../../../../test/tables/events.ts'
import { type Client, test } from '../../../../test/world.ts'
import { levels } from '../../../access/levels.ts'
import { purgeEndedShares } from './jobs.ts'

describe('POST /projects/:id/share', () => {
  test('D2-SHARE-FOR-GROUPS, D2-SHARE-EXPIRES: group members get at most the level of the share', async ({ world }) => {
    const [boss, guest] = [await world.user(), await world.user()]
    const partners = await world.group({
      members: [
        [boss, 'owner'],
        [guest, 'guest'],
      ],
    })
    const project = await world.project()
    const answer = await world.root.post(`/projects/${project.id}/share`, {
      group_id: partners.id,
      group_access: 30,
      // Only the day counts.
      expires_at: '2099-01-31T23:30:00Z',
    })
    expect(answer).toMatchObject({ status: 201 })
    expect(answer.json).toEqual({
      id: expect.any(Number),
      project_id: project.id,
      group_id: partners.id,
      group_access: 30,
      expires_at: '2099-01-31',
    })
    const levelOf = async (id: number) =>
      (await world.root.get(`/projects/${project.id}/members/all/${id}`)).json.access_level
    expect(await levelOf(boss.id)).toBe(levels.developer)
    expect(await levelOf(guest.id)).toBe(levels.guest)
    expect((await boss.get(`/projects/${project.id}`)).json.shared_with_groups).toMatchObject([
      { group_id: partners.id, group_access_level: 30, expires_at: '2099-01-31' },
    ])
    expect((await boss.get(`/groups/${partners.id}`)).json.shared_projects).toMatchObject([{ id: project.id }])
  })

  test('D2-UNSHARE-204: 204 for removing a share, then 404', async ({ world }) => {
    const boss = await world.user()
    const partners = await world.group({ members: [[boss, 'owner']] })
    const project = await world.project()
    await world.root.post(`/projects/${project.id}/share`, { group_id: partners.id, group_access: 30 })
    expect((await boss.get(`/projects/${project.id}`)).status).toBe(200)
    const link = `/projects/${project.id}/share/${partners.id}`
    expect(await world.root.delete(link)).toMatchObject({ status: 204, text: '' })
    expect((await boss.get(`/projects/${project.id}`)).status).toBe(404)
    expect(await world.root.delete(link)).toMatchObject({
      status: 404,
      json: { message: '404 Group Link Not Found' },
    })
  })

  test('each refused share has its reason and shares nothing', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group()
    const inner = await world.group({ parent: top })
    const project = await world.project({ group: inner, members: [[ann, 'maintainer']] })
    const [hidden, partners] = [await world.group(), await world.group({ visibility: 'public' })]
    const share = (json: object) => ann.post(`/projects/${project.id}/share`, json)
    const refused = async (json: object, status: number, body: object) =>
      expect(await share(json)).toMatchObject({ status, json: body })
    await refused({ group_access: 30 }, 400, { error: 'group_id is missing' })
    await refused({ group_id: partners.id }, 400, { error: 'group_access is missing' })
    await refused({ group_id: partners.id, group_access: 50 }, 400, {
      error: 'group_access does not have a valid value',
    })
    await refused({ group_id: hidden.id, group_access: 30 }, 404, { message: '404 Not Found' })
    await refused({ group_id: 999_999, group_access: 30 }, 404, { message: '404 Not Found' })
    const own = { message: 'Project cannot be shared with the group it is in or one of its ancestors.' }
    for (const { id } of [inner, top]) {
      // Members of the project can read the groups around it.
      await refused({ group_id: id, group_access: 30 }, 409, own)
    }
    expect((await share({ group_id: partners.id, group_access: 20 })).status).toBe(201)
    await refused({ group_id: partners.id, group_access: 30 }, 409, {
      message: 'Group already shared with this group',
    })
    await world.root.delete(`/projects/${project.id}/share/${partners.id}`)
    await world.root.put(`/groups/${top.id}`, { share_with_group_lock: true })
    await refused({ group_id: partners.id, group_access: 30 }, 400, {
      message: 'The project sharing with group is disabled',
    })
    expect((await world.root.get(`/projects/${project.id}`)).json.shared_with_groups).toEqual([])
  })

  test.for([
    ['none', 404],
    ['guest', 403],
    ['developer', 403],
    ['maintainer', 201],
  ] as const)('sharing a project is for maintainers: %s gets %i', async ([who, status], { world }) => {
    const ann = await world.user()
    const project = await world.project({ members: who === 'none' ? [] : [[ann, who]] })
    const partners = await world.group({ visibility: 'public' })
    const json = { group_id: partners.id, group_access: 10 }
    expect((await world.anonymous.post(`/projects/${project.id}/share`, json)).status).toBe(401)
    expect((await ann.post(`/projects/${project.id}/share`, json)).status).toBe(status)
    const ended = await ann.delete(`/projects/${project.id}/share/${partners.id}`)
    expect(ended.status).toBe(status === 201 ? 204 : status)
  })

  test('one of several concurrent shares with the same group succeeds', async ({ world }) => {
    const project = await world.project()
    const partners = await world.group()
    const answers = await Promise.all(
      [10, 20, 30, 40].map((group_access) =>
        world.root.post(`/projects/${project.id}/share`, { group_id: partners.id, group_access }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
  })
})

describe('POST /groups/:id/share', () => {
  test('a share gives members of the other group access to all projects in the group', async ({ world }) => {
    const ann = await world.user()
    const partners = await world.group({ members: [[ann, 'owner']] })
    const top = await world.group()
    const project = await world.project({ group: await world.group({ parent: top }) })
    const answer = await world.root.post(`/groups/${top.id}/share`, { group_id: partners.id, group_access: 30 })
    expect(answer).toMatchObject({ status: 201, json: { id: top.id } })
    expect(answer.json.shared_with_groups).toEqual([
      {
        group_id: partners.id,
        group_name: partners.path,
        group_full_path: partners.full_path,
        group_access_level: 30,
        expires_at: null,
      },
    ])
    const { permissions } = (await ann.get(`/projects/${project.id}`)).json
    expect(permissions).toBeDefined()
    expect((await ann.put(`/projects/${project.id}`, { description: 'x' })).status).toBe(403)
    expect((await ann.post(`/projects/${project.id}/repository/tags`, { tag_name: 'x', ref: 'y' })).status).not.toBe(
      403,
    )

    const link = `/groups/${top.id}/share/${partners.id}`
    expect((await world.root.delete(link)).status).toBe(204)
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(404)
    expect(await world.root.delete(link)).toMatchObject({ status: 404, json: { message: '404 Group Link Not Found' } })
  })

  test('409 for a group share that exists or is with itself, 403 unless the caller is an owner', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group()
    const group = await world.group({ parent: top, members: [[ann, 'owner']] })
    const partners = await world.group({ visibility: 'public' })
    const share = (id: number) => ann.post(`/groups/${group.id}/share`, { group_id: id, group_access: 30 })
    const own = { status: 409, json: { message: 'A group cannot be shared with itself or one of its ancestors.' } }
    expect(await share(group.id)).toMatchObject(own)
    expect(await share(999_999)).toMatchObject({ status: 404, json: { message: '404 Not Found' } })
    expect((await share(partners.id)).status).toBe(201)
    expect(await share(partners.id)).toMatchObject({
      status: 409,
      json: { message: 'The group has already been shared with this group' },
    })
    const bob = await world.user()
    await world.root.post(`/groups/${group.id}/members`, { user_id: bob.id, access_level: 40 })
    expect((await bob.post(`/groups/${group.id}/share`, { group_id: partners.id, group_access: 30 })).status).toBe(403)
    expect((await bob.delete(`/groups/${group.id}/share/${partners.id}`)).status).toBe(403)
  })
})

test.for(['project', 'group'] as const)('412 when a share of a %s is newer than the date', async (of, { world }) => {
  const [holder, partners] = [await world[of](), await world.group()]
  await world.root.post(`/${of}s/${holder.id}/share`, { group_id: partners.id, group_access: 30 })
  const path = `/${of}s/${holder.id}/share/${partners.id}`
  const since = (offsetMs: number) => ({
    headers: { 'if-unmodified-since': new Date(Date.now() + offsetMs).toUTCString() },
  })
  expect((await world.root.delete(path, since(-60_000))).status).toBe(412)
  expect((await world.root.delete(path, since(60_000))).status).toBe(204)
  expect((await world.root.delete(path, since(60_000))).status).toBe(404)
})

describe('expired shares', () => {
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

  test.for(['projects', 'groups'] as const)(
    'an expired share of %s is hidden and can be replaced',
    async (kind, { world }) => {
      const ann = await world.user()
      const partners = await world.group({ members: [[ann, 'owner']] })
      const shared = kind === 'projects' ? await world.project() : await world.group()
      const path = `/${kind}/${shared.id}`
      const share = (expires_at?: string) =>
        world.root.post(`${path}/share`, { group_id: partners.id, group_access: 30, expires_at })
      expect((await share(yesterday)).status).toBe(201)
      expect((await world.root.get(path)).json.shared_with_groups).toEqual([])
      expect((await ann.get(path)).status).toBe(404)
      expect((await share()).status).toBe(201)
      expect((await world.root.get(path)).json.shared_with_groups).toMatchObject([{ group_id: partners.id }])
      expect((await ann.get(path)).status).toBe(200)
      expect((await share()).status).toBe(409)
    },
  )

  test('a share of a project is hidden from its last day on, also in records that were read before', async ({
    world,
  }) => {
    const boss = await world.user()
    const partners = await world.group({ visibility: 'public' })
    const project = await world.project({ visibility: 'public', members: [[boss, 'maintainer']] })
    const json = { group_id: partners.id, group_access: 30, expires_at: '9999-12-31' }
    expect((await world.root.post(`/projects/${project.id}/share`, json)).status).toBe(201)
    const seen = async (who: Client) => [
      (await who.get(`/projects/${project.id}`)).json.shared_with_groups.length,
      (await who.get(`/projects?search=${project.path}`)).json[0].shared_with_groups.length,
      (await who.get(`/groups/${partners.id}`)).json.shared_projects.length,
    ]
    for (const who of [world.root, boss, await world.user()]) {
      expect(await seen(who)).toEqual([1, 1, 1])
    }
    await reachEndOfShares(world, project.id)
    for (const who of [world.root, boss]) expect(await seen(who)).toEqual([0, 0, 0])
  })

  test.for(['daily purge', 'new share'] as const)(
    'the end of an expired share is in the audit log: %s',
    async (by, { world }) => {
      const [project, group, partners] = [await world.project(), await world.group(), await world.group()]
      const paths = [`/projects/${project.id}`, `/groups/${group.id}`]
      const share = (path: string, expires_at?: string) =>
        world.root.post(`${path}/share`, { group_id: partners.id, group_access: 30, expires_at })
      for (const path of paths) expect((await share(path, yesterday)).status).toBe(201)
      if (by === 'daily purge') await purgeEndedShares.run({}, await contextFor(world, null))
      else for (const path of paths) expect((await share(path)).status).toBe(201)
      for (const path of paths) {
        const events = (await world.root.get(`${path}/audit_events`)).json as any[]
        const ended = events.filter(({ event_name }) => /_unshared$/.test(event_name))
        expect(ended, path).toMatchObject([
          { author_id: -1, details: { remove: 'group_access', target_type: 'Group', target_id: partners.id } },
        ])
      }
    },
  )

  test('deleting a group ends what is shared with it or a group below it, in the change feed and the audit log', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0 })
    const boss = await world.user()
    const [outer, staying] = [await world.group(), await world.group({ members: [[boss, 'owner']] })]
    const inner = await world.group({ parent: outer })
    const [project, gone] = [await world.project({ group: staying }), await world.project({ group: inner })]
    const shares = [
      [`/projects/${project.id}`, outer],
      [`/projects/${project.id}`, inner],
      [`/projects/${gone.id}`, await world.group()],
      [`/groups/${staying.id}`, inner],
      [`/groups/${outer.id}`, inner],
    ] as const
    for (const [path, { id: group_id }] of shares)
      expect((await world.root.post(`${path}/share`, { group_id, group_access: 30 })).status, path).toBe(201)
    await caughtUp(world)
    const start = (await boss.get('/events/changes')).headers['x-next-cursor']
    expect((await world.root.delete(`/groups/${outer.id}`)).status).toBe(202)
    await caughtUp(world)
    const changes = (await boss.get(`/events/changes?after=${start}&limit=500`)).json as any[]
    expect(changes.map(({ kind, target_id, actor_id }) => [kind, target_id, actor_id])).toEqual([
      ['project_unshared', project.id, 1],
      ['project_unshared', project.id, 1],
      ['group_unshared', staying.id, 1],
    ])
    const ended = async (path: string) =>
      ((await world.root.get(`${path}/audit_events`)).json as any[])
        .filter(({ details }) => details.remove === 'group_access')
        .map(({ author_id, details }) => [author_id, details.target_id, details.target_details])
    expect((await ended(`/projects/${project.id}`)).sort()).toEqual(
      [outer, inner].map(({ id, full_path }) => [1, id, full_path]).sort(),
    )
    expect(await ended(`/groups/${staying.id}`)).toEqual([[1, inner.id, inner.full_path]])
  })

  test('a daily job purges expired shares and no others', async ({ world }) => {
    const [project, group, partners] = [await world.project(), await world.group(), await world.group()]
    const lasting = await world.project()
    for (const path of [`/projects/${project.id}`, `/groups/${group.id}`])
      await world.root.post(`${path}/share`, { group_id: partners.id, group_access: 30, expires_at: yesterday })
    await world.root.post(`/projects/${lasting.id}/share`, { group_id: partners.id, group_access: 30 })

    const ctx = await contextFor(world, null)
    const counted = counting(ctx)
    await Promise.all([purgeEndedShares.run({}, counted.ctx), purgeEndedShares.run({}, ctx)])
    expect(counted.counts.transactions).toBe(2)

    expect(await projectsSharedWith(world, partners.id)).toEqual([{ project_id: lasting.id }])
    expect(await groupsSharedWith(world, partners.id)).toEqual([])
  })
})
