import { describe, expect } from 'vitest'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import { test, unique, World } from '../../../../test/world.ts'
import { removeGroup } from '../../groups/groups/jobs.ts'
import { removeUser } from '../../groups/user-removal/jobs.ts'
import { isoTime, nullOid, ofKind, oid, projectBlock, text, time, withContent } from './testing.ts'

describe('hooks of groups and of the installation', () => {
  test('a hook of a group receives events of projects below, and of members and subgroups with times that Go clients read', async ({
    world,
  }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const group = await world.group()
    const flags = { issues_events: true, member_events: true, subgroup_events: true }
    await world.root.post(`/groups/${group.id}/hooks`, { url: receiver.url, ...flags })
    await world.runJobs()
    const ann = await world.user()
    const membership = { user_id: ann.id, access_level: 30, expires_at: '2999-01-31' }
    await world.root.post(`/groups/${group.id}/members`, membership)
    const subgroup = await world.group({ parent: group })
    const project = await world.project({ group: subgroup })
    await world.root.post(`/projects/${project.id}/issues`, { title: 'Below' })
    await world.root.delete(`/groups/${group.id}/members/${ann.id}`)
    const member = await receiver.request(({ json }) => json.event_name === 'user_add_to_group')
    expect(member.headers['x-service-event']).toBe('Member Hook')
    expect(member.json).toEqual({
      event_name: 'user_add_to_group',
      created_at: isoTime,
      updated_at: isoTime,
      group_name: group.path,
      group_path: group.path,
      group_id: group.id,
      user_id: ann.id,
      user_name: text,
      user_username: ann.username,
      user_email: '',
      group_access: 'Developer',
      expires_at: '2999-01-31T00:00:00Z',
    })
    const removed = await receiver.request(({ json }) => json.event_name === 'user_remove_from_group')
    const times = { created_at: isoTime, updated_at: isoTime }
    expect(removed.json).toEqual({ ...member.json, ...times, event_name: 'user_remove_from_group' })
    const made = await receiver.request(({ json }) => json.event_name === 'subgroup_create')
    expect(made.headers['x-service-event']).toBe('Subgroup Hook')
    expect(made.json).toEqual({
      created_at: isoTime,
      updated_at: isoTime,
      event_name: 'subgroup_create',
      name: subgroup.path,
      path: subgroup.path,
      full_path: subgroup.full_path,
      group_id: subgroup.id,
      parent_group_id: group.id,
      parent_name: group.path,
      parent_path: group.path,
      parent_full_path: group.full_path,
    })
    expect((await receiver.request(ofKind('issue'))).json.project.id).toBe(project.id)
  })

  test('a hook of a group learns when a membership expires, also from a change of its level only', async ({
    world,
  }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const group = await world.group()
    await world.root.post(`/groups/${group.id}/hooks`, { url: receiver.url, member_events: true })
    await world.runJobs()
    const ann = await world.user()
    const expires_at = '2999-12-31'
    await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 20, expires_at })
    await world.root.put(`/groups/${group.id}/members/${ann.id}`, { access_level: 30 })
    const updated = await receiver.request(({ json }) => json.event_name === 'user_update_for_group')
    expect(updated.json).toMatchObject({ group_access: 'Developer', expires_at: `${expires_at}T00:00:00Z` })
  })

  test('a system hook receives events of accounts, keys, groups, projects and members, also when they are gone', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0 })
    await using receiver = await HookReceiver.start()
    const hook = (await world.root.post('/hooks', { url: receiver.url, push_events: true, tag_push_events: true })).json
    await world.runJobs()
    const named = async (name: string, fits: (json: any) => boolean) => {
      const { headers, json } = await receiver.request(({ json }) => json.event_name === name && fits(json))
      expect(headers['x-gitlab-event']).toBe('System Hook')
      return json
    }
    const ann = await world.user()
    const ofAnn = (json: any) => json.user_id === ann.id
    expect(await named('user_create', ofAnn)).toEqual({
      event_name: 'user_create',
      created_at: time,
      updated_at: time,
      name: text,
      email: `${ann.username}@example.com`,
      user_id: ann.id,
      username: ann.username,
    })
    const renamed = unique('renamed')
    await world.root.put(`/users/${ann.id}`, { username: renamed })
    expect(await named('user_rename', ofAnn)).toMatchObject({ username: renamed, old_username: ann.username })
    const group = await world.group()
    const ofGroup = (json: any) => json.group_id === group.id
    expect(await named('group_create', ofGroup)).toMatchObject({ path: group.path, full_path: group.path })
    await world.root.put(`/groups/${group.id}`, { path: `${group.path}-2` })
    expect(await named('group_rename', ofGroup)).toMatchObject({ full_path: `${group.path}-2`, old_path: group.path })
    await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 40 })
    expect(await named('user_add_to_group', (json) => ofGroup(json) && ofAnn(json))).toMatchObject({
      user_email: `${ann.username}@example.com`,
      group_access: 'Maintainer',
    })
    const project = await world.project({ group })
    const ofProject = (json: any) => json.project_id === project.id
    expect(await named('project_create', ofProject)).toEqual({
      event_name: 'project_create',
      created_at: time,
      updated_at: time,
      name: project.name,
      path: project.path,
      path_with_namespace: project.full_path,
      project_id: project.id,
      owner_name: text,
      owner_email: '',
      owners: [{ name: text, email: '' }],
      project_visibility: 'private',
    })
    await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 })
    expect(await named('user_add_to_team', (json) => ofProject(json) && ofAnn(json))).toMatchObject({
      user_id: ann.id,
      access_level: 'Maintainer',
      project_path: project.path,
      project_path_with_namespace: project.full_path,
      project_visibility: 'private',
    })
    await withContent(world, project)
    expect(await named('push', ofProject)).toMatchObject({ object_kind: 'push' })
    const update = await named('repository_update', ofProject)
    expect(update).toEqual({
      event_name: 'repository_update',
      user_id: 1,
      user_name: text,
      user_email: '',
      user_avatar: expect.toBeOneOf([null, text]),
      project_id: project.id,
      project: projectBlock,
      changes: [{ before: nullOid, after: oid, ref: 'refs/heads/main' }],
      refs: ['refs/heads/main'],
    })
    await world.root.put(`/projects/${project.id}`, { path: `${project.path}-2`, description: 'Changed' })
    expect(await named('project_rename', ofProject)).toMatchObject({ old_path_with_namespace: project.full_path })
    await named('project_update', ofProject)
    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    expect(await named('user_remove_from_team', ofProject)).toMatchObject({ access_level: 'Maintainer' })
    await world.root.delete(`/projects/${project.id}`)
    expect(await named('project_destroy', ofProject)).toMatchObject({ path: `${project.path}-2` })
    await world.root.delete(`/groups/${group.id}`)
    expect(await named('group_destroy', ofGroup)).toMatchObject({ path: `${group.path}-2` })
    await world.root.delete(`/users/${ann.id}`)
    expect(await named('user_destroy', ofAnn)).toMatchObject({ username: renamed })
    await world.root.delete(`/hooks/${hook.id}`)
  })

  test('a system hook learns of the first member of a new project or group, after the project or group', async ({
    world,
  }) => {
    await using receiver = await HookReceiver.start()
    const hook = (await world.root.post('/hooks', { url: receiver.url })).json
    await world.runJobs()
    const ann = await world.user()
    const group = await world.group({}, ann)
    const inGroup = (await ann.post('/projects', { name: 'ours', namespace_id: group.id })).json
    const own = (await world.root.post(`/projects/user/${ann.id}`, { name: 'own' })).json
    const source = await world.project({ visibility: 'public', initialize_with_readme: true })
    const fork = (await ann.post(`/projects/${source.id}/fork`)).json
    const named = async (name: string, fits: (json: any) => boolean) =>
      (await receiver.request(({ json }) => json.event_name === name && fits(json))).json
    expect(await named('user_add_to_group', (json) => json.group_id === group.id)).toMatchObject({
      user_id: ann.id,
      group_access: 'Owner',
    })
    for (const { id } of [inGroup, own, fork])
      expect(await named('user_add_to_team', (json) => json.project_id === id)).toMatchObject({
        user_id: ann.id,
        access_level: 'Maintainer',
      })
    await world.root.delete(`/hooks/${hook.id}`)
  })

  test('hooks learn that the memberships of a deleted account end, before the account, and with its name when it is gone', async () => {
    await using world = await World.start()
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const ann = await world.user({ email: 'ann@mail.example' })
    const group = await world.group({ members: [[ann, 'developer']] })
    const project = await world.project({ group, members: [[ann, 'maintainer']] })
    expect((await world.root.post('/hooks', { url: receiver.url })).status).toBe(201)
    const ofGroup = `/groups/${group.id}/hooks`
    expect((await world.root.post(ofGroup, { url: receiver.url, member_events: true })).status).toBe(201)
    expect((await world.root.delete(`/users/${ann.id}`)).status).toBe(204)
    await removeUser.run({ userId: ann.id, hard: false }, await world.app.open(null))
    await world.runJobs()
    const named = async (name: string, header: string) =>
      (await receiver.request(({ json, headers }) => json.event_name === name && headers['x-gitlab-event'] === header))
        .json
    const user = { user_id: ann.id, user_name: `Name of ${ann.username}`, user_username: ann.username }
    expect(await named('user_remove_from_team', 'System Hook')).toMatchObject({
      ...user,
      user_email: 'ann@mail.example',
      project_id: project.id,
      access_level: 'Maintainer',
    })
    expect(await named('user_remove_from_group', 'System Hook')).toMatchObject({
      ...user,
      user_email: 'ann@mail.example',
      group_access: 'Developer',
    })
    expect(await named('user_remove_from_group', 'Member Hook')).toMatchObject({
      ...user,
      user_email: '',
      group_id: group.id,
    })
    await named('user_destroy', 'System Hook')
  })

  test.for(['block', 'ban'])(
    'a system hook receives sign-ins with the right password after: %s',
    async (verb, { world }) => {
      await using receiver = await HookReceiver.start()
      const ann = await world.user()
      await world.root.post(`/users/${ann.id}/${verb}`)
      const hook = (await world.root.post('/hooks', { url: receiver.url })).json
      await world.runJobs()
      const json = { grant_type: 'password', username: ann.username, password: 'correct horse battery' }
      expect((await world.anonymous.send('POST', '//oauth/token', { json })).json.error).toBe('invalid_grant')
      const sent = await receiver.request(
        ({ json }) => json.event_name === 'user_failed_login' && json.user_id === ann.id,
      )
      const state = verb === 'ban' ? 'banned' : 'blocked'
      expect(sent.json).toMatchObject({ username: ann.username, email: `${ann.username}@example.com`, state })
      await world.root.delete(`/hooks/${hook.id}`)
    },
  )

  test('what is deleted with a group or a user is sent, too, each project and subgroup once', async ({ world }) => {
    await world.settings({ deletion_adjourned_period: 0, allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    await using above = await HookReceiver.start()
    const outer = await world.group()
    await world.root.post(`/groups/${outer.id}/hooks`, { url: above.url, push_events: false, subgroup_events: true })
    const group = await world.group({ parent: outer })
    const [inner, before] = [await world.group({ parent: group }), await world.group({ parent: group })]
    const [kept, gone] = [await world.project({ group: inner }), await world.project({ group })]
    const ann = await world.user()
    const personal = (await ann.post('/projects', { name: unique('personal') })).json
    const hook = (await world.root.post('/hooks', { url: receiver.url })).json
    await world.runJobs()
    await world.root.delete(`/projects/${gone.id}`)
    await world.root.delete(`/groups/${before.id}`)
    await world.root.delete(`/groups/${group.id}`)
    await world.root.delete(`/users/${ann.id}`)
    const sent = (name: string, id: number) =>
      receiver.received.filter(
        ({ json }) => json.event_name === name && (json.project_id === id || json.group_id === id),
      )
    await expect.poll(() => sent('project_destroy', personal.id)).toHaveLength(1)
    await expect.poll(() => sent('project_destroy', kept.id)).toHaveLength(1)
    await expect.poll(() => sent('group_destroy', inner.id)).toHaveLength(1)
    await receiver.request(({ json }) => json.event_name === 'user_destroy' && json.user_id === ann.id)
    expect(sent('project_destroy', kept.id)[0]!.json).toMatchObject({
      name: kept.name,
      path: kept.path,
      path_with_namespace: kept.full_path,
      owner_name: inner.path,
      project_visibility: 'private',
    })
    expect(sent('group_destroy', inner.id)[0]!.json).toMatchObject({ path: inner.path, full_path: inner.full_path })
    for (const once of [sent('project_destroy', gone.id), sent('group_destroy', before.id)])
      expect(once).toHaveLength(1)
    expect(sent('group_destroy', group.id)).toHaveLength(1)
    const subgroups = () => above.received.map(({ json }) => [json.event_name, json.group_id])
    await expect
      .poll(subgroups)
      .toEqual(expect.arrayContaining([group, inner, before].map(({ id }) => ['subgroup_destroy', id])))
    expect(subgroups().filter(([name]) => name === 'subgroup_destroy')).toHaveLength(3)
    await world.root.delete(`/hooks/${hook.id}`)
  })

  test('a hook of a group learns of the end of a subgroup whose last change was not sent yet when it was gone', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0, allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const [outer, ann] = [await world.group(), await world.user()]
    const group = await world.group({ parent: outer })
    const flags = { push_events: false, member_events: true, subgroup_events: true }
    await world.root.post(`/groups/${outer.id}/hooks`, { url: receiver.url, ...flags })
    await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 30 })
    await world.root.delete(`/groups/${group.id}`)
    await removeGroup.run({ groupId: group.id }, await world.app.open(null))
    await world.runJobs()
    const ended = await receiver.request(({ json }) => json.event_name === 'subgroup_destroy')
    expect(ended.json).toMatchObject({ group_id: group.id, full_path: group.full_path })
  })

  test('what was deleted with a subgroup or a user is not sent again with the group, or when the deletion is repeated', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0, allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const group = await world.group()
    const middle = await world.group({ parent: group })
    const inner = await world.group({ parent: middle })
    const [project, deepest] = [await world.project({ group: middle }), await world.project({ group: inner })]
    const ann = await world.user()
    const personal = (await ann.post('/projects', { name: unique('personal') })).json
    const hook = (await world.root.post('/hooks', { url: receiver.url })).json
    await world.root.delete(`/groups/${middle.id}`)
    await world.root.delete(`/groups/${group.id}`)
    for (const status of [204, 204]) expect((await world.root.delete(`/users/${ann.id}`)).status).toBe(status)
    const bob = await world.user()
    await world.root.delete(`/users/${bob.id}`)
    await world.runJobs()
    const sent = (name: string, field: string, id: number) =>
      receiver.received.filter(({ json }) => json.event_name === name && json[field] === id).length
    await expect.poll(() => sent('user_destroy', 'user_id', bob.id)).toBe(1)
    expect({
      project: sent('project_destroy', 'project_id', project.id),
      deepest: sent('project_destroy', 'project_id', deepest.id),
      personal: sent('project_destroy', 'project_id', personal.id),
      middle: sent('group_destroy', 'group_id', middle.id),
      inner: sent('group_destroy', 'group_id', inner.id),
      group: sent('group_destroy', 'group_id', group.id),
      user: sent('user_destroy', 'user_id', ann.id),
    }).toEqual({ project: 1, deepest: 1, personal: 1, middle: 1, inner: 1, group: 1, user: 1 })
    await world.root.delete(`/hooks/${hook.id}`)
  })
})
