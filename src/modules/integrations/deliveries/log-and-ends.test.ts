import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import { ageEvents, deleteHookRow, deliveryStates, recordedEvents } from '../../../../test/tables/hooks.ts'
import { isUnlocked, lockRow } from '../../../../test/tables/instance.ts'
import { deleteProject } from '../../../../test/tables/projects.ts'
import { eventually } from '../../../../test/waiting.ts'
import { test } from '../../../../test/world.ts'
import { expandEvents } from './expand.ts'
import { endOldHookEvents } from './jobs.ts'
import { commit, hookFor, idOf, openIssue, quick, quickWorld, titlesOf } from './testing.ts'

describe('resend and replay', () => {
  test('an event is sent again on request, with the same ids', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    await world.runJobs()
    await openIssue(world, project, 'Twice')
    await receiver.request(() => true)
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 1 }))
    const [{ id }] = (await world.root.get(`${at}/events`)).json
    const again = await world.root.post(`${at}/events/${id}/resend`)
    expect(again).toMatchObject({ status: 201, json: { state: 'pending', attempts: 0 } })
    await eventually(() => expect(receiver.received).toHaveLength(2))
    const [first, second] = receiver.received.map(({ headers, text }) => [headers['idempotency-key'], text])
    expect(second).toEqual(first)
    expect((await world.root.post(`${at}/events/${2 ** 31 - 1}/resend`)).status).toBe(404)
  })

  test('events since a time are sent again, each once and in order', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    await world.runJobs()
    const issue = await openIssue(world, project, 'title 0')
    for (let n = 1; n < 4; n++) await world.root.put(issue, { title: `title ${n}` })
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 4 }))
    const since = new Date(Date.now() - 3_600_000).toISOString()
    for (let round = 2; round < 4; round++) {
      const replayed = await world.root.post(`${at}/replay`, { since })
      expect(replayed).toMatchObject({ status: 201, json: { queued: 4 } })
      await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 4 * round }))
    }
    const titles = [0, 1, 2, 3].map((n) => `title ${n}`)
    expect(titlesOf(receiver)).toEqual([...titles, ...titles, ...titles])
    const future = new Date(Date.now() + 3_600_000).toISOString()
    expect((await world.root.post(`${at}/replay`, { since: future })).json).toEqual({ queued: 0 })
    expect((await world.root.post(`${at}/replay`)).status).toBe(400)
  })
})

describe('the log of hooks of each kind', () => {
  test.for(['projects', 'groups', 'system'] as const)(
    'a hook of %s is tested, its deliveries are listed, resent and replayed',
    async (kind, { world }) => {
      await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
      await using receiver = await HookReceiver.start()
      const group = await world.group()
      const project = await world.project({ group })
      await commit(world, project, 'main')
      const hooks = { projects: `/projects/${project.id}/hooks`, groups: `/groups/${group.id}/hooks`, system: '/hooks' }
      const made = await world.root.post(hooks[kind], { url: receiver.url, push_events: true })
      const at = `${hooks[kind]}/${made.json.id}`
      onTestFinished(async () => void (await world.root.delete(at)))
      const tests = kind === 'system' ? [at, `${at}/test/push_events`] : [`${at}/test`, `${at}/test/push_events`]
      for (const path of tests) expect((await world.root.post(path)).status).toBe(201)
      await commit(world, project, 'main')
      await world.runJobs()
      const isPush = ({ json }: { json: any }) => json.ref === 'refs/heads/main' && json.before !== '0'.repeat(40)
      await receiver.request(isPush)
      // A hook of the installation is also sent what earlier tests of this worker left to do.
      const logged = await eventually(async () => {
        const deliveries = (await world.root.get(`${at}/events`)).json
        expect(deliveries.length).toBeGreaterThanOrEqual(3)
        expect(deliveries[0]).toMatchObject({ state: 'delivered', response_status: 200, response_body: 'ok' })
        return deliveries
      })
      const again = await world.root.post(`${at}/events/${logged[0].id}/resend`)
      expect(again.json).toMatchObject({ idempotency_key: logged[0].idempotency_key, state: 'pending' })
      const since = new Date(Date.now() - 3_600_000).toISOString()
      const replayed = await world.root.post(`${at}/replay`, { since })
      expect(replayed.json.queued).toBeGreaterThanOrEqual(kind === 'system' ? 1 : 0)
      await eventually(async () => expect(await deliveryStates(world, made.json.id)).not.toHaveProperty('pending'))
    },
  )
})

describe('what ends deliveries', () => {
  test('an issue that became confidential before it was sent is not sent to a hook without the flag', async ({
    world,
  }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    const issue = await openIssue(world, project, 'Secret')
    await world.root.put(issue, { confidential: true })
    await openIssue(world, project, 'Open')
    await world.runJobs()
    await receiver.request(({ json }) => json.object_attributes.title === 'Open')
    expect(titlesOf(receiver)).toEqual(['Open'])
    expect(await deliveryStates(world, idOf(at))).toMatchObject({})
  })

  test('an issue that became confidential is sent as such to a hook with both flags', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    await hookFor(world, project, receiver.url, { confidential_issues_events: true })
    const issue = await openIssue(world, project, 'Both')
    await world.root.put(issue, { confidential: true })
    await world.runJobs()
    await eventually(() => expect(receiver.received).toHaveLength(2))
    expect(receiver.received.map(({ headers }) => headers['x-gitlab-event'])).toEqual([
      'Confidential Issue Hook',
      'Confidential Issue Hook',
    ])
  })

  test('a hook of a group gets nothing of a project that left the group before it was sent', async () => {
    await using world = await quickWorld({ ...quick, request: 60_000 })
    await using receiver = await HookReceiver.start()
    const [group, other] = [await world.group(), await world.group()]
    const project = await world.project({ group })
    const hook = { url: receiver.url, push_events: false, issues_events: true }
    const { id } = (await world.root.post(`/groups/${group.id}/hooks`, hook)).json
    // The first attempt fails, and lasts until the project has left.
    const transferred = Promise.withResolvers<void>()
    receiver.answering = (_received, response) => void transferred.promise.then(() => response.writeHead(500).end())
    await world.runJobs()
    await openIssue(world, project, 'Before')
    await eventually(() => expect(receiver.received.length).toBeGreaterThan(0))
    expect((await world.root.put(`/projects/${project.id}/transfer`, { namespace: other.id })).status).toBe(200)
    transferred.resolve()
    await eventually(async () => expect(await deliveryStates(world, id)).toEqual({ dropped: 1 }))
  })

  test('404 for the test of a hook that is deleted meanwhile', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    const project = await world.project()
    const at = await hookFor(world, project, 'http://127.0.0.1:9')
    await openIssue(world, project, 'There')
    const { answer } = await (await contextFor(world, null)).transaction(async (tx) => {
      await deleteHookRow(tx, idOf(at))
      const tested = world.root.post(`${at}/test/issues_events`)
      await world.waitsForLock()
      return { answer: tested }
    })
    expect((await answer).status).toBe(404)
  })

  test('a test of a group hook is not sent again after the project left the group', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const [group, other] = [await world.group(), await world.group()]
    const project = await world.project({ group })
    const issue = await openIssue(world, project, 'Before')
    const hook = { url: receiver.url, push_events: false, issues_events: true }
    const at = `/groups/${group.id}/hooks/${(await world.root.post(`/groups/${group.id}/hooks`, hook)).json.id}`
    await world.runJobs()
    expect((await world.root.post(`${at}/test/issues_events`)).status).toBe(201)
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 1 }))
    expect((await world.root.put(`/projects/${project.id}/transfer`, { namespace: other.id })).status).toBe(200)
    await world.root.put(issue, { title: 'Afterwards' })
    const [{ id }] = (await world.root.get(`${at}/events`)).json
    expect((await world.root.post(`${at}/events/${id}/resend`)).status).toBe(201)
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 1, dropped: 1 }))
    expect(titlesOf(receiver)).toEqual(['Before'])
  })

  test('the deliveries of a deleted hook end, and those of a deleted record are sent', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const [gone, stays] = [await hookFor(world, project, receiver.url), await hookFor(world, project, receiver.url)]
    const issue = await openIssue(world, project, 'Deleted')
    await world.root.delete(issue)
    await openIssue(world, project, 'Stays')
    await world.root.delete(gone)
    await world.runJobs()
    await eventually(async () => expect(await deliveryStates(world, idOf(stays))).toEqual({ delivered: 2 }))
    expect(titlesOf(receiver).sort()).toEqual(['Deleted', 'Stays'])
  })

  test('a result locks the hook before the delivery, as a deletion of the hook does', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    const received = Promise.withResolvers<ServerResponse>()
    receiver.answering = (_received, response) => received.resolve(response)
    await world.runJobs()
    await openIssue(world, project, 'Sent')
    const response = await received.promise
    const [{ id }] = (await world.root.get(`${at}/events`)).json
    const unlocked = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'hooks', idOf(at), 'no key update')
      response.end()
      await world.waitsForLock()
      return isUnlocked(tx, 'hook_deliveries', id)
    })
    expect(unlocked).toBe(true)
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 1 }))
  })

  test('a hook goes on when its creator can no longer see the project', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']] })
    const flags = { url: receiver.url, push_events: false, issues_events: true }
    expect((await ann.post(`/projects/${project.id}/hooks`, flags)).status).toBe(201)
    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    await world.runJobs()
    await openIssue(world, project, 'Afterwards')
    await receiver.request(({ json }) => json.object_attributes.title === 'Afterwards')
  })

  test('what was recorded of a project that is gone is deleted a day later', async ({ world }) => {
    const [project, other] = [await world.project(), await world.project()]
    for (const each of [project, other]) {
      await hookFor(world, each, 'https://203.0.114.9/')
      await openIssue(world, each, 'Recorded')
      await ageEvents(world, each.id, 2)
    }
    const kept = async () => [
      (await recordedEvents(world, project.id)).length,
      (await recordedEvents(world, other.id)).length,
    ]
    const run = async () => endOldHookEvents.run({}, await contextFor(world, null))
    await run()
    expect(await kept()).toEqual([1, 1])
    await ageEvents(world, project.id, -2)
    await deleteProject(world, { id: project.id })
    await run()
    expect(await kept()).toEqual([1, 1])
    await ageEvents(world, project.id, 2)
    await run()
    expect(await kept(), 'a hook of a group may have to receive it').toEqual([1, 1])
    while ((await expandEvents(await contextFor(world, null))) === 'more');
    await run()
    expect(await kept()).toEqual([0, 1])
  })

  test('events are deleted after seven days, sent or not', async ({ world }) => {
    const project = await world.project()
    const at = await hookFor(world, project, 'https://203.0.114.9/')
    await openIssue(world, project, 'Old')
    const run = async () => endOldHookEvents.run({}, await contextFor(world, null))
    await ageEvents(world, project.id, 6)
    await run()
    expect(await recordedEvents(world, project.id)).toHaveLength(1)
    await ageEvents(world, project.id, 2)
    await run()
    expect(await recordedEvents(world, project.id)).toEqual([])
    await world.root.delete(at)
  })
})
