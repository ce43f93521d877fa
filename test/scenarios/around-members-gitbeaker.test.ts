import {
  DeployTokens,
  GroupInvitations,
  GroupVariables,
  InstanceLevelCICDVariables,
  NotificationSettings,
  ProjectAccessRequests,
  ProjectBadges,
  ProjectInvitations,
  ProjectVariables,
  Topics,
  UserCustomAttributes,
  Users,
} from '@gitbeaker/rest'
import { expect } from 'vitest'
import { test, unique } from '../world.ts'

test('@gitbeaker/rest manages access requests, invitations and notification settings', async ({ world }) => {
  const ann = await world.user()
  const project = await world.project({ visibility: 'public', request_access_enabled: true })
  const group = await world.group()
  const asRoot = { host: world.origin, token: world.root.token! }

  const asked = await new ProjectAccessRequests({ host: world.origin, token: ann.token! }).request(project.id)
  expect(asked).toMatchObject({ id: ann.id, requested_at: expect.any(String) })
  const requests = new ProjectAccessRequests(asRoot)
  expect((await requests.all(project.id)).map(({ id }) => id)).toEqual([ann.id])
  expect(await requests.approve(project.id, ann.id, { accessLevel: 20 })).toMatchObject({ access_level: 20 })

  const users = new Users(asRoot)
  expect(await users.allMemberships(ann.id)).toMatchObject([{ source_id: project.id, source_type: 'Project' }])
  const attributes = new UserCustomAttributes(asRoot)
  await attributes.set(ann.id, 'department', 'research')
  expect(await attributes.all(ann.id)).toEqual([{ key: 'department', value: 'research' }])

  const email = `${unique('guest')}@example.org`
  expect(await new GroupInvitations(asRoot).add(group.id, 30, { email })).toMatchObject({ status: 'success' })
  const invitations = new ProjectInvitations(asRoot)
  await invitations.add(project.id, 10, { email })
  expect(await invitations.edit(project.id, email, { accessLevel: 20 })).toMatchObject({ access_level: 20 })
  expect(await invitations.all(project.id)).toMatchObject([{ invite_email: email }])
  await invitations.remove(project.id, email)
  expect(await invitations.all(project.id)).toEqual([])

  const settings = new NotificationSettings(asRoot)
  expect(await settings.edit({ projectId: project.id, level: 'watch' })).toEqual({ level: 'watch' })
  expect(await settings.show({ groupId: group.id })).toEqual({ level: 'global' })
})

test('@gitbeaker/rest manages badges, deploy tokens, variables and topics', async ({ world }) => {
  const name = unique('topic')
  const project = await world.project({ topics: [name] })
  const group = await world.group()
  const options = { host: world.origin, token: world.root.token! }

  const badges = new ProjectBadges(options)
  const badge = await badges.add(project.id, 'https://ci.example/%{project_id}', 'https://ci.example/x.svg', {
    name: 'ci',
  })
  expect(await badges.edit(project.id, badge.id, { name: 'build' })).toMatchObject({ name: 'build' })
  expect(await badges.preview(project.id, badge.link_url, badge.image_url)).toMatchObject({
    rendered_link_url: `https://ci.example/${project.id}`,
  })
  await badges.remove(project.id, badge.id)
  expect(await badges.all(project.id)).toEqual([])

  const tokens = new DeployTokens(options)
  const token = await tokens.create('ci', ['read_repository'], { projectId: project.id })
  expect(token).toMatchObject({ username: `gitlab+deploy-token-${token.id}`, token: expect.any(String) })
  await tokens.create('ci', ['read_registry'], { groupId: group.id })
  await tokens.remove(token.id, { projectId: project.id })
  expect(await tokens.all({ projectId: project.id, active: true })).toEqual([])
  expect((await tokens.all()).map(({ id }) => id)).not.toContain(token.id)
  expect(await tokens.all({ active: false })).toContainEqual(expect.objectContaining({ id: token.id, revoked: true }))

  const variables = new ProjectVariables(options)
  for (const environmentScope of ['production', 'staging'])
    await variables.create(project.id, 'HOST', environmentScope, { environmentScope })
  const filter = { environment_scope: 'staging' }
  expect(await variables.edit(project.id, 'HOST', 'changed', { filter })).toMatchObject({ value: 'changed' })
  expect(await variables.show(project.id, 'HOST', { filter })).toMatchObject({ value: 'changed' })
  await variables.remove(project.id, 'HOST', { filter })
  expect(await variables.all(project.id)).toMatchObject([{ value: 'production' }])
  expect(await new GroupVariables(options).create(group.id, 'A', 'b', { masked: false })).toMatchObject({ key: 'A' })
  expect(await new InstanceLevelCICDVariables(options).all()).toEqual(expect.any(Array))

  const topics = new Topics(options)
  const topic = (await topics.all({ search: name }))[0]!
  expect(await topics.edit(topic.id, { description: 'Set by a client' })).toMatchObject({
    name,
    total_projects_count: 1,
  })
  await topics.remove(topic.id)
  await expect(topics.show(topic.id)).rejects.toThrow(/Not found/i)
})
