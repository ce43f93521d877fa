import { expect } from 'vitest'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import { eventually } from '../../../../test/waiting.ts'
import { test } from '../../../../test/world.ts'
import { hookFor, openIssue, quickWorld, titlesOf } from '../../integrations/deliveries/testing.ts'
import { exportOf, importOf } from '../testing.ts'

test('an imported hook receives nothing until a maintainer changes it', async () => {
  await using world = await quickWorld()
  await using unasked = await HookReceiver.start()
  await using receiver = await HookReceiver.start()
  const project = await world.project()
  await hookFor(world, project, unasked.url)
  const imported = await importOf(world, await exportOf(world, project.id))
  const [hook] = (await world.root.get(`/projects/${imported.id}/hooks`)).json
  expect(hook).toMatchObject({ url: unasked.url, alert_status: 'temporarily_disabled' })
  await hookFor(world, imported, receiver.url)
  await world.runJobs()
  await openIssue(world, imported, 'First')
  await eventually(() => expect(titlesOf(receiver)).toEqual(['First']))
  await openIssue(world, imported, 'Second')
  await eventually(() => expect(titlesOf(receiver)).toEqual(['First', 'Second']))
  expect(titlesOf(unasked)).toEqual([])
  expect((await world.root.put(`/projects/${imported.id}/hooks/${hook.id}`, { url: unasked.url })).status).toBe(200)
  await eventually(() => expect(titlesOf(unasked).sort()).toEqual(['First', 'Second']))
})
