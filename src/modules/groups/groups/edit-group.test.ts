import { describe, expect } from 'vitest'
import { eventsOf } from '../../../../test/tables/events.ts'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { test, unique } from '../../../../test/world.ts'
import { visibilities } from '../../../access/levels.ts'
import { lockAccess } from '../../namespaces/index.ts'
import { updateGroupAttributes } from './edit-queries.ts'

const forbidden = { status: 403, json: { message: '403 Forbidden' } }

describe('PUT /groups/:id', () => {
  test('D2-GROUP-DETAIL-PROJECTS: PUT /groups/:id changes only the given attributes', async ({ world }) => {
    const group = await world.group({ description: 'Before', visibility: 'internal' })
    const project = await world.project({ group })
    const sent = {
      description: 'After',
      share_with_group_lock: true,
      require_two_factor_authentication: true,
      two_factor_grace_period: 1,
      project_creation_level: 'noone',
      subgroup_creation_level: 'owner',
      auto_devops_enabled: false,
      emails_disabled: true,
      mentions_disabled: true,
      lfs_enabled: false,
      request_access_enabled: true,
      membership_lock: true,
      file_template_project_id: project.id,
      shared_runners_minutes_limit: 100,
      extra_shared_runners_minutes_limit: 50,
    }
    const edited = await world.root.put(`/groups/${group.id}`, sent)
    expect(edited).toMatchObject({
      status: 200,
      json: { ...sent, name: group.path, path: group.path, visibility: 'internal', projects: [{ id: project.id }] },
    })
    expect((await world.root.get(`/groups/${group.id}`)).json).toEqual(edited.json)
    const [event] = await eventsOf(world, { group: group.id, kind: 'group_updated' }, 'payload')
    expect(event.payload.changed.sort()).toEqual(Object.keys(sent).sort())
  })

  test('PUT /groups/:id without parameters changes nothing', async ({ world }) => {
    const group = await world.group()
    const before = (await world.root.get(`/groups/${group.id}`)).json
    expect((await world.root.put(`/groups/${group.id}`, {})).json).toEqual(before)
  })

  test('an edit waits for changes of access only if it changes path, name, visibility or sharing', async ({
    world,
  }) => {
    const group = await world.group({ description: 'Before' })
    const at = `/groups/${group.id}`
    const { name, path, visibility, share_with_group_lock } = (await world.root.get(at)).json
    const same = { name, path, visibility, share_with_group_lock }
    const waiting = await world.db.transaction(async (tx) => {
      await lockAccess(tx)
      const edited = await world.root.put(at, { ...same, description: 'After' })
      expect(edited).toMatchObject({ status: 200, json: { description: 'After' } })
      const answers = []
      for (const changed of [{ name: 'Other' }, { visibility: 'public' }, { share_with_group_lock: true }]) {
        answers.push(world.root.put(at, changed))
        await expect.poll(() => waitingFor(world, 'advisory lock')).toHaveLength(answers.length)
      }
      return answers
    })
    for (const answer of waiting) expect((await answer).status).toBe(200)
    expect((await world.root.get(at)).json).toMatchObject({
      description: 'After',
      name: 'Other',
      visibility: 'public',
      share_with_group_lock: true,
    })
  })

  test('an edit that sends attributes as they were undoes a change of them meanwhile', async ({ world }) => {
    const group = await world.group({ visibility: 'private' })
    const at = `/groups/${group.id}`
    const { answer } = await world.db.transaction(async (tx) => {
      await updateGroupAttributes(tx, group.id, { visibility: visibilities.public })
      const answer = world.root.put(at, { visibility: 'private', description: 'After' })
      await world.waitsForLock()
      return { answer }
    })
    expect(await answer).toMatchObject({ status: 200, json: { visibility: 'private', description: 'After' } })
  })

  test('null clears the optional attributes of a group', async ({ world }) => {
    const group = await world.group({ auto_devops_enabled: true, lfs_enabled: false, description: 'x' })
    expect(
      (await world.root.put(`/groups/${group.id}`, { auto_devops_enabled: null, lfs_enabled: null, description: null }))
        .json,
    ).toMatchObject({ auto_devops_enabled: null, lfs_enabled: true, description: '' })
    // For other attributes it counts as absent.
    expect((await world.root.put(`/groups/${group.id}`, { name: null })).json.name).toBe(group.path)
  })

  test.for([
    { who: 'owner', status: 200 },
    { who: 'maintainer', status: 403 },
    { who: 'guest', status: 403 },
    { who: 'none', status: 404 },
  ] as const)(
    'D2-GROUP-UPDATE-OWNER: owners and administrators edit groups: $who gets $status',
    async ({ who, status }, { world }) => {
      const ann = await world.user()
      const group = await world.group({ members: who === 'none' ? [] : [[ann, who]] })
      expect((await ann.put(`/groups/${group.id}`, { description: 'x' })).status).toBe(status)
      expect((await world.anonymous.put(`/groups/${group.id}`, { description: 'x' })).status).toBe(401)
      const inner = await world.group({ parent: group })
      expect((await ann.put(`/groups/${inner.id}`, { description: 'x' })).status).toBe(status)
    },
  )

  test('400 with messages by field for invalid attributes of a group', async ({ world }) => {
    const [group, other] = [await world.group(), await world.group()]
    const message = (
      await world.root.put(`/groups/${group.id}`, { name: 'a/b', path: 'api', description: 'd'.repeat(256) })
    ).json.message
    expect(message).toEqual({
      name: ["can contain only letters, digits, '_', '.', dash and space."],
      path: ['api is a reserved name'],
      description: ['is too long (maximum is 255 characters)'],
    })
    expect(await world.root.put(`/groups/${group.id}`, { path: other.path })).toMatchObject({
      status: 400,
      json: { message: { path: ['has already been taken'] } },
    })
    expect((await world.root.get(`/groups/${group.id}`)).json.path).toBe(group.path)
  })

  test('400 for a project of file templates whose code the caller cannot read', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'owner']] })
    const [inside, hidden] = [await world.project({ group }), await world.project()]
    const guarded = await world.project({ members: [[ann, 'guest']] })
    const set = (id: number | null) => ann.put(`/groups/${group.id}`, { file_template_project_id: id })
    for (const id of [hidden.id, guarded.id, 999_999_999])
      expect(await set(id)).toMatchObject({
        status: 400,
        json: { message: { file_template_project_id: ['is invalid'] } },
      })
    expect(await set(inside.id)).toMatchObject({ status: 200, json: { file_template_project_id: inside.id } })
    expect(await set(null)).toMatchObject({ status: 200, json: { file_template_project_id: null } })
  })

  test('400 for a group less visible than its content or more than its parent', async ({ world }) => {
    const top = await world.group({ visibility: 'internal' })
    const withProject = await world.group({ parent: top, visibility: 'internal' })
    await world.project({ group: withProject, visibility: 'internal' })
    const refused = async (id: number, visibility: string, ...texts: string[]) =>
      expect(await world.root.put(`/groups/${id}`, { visibility })).toMatchObject({
        status: 400,
        json: { message: { visibility_level: texts } },
      })
    await refused(withProject.id, 'public', 'public is not allowed since the parent group has a internal visibility.')
    await refused(
      withProject.id,
      'private',
      'private is not allowed since this group contains projects with higher visibility.',
    )
    await refused(top.id, 'private', 'private is not allowed since there are sub-groups with higher visibility.')
    expect((await world.root.put(`/groups/${top.id}`, { visibility: 'public' })).status).toBe(200)
    expect((await world.root.put(`/groups/${withProject.id}`, { visibility: 'public' })).status).toBe(200)
  })

  test('only owners of a locked parent group can unlock share_with_group_lock', async ({ world }) => {
    const ann = await world.user()
    const top = await world.group({ share_with_group_lock: true })
    const inner = await world.group({ parent: top, members: [[ann, 'owner']] })
    const unlock = { share_with_group_lock: false }
    expect(await ann.put(`/groups/${inner.id}`, unlock)).toMatchObject({
      status: 400,
      json: {
        message: {
          share_with_group_lock: [
            'cannot be disabled when the parent group "Share with group lock" is enabled, except by the owner of the parent group',
          ],
        },
      },
    })
    expect((await world.root.put(`/groups/${inner.id}`, unlock)).json).toMatchObject(unlock)
    expect((await ann.put(`/groups/${inner.id}`, { share_with_group_lock: true })).status).toBe(200)
  })

  test('locking a group locks its subgroups and their projects', async ({ world }) => {
    const ann = await world.user()
    const partners = await world.group({ members: [[ann, 'developer']] })
    const top = await world.group()
    const inner = await world.group({ parent: await world.group({ parent: top }) })
    const project = await world.project({ group: inner })
    await world.root.post(`/projects/${project.id}/share`, { group_id: partners.id, group_access: 30 })
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(200)
    await world.root.put(`/groups/${top.id}`, { share_with_group_lock: true })
    expect((await world.root.get(`/groups/${inner.id}`)).json.share_with_group_lock).toBe(true)
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(404)
    // Each group is unlocked separately.
    await world.root.put(`/groups/${top.id}`, { share_with_group_lock: false })
    expect((await world.root.get(`/groups/${inner.id}`)).json.share_with_group_lock).toBe(true)
  })

  test('locking a group ends shares of its projects at once', async ({ world }) => {
    const ann = await world.user()
    const partners = await world.group({ members: [[ann, 'developer']] })
    const group = await world.group()
    const project = await world.project({ group })
    await world.root.post(`/projects/${project.id}/share`, { group_id: partners.id, group_access: 30 })
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(200)
    await world.root.put(`/groups/${group.id}`, { share_with_group_lock: true })
    expect((await ann.get(`/projects/${project.id}`)).status).toBe(404)
  })
})

describe('changing the path of a group', () => {
  test('a new path moves everything in the group, and old paths redirect', async ({ world }) => {
    const top = await world.group()
    const inner = await world.group({ parent: top })
    const project = await world.project({ group: inner })
    const [path, name] = [unique('moved'), unique('Moved')]

    const edited = await world.root.put(`/groups/${top.id}`, { path, name })

    expect(edited.json).toMatchObject({ path, full_path: path, name, full_name: name })
    expect((await world.root.get(`/groups/${inner.id}`)).json).toMatchObject({
      path: inner.path,
      full_path: `${path}/${inner.path}`,
      full_name: `${name} / ${inner.path}`,
    })
    const moved = { id: project.id, path_with_namespace: `${path}/${inner.path}/${project.path}` }
    expect((await world.root.get(`/projects/${project.id}`)).json).toMatchObject({
      ...moved,
      name_with_namespace: `${name} / ${inner.path} / ${project.path}`,
    })
    expect((await world.root.get(`/projects/${encodeURIComponent(project.full_path)}`)).json).toMatchObject(moved)
    expect((await world.root.get(`/groups/${encodeURIComponent(inner.full_path)}`)).json).toMatchObject({
      id: inner.id,
    })
    expect((await world.root.get(`/projects/${encodeURIComponent(moved.path_with_namespace)}`)).json).toMatchObject(
      moved,
    )
  })

  test('an old path of a group can be taken by another group', async ({ world }) => {
    const first = await world.group()
    const project = await world.project({ group: first })
    await world.root.put(`/groups/${first.id}`, { path: unique('moved') })
    const second = await world.root.post('/groups', { name: first.path, path: first.path })
    expect(second.status).toBe(201)
    expect((await world.root.get(`/groups/${first.path}`)).json.id).toBe(second.json.id)
    // The old path of the project is still free.
    const old = `/projects/${encodeURIComponent(project.full_path)}`
    expect((await world.root.get(old)).json.id).toBe(project.id)
    const taker = await world.project({ group: second.json, path: project.path, name: project.path })
    expect((await world.root.get(old)).json.id).toBe(taker.id)
    expect(await world.root.put(`/groups/${first.id}`, { path: first.path })).toMatchObject({ status: 400 })
  })

  test('a group can return to its old path, and change only its case', async ({ world }) => {
    const group = await world.group()
    const project = await world.project({ group })
    for (const path of [unique('moved'), group.path, group.path.toUpperCase()])
      expect((await world.root.put(`/groups/${group.id}`, { path })).json).toMatchObject({ path, full_path: path })
    expect((await world.root.get(`/projects/${project.id}`)).json.path_with_namespace).toBe(
      `${group.path.toUpperCase()}/${project.path}`,
    )
  })

  test('a new path does not change groups with the old path as a prefix', async ({ world }) => {
    const group = await world.group()
    const alike = await world.group({ path: `${group.path}x`, name: `${group.path}x` })
    await world.root.put(`/groups/${group.id}`, { path: unique('moved') })
    expect((await world.root.get(`/groups/${alike.id}`)).json.full_path).toBe(`${group.path}x`)
  })

  test('one of several concurrent changes to the same path succeeds', async ({ world }) => {
    const groups = await Promise.all([1, 2, 3].map(() => world.group()))
    const path = unique('wanted')
    const answers = await Promise.all(groups.map(({ id }) => world.root.put(`/groups/${id}`, { path })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
  })

  test('403 for changing the path of a group unless the caller is an owner', async ({ world }) => {
    const ann = await world.user()
    const group = await world.group({ members: [[ann, 'maintainer']] })
    expect(await ann.put(`/groups/${group.id}`, { path: unique('moved') })).toMatchObject(forbidden)
  })
})
