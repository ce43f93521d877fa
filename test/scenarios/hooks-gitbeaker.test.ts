import { GroupHooks, Integrations, ProjectHooks, SystemHooks } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { HookReceiver } from '../hook-receiver.ts'
import { test } from '../world.ts'

test('@gitbeaker/rest manages hooks of projects, groups and the instance', async ({ world }) => {
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
  await using receiver = await HookReceiver.start()
  const options = { host: world.origin, token: world.root.token! }
  const group = await world.group()
  const { id } = await world.project({ group })

  const hooks = new ProjectHooks(options)
  const made = await hooks.add(id, receiver.url, { issuesEvents: true, token: 'sesame' })
  expect(made).toMatchObject({ url: receiver.url, push_events: true, issues_events: true, project_id: id })
  expect(await hooks.all(id)).toMatchObject([{ id: made.id }])
  expect(await hooks.edit(id, made.id, receiver.url, { pushEvents: false })).toMatchObject({ push_events: false })
  expect(await hooks.show(id, made.id)).toMatchObject({ push_events: false, issues_events: true })
  await world.root.post(`/projects/${id}/issues`, { title: 'Sent' })
  await world.runJobs()
  const { headers } = await receiver.request(({ json }) => json.object_attributes?.title === 'Sent')
  expect(headers).toMatchObject({ 'x-gitlab-event': 'Issue Hook', 'x-gitlab-token': 'sesame' })
  await hooks.remove(id, made.id)
  await expect(hooks.show(id, made.id)).rejects.toThrow('Not found')

  const ofGroup = new GroupHooks(options)
  const below = await ofGroup.add(group.id, receiver.url, { subgroupEvents: true })
  expect(await ofGroup.all(group.id)).toMatchObject([{ id: below.id, subgroup_events: true }])
  await ofGroup.remove(group.id, below.id)

  const system = new SystemHooks(options)
  const whole = await system.create(receiver.url, { pushEvents: true })
  expect((await system.all()).map((each) => each.id)).toContain(whole.id)
  await system.test(whole.id)
  await receiver.request(({ json }) => json.event_name === 'project_create' && json.path === 'ruby')
  await system.remove(whole.id)
})

test('@gitbeaker/rest manages integrations of a project', async ({ world }) => {
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
  await using receiver = await HookReceiver.start()
  const { id } = await world.project()
  const integrations = new Integrations({ host: world.origin, token: world.root.token! })
  const made = await integrations.edit(id, 'slack', { webhook: receiver.url, issueChannel: '#bugs' } as never)
  expect(made).toMatchObject({ slug: 'slack', active: true, issues_events: true })
  expect(await integrations.all(id)).toMatchObject([{ slug: 'slack' }])
  expect(await integrations.show(id, 'slack')).toMatchObject({ properties: { issue_channel: '#bugs' } })
  await world.root.post(`/projects/${id}/issues`, { title: 'Sent' })
  await world.runJobs()
  await receiver.request(({ json }) => json.channel === '#bugs' && json.text.includes('Sent'))
  await integrations.disable(id, 'slack')
  await expect(integrations.show(id, 'slack')).rejects.toThrow('Service Not Found')
})
