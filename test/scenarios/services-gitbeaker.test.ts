import { Integrations } from '@gitbeaker/rest'
import { expect } from 'vitest'
import { test } from '../world.ts'

test('@gitbeaker/rest sets up, changes, lists and disables integrations of a project', async ({ world }) => {
  const ann = await world.user()
  const project = await world.project({ members: [[ann, 'maintainer']] })
  const integrations = new Integrations({ host: world.origin, token: ann.token! })
  expect(await integrations.all(project.id)).toEqual([])
  await expect(integrations.show(project.id, 'slack')).rejects.toThrow(/404|Not Found/)

  const slack = await integrations.edit(project.id, 'slack', {
    webhook: 'https://chat.example.com/hooks/secret',
    channel: 'general',
    issuesEvents: false,
  } as never)
  expect(slack).toMatchObject({
    ...{ slug: 'slack', active: true, push_events: true, issues_events: false },
    properties: { channel: 'general' },
  })
  expect(JSON.stringify(slack)).not.toContain('hooks/secret')
  await integrations.edit(project.id, 'emails-on-push', {
    recipients: 'team@example.com',
    disableDiffs: true,
  } as never)
  await integrations.edit(project.id, 'slack', { pushEvents: false } as never)
  expect(await integrations.show(project.id, 'slack')).toMatchObject({
    ...{ push_events: false, issues_events: false },
    properties: { channel: 'general' },
  })
  expect((await integrations.all(project.id)).map(({ slug }) => slug)).toEqual(['slack', 'emails-on-push'])

  await integrations.disable(project.id, 'slack')
  expect((await integrations.all(project.id)).map(({ slug }) => slug)).toEqual(['emails-on-push'])
  await expect(integrations.disable(project.id, 'slack')).rejects.toThrow(/404|Not Found/)
})
