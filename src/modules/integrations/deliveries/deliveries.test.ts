import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import {
  agePush,
  deleteHook,
  deliveryStates,
  dropPush,
  exchangePushes,
  recordedEvents,
  unsettleFirstPush,
} from '../../../../test/tables/hooks.ts'
import { waitingFor } from '../../../../test/tables/instance.ts'
import { eventually } from '../../../../test/waiting.ts'
import { git, temporaryFolder, test, unique, type World } from '../../../../test/world.ts'
import { expandEvents } from './expand.ts'
import { hookTimes, maxAttempts, pauseMs, retryMs } from './schedule.ts'
import { commit, hookFor, idOf, openIssue, quick, quickWorld, titlesOf } from './testing.ts'

/** A project with a hook for pushes and two of them. `at` is the path of the hook. */
async function pushedTwice(world: World) {
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
  const project = await world.project()
  const at = await hookFor(world, project, 'https://203.0.114.9/', { push_events: true })
  for (let n = 0; n < 2; n++) await commit(world, project, 'main')
  return { project, at }
}

describe('what is delivered', () => {
  test('D2-HOOK-BRANCH-FILTER: only pushes to matching branches are sent, deletions included', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    await hookFor(world, project, receiver.url, { push_events: true, push_events_branch_filter: 'release/*' })
    await world.runJobs()
    await commit(world, project, 'main')
    for (const branch of ['release/1', 'releases', 'release/2/x', 'feature/release/1'])
      await commit(world, project, branch, { start_branch: 'main' })
    await world.root.delete(`/projects/${project.id}/repository/branches/release%2F1`)
    await eventually(() => expect(receiver.received).toHaveLength(3))
    expect(receiver.received.map(({ json }) => json.ref).sort()).toEqual([
      'refs/heads/release/1',
      'refs/heads/release/1',
      'refs/heads/release/2/x',
    ])
  })

  test('a long message and a long author of a commit are cut in payloads', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    await using folder = await temporaryFolder()
    const project = await world.project()
    await hookFor(world, project, receiver.url, { push_events: true })
    const long = 'x'.repeat(1_000_000)
    const author = 'n'.repeat(100_000)
    await git(folder.path, 'init', '-q', '-b', 'main')
    await writeFile(join(folder.path, 'message'), `Title\n\n${long}`)
    await git(folder.path, 'commit', '-q', '--allow-empty', '-F', 'message', `--author=${author} <a@example.com>`)
    await git(folder.path, 'push', '-q', world.remote(project, world.root), 'main')
    await world.runJobs()
    const { json } = await receiver.request(() => true)
    expect(json.commits).toMatchObject([{ title: 'Title' }])
    expect(json.commits[0].message).toHaveLength(100_000)
    expect(json.commits[0].author.name).toHaveLength(1000)
  })

  test('nothing is recorded of a project whose events no hook receives', async ({ world }) => {
    const project = await world.project()
    const at = await hookFor(world, project, 'https://203.0.114.9/', { issues_events: false, job_events: true })
    await openIssue(world, project, 'Unseen')
    expect(await recordedEvents(world, project.id)).toEqual([])
    await world.root.delete(at)
  })

  test('all requests of a hook have its UUID, also after a change of the hook, and those of another hook another one', async ({
    world,
  }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const [one, other] = [`${receiver.url}/one`, `${receiver.url}/other`]
    const at = await hookFor(world, project, one)
    await hookFor(world, project, other)
    await world.runJobs()
    const issue = await openIssue(world, project, 'First')
    await eventually(() => expect(receiver.received).toHaveLength(2))
    await world.root.put(at, { url: `${one}/moved` })
    await world.root.put(issue, { title: 'Second' })
    await eventually(() => expect(receiver.received).toHaveLength(4))
    const idsOf = (path: string) =>
      receiver.received
        .filter(({ path: at }) => at.includes(path))
        .map(({ headers }) => [headers['x-gitlab-webhook-uuid'], headers['x-service-webhook-uuid']])
    const [first, second] = [idsOf('/one'), idsOf('/other')]
    for (const ids of [first, second]) expect(new Set(ids.flat())).toEqual(new Set([ids[0]![0]]))
    expect(first[0]![0]).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(first[0]).not.toEqual(second[0])
  })

  test('push_event_hooks_limit: a push of more branches sends no hook for pushes', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true, push_event_hooks_limit: 0 })
    const project = await world.project()
    const at = await hookFor(world, project, 'https://203.0.114.9/', { push_events: true, issues_events: true })
    await world.runJobs()
    await commit(world, project, 'main')
    await openIssue(world, project, 'After the push')
    const triggers = async () => (await world.root.get(`${at}/events`)).json.map((each: any) => each.trigger)
    await eventually(async () => expect(await triggers()).toEqual(['issues_events']))
    await world.settings({ push_event_hooks_limit: 1 })
    await commit(world, project, 'main')
    await eventually(async () => expect(await triggers()).toEqual(['push_events', 'issues_events']))
  })

  test('pushes of a branch are sent in their own order, whichever transaction ends first', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    await hookFor(world, project, receiver.url, { push_events: true })
    for (let n = 0; n < 2; n++) await commit(world, project, 'main')
    await exchangePushes(world, project.id)
    await world.runJobs()
    await eventually(() => expect(receiver.received).toHaveLength(2))
    const [first, second] = receiver.received.map(({ json }) => json)
    expect([first.before, second.before]).toEqual(['0'.repeat(40), first.after])
  })

  test('a push waits for an earlier one of the same branch that is not settled yet; other events do not', async ({
    world,
  }) => {
    const { project, at } = await pushedTwice(world)
    const unsettled = await unsettleFirstPush(world, project.id)
    await openIssue(world, project, 'Meanwhile')
    const ctx = await contextFor(world, null)
    const expandAll = async () => {
      while ((await expandEvents(ctx)) === 'more');
    }
    await expandAll()
    expect(await deliveryStates(world, idOf(at))).toEqual({ pending: 1 })
    await dropPush(world, unsettled)
    await expandAll()
    expect(await deliveryStates(world, idOf(at))).toEqual({ pending: 2 })
    await world.root.delete(at)
  })

  test('a push is sent although an earlier one of the same branch was cut off more than a minute ago', async ({
    world,
  }) => {
    const { project, at } = await pushedTwice(world)
    await agePush(world, await unsettleFirstPush(world, project.id), '61 seconds')
    const ctx = await contextFor(world, null)
    while ((await expandEvents(ctx)) === 'more');
    expect(await deliveryStates(world, idOf(at))).toEqual({ pending: 1 })
    await world.root.delete(at)
  })

  test('a hook that is deleted while its deliveries are added gets none, and does not hold up others', async ({
    world,
  }) => {
    const project = await world.project()
    const [gone, other] = [
      await hookFor(world, project, 'https://203.0.114.9/'),
      await hookFor(world, project, 'https://203.0.114.9/other'),
    ]
    await openIssue(world, project, 'For both')
    let attempts = 0
    const ctx = await contextFor(world, null)
    const transaction: typeof ctx.transaction = (work) =>
      ctx.transaction((tx) => {
        attempts++
        return work(tx)
      })
    const { expanding } = await world.db.transaction(async (tx) => {
      await deleteHook(tx, idOf(gone))
      const begun = expandEvents({ ...ctx, transaction })
      await expect.poll(() => waitingFor(world, 'lock')).toHaveLength(1)
      return { expanding: begun }
    })
    expect(await expanding).toBe('more')
    expect(attempts).toBe(1)
    expect(await deliveryStates(world, idOf(other))).toEqual({ pending: 1 })
    await world.root.delete(other)
  })

  test('moving an issue on a board sends nothing', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    await hookFor(world, project, receiver.url)
    const one = await openIssue(world, project, 'One')
    await openIssue(world, project, 'Two')
    const second = (await world.root.get(`/projects/${project.id}/issues/2`)).json.id
    expect((await world.root.put(`${one}/reorder`, { move_after_id: second })).status).toBe(200)
    await openIssue(world, project, 'Three')
    await world.runJobs()
    await receiver.request(({ json }) => json.object_attributes.title === 'Three')
    await eventually(() => expect(receiver.received.length).toBeGreaterThanOrEqual(3))
    expect(titlesOf(receiver).sort()).toEqual(['One', 'Three', 'Two'])
  })
})

describe('a receiver that fails', () => {
  test('a delivery is retried with the same ids until it is accepted, and the log shows the last response', async () => {
    await using world = await quickWorld()
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    let failures = 3
    receiver.answering = (_received, response) => {
      response
        .writeHead(failures-- > 0 ? 503 : 200, { 'x-from': 'receiver', 'set-cookie': 'a=b' })
        .end('z'.repeat(5000))
    }
    await world.runJobs()
    await openIssue(world, project, 'Retried')
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 1 }))
    const keys = receiver.received.map(({ headers }) => [headers['idempotency-key'], headers['x-gitlab-event-uuid']])
    expect(keys).toHaveLength(4)
    expect(new Set(keys.map(String)).size).toBe(1)
    const [logged] = (await world.root.get(`${at}/events`)).json
    expect(logged).toMatchObject({
      idempotency_key: keys[0]![0],
      event_uuid: keys[0]![1],
      trigger: 'issues_events',
      state: 'delivered',
      attempts: 4,
      response_status: 200,
      response_body: 'z'.repeat(1024),
      error: null,
      next_attempt_at: null,
    })
    expect(logged.response_headers).toMatchObject({ 'x-from': 'receiver' })
    expect(logged.response_headers).not.toHaveProperty('set-cookie')
  })

  test('events of one issue arrive in order although some fail, and those of others do not wait for them', async () => {
    await using world = await quickWorld({ ...quick, retry: 500, maxRetry: 500 })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    const accepted: string[] = []
    let isStuck = true
    receiver.answering = ({ json }, response) => {
      const { title } = json.object_attributes
      const fails = title.startsWith('stuck') && isStuck
      if (!fails) accepted.push(title)
      response.writeHead(fails ? 500 : 200).end()
    }
    const stuck = await openIssue(world, project, 'stuck 0')
    const free = await openIssue(world, project, 'free 0')
    for (let n = 1; n <= 5; n++) {
      await world.root.put(stuck, { title: `stuck ${n}` })
      await world.root.put(free, { title: `free ${n}` })
    }
    await world.runJobs()
    await eventually(() => expect(accepted.filter((title) => title.startsWith('free'))).toHaveLength(6))
    expect(new Set(titlesOf(receiver).filter((title) => title.startsWith('stuck')))).toEqual(new Set(['stuck 0']))
    isStuck = false
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 12 }))
    for (const word of ['stuck', 'free'])
      expect(accepted.filter((title) => title.startsWith(word))).toEqual([0, 1, 2, 3, 4, 5].map((n) => `${word} ${n}`))
  })

  test('a hook that keeps failing is paused, and catches up in order once its receiver answers', async () => {
    await using world = await quickWorld({ ...quick, pause: 300, maxPause: 300 })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    await receiver.close()
    const issue = await openIssue(world, project, 'title 0')
    for (let n = 1; n <= 3; n++) await world.root.put(issue, { title: `title ${n}` })
    await world.runJobs()
    await eventually(async () => {
      const { json } = await world.root.get(at)
      expect(json).toMatchObject({ alert_status: 'temporarily_disabled', disabled_until: expect.any(String) })
    })
    const [waiting] = (await world.root.get(`${at}/events?order=asc&state=pending&per_page=1`)).json
    expect(waiting.state).toBe('pending')
    await receiver.listen()
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 4 }))
    expect(titlesOf(receiver)).toEqual([0, 1, 2, 3].map((n) => `title ${n}`))
    expect((await world.root.get(at)).json).toMatchObject({ alert_status: 'executable', disabled_until: null })
  })

  test('a change of the hook sends at once what waits for its next attempt', async () => {
    await using world = await quickWorld({ ...quick, retry: 3_600_000, maxRetry: 3_600_000 })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, `${receiver.url}/broken`)
    receiver.answering = ({ path }, response) => void response.writeHead(path.endsWith('/broken') ? 500 : 200).end()
    await world.runJobs()
    const issue = await openIssue(world, project, 'First')
    await world.root.put(issue, { title: 'Second' })
    await eventually(async () => expect((await world.root.get(`${at}/events`)).json[1].attempts).toBe(1))
    await world.root.put(at, { url: `${receiver.url}/repaired` })
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 2 }))
    expect(titlesOf(receiver)).toEqual(['First', 'First', 'Second'])
  })

  test('a receiver that does not answer is disconnected, and holds no more than its share of the sender', async () => {
    await using world = await quickWorld({ ...quick, request: 60_000 })
    await using hanging = await HookReceiver.start()
    await using receiver = await HookReceiver.start()
    hanging.answering = () => {}
    const project = await world.project()
    await hookFor(world, project, hanging.url)
    await hookFor(world, project, receiver.url)
    for (let n = 0; n < 20; n++) await openIssue(world, project, `title ${n}`)
    await world.runJobs()
    await eventually(() => expect(receiver.received).toHaveLength(20))
    expect(hanging.received).toHaveLength(16)
  })

  test('hooks of one project that do not answer, at many hosts, leave room for hooks of other projects', async () => {
    await using world = await quickWorld({ ...quick, request: 60_000 })
    await using hanging = await HookReceiver.start('0.0.0.0')
    await using receiver = await HookReceiver.start()
    hanging.answering = () => {}
    const [project, other] = [await world.project(), await world.project()]
    const { port } = new URL(hanging.url)
    for (let n = 2; n < 10; n++) await hookFor(world, project, `http://127.0.0.${n}:${port}/receive`)
    await hookFor(world, other, receiver.url)
    for (let n = 0; n < 16; n++) await openIssue(world, project, `title ${n}`)
    await world.runJobs()
    await eventually(() => expect(hanging.received.length).toBeGreaterThanOrEqual(64))
    await openIssue(world, other, 'title')
    await eventually(() => expect(receiver.received).toHaveLength(1))
    expect(hanging.received).toHaveLength(64)
  })

  test('hooks of many projects of one user that do not answer leave room for hooks of other users', async () => {
    await using world = await quickWorld({ ...quick, request: 60_000 })
    await using hanging = await HookReceiver.start('0.0.0.0')
    await using receiver = await HookReceiver.start()
    hanging.answering = () => {}
    const eve = await world.user()
    const { port } = new URL(hanging.url)
    const flags = { push_events: false, issues_events: true }
    // Each takes at most half of the free requests: eight take all.
    for (let n = 0; n < 8; n++) {
      const at = `/projects/${(await eve.post('/projects', { name: unique('hanging') })).json.id}`
      for (let host = 0; host < 4; host++)
        await eve.post(`${at}/hooks`, { url: `http://127.0.${n + 1}.${host + 1}:${port}/receive`, ...flags })
      for (let issue = 0; issue < Math.max(16 >> n, 1); issue++) await eve.post(`${at}/issues`, { title: 'x' })
    }
    const other = await world.project()
    await hookFor(world, other, receiver.url)
    await world.runJobs()
    await eventually(() => expect(hanging.received.length).toBeGreaterThanOrEqual(96))
    await openIssue(world, other, 'title')
    await eventually(() => expect(receiver.received).toHaveLength(1))
    expect(hanging.received).toHaveLength(96)
  })

  test('a request that is not answered delays no others of its hook, also after another has failed', async () => {
    await using world = await quickWorld({ ...quick, request: 60_000, retry: 60_000, maxRetry: 60_000 })
    await using receiver = await HookReceiver.start()
    receiver.answering = ({ json }, response) => {
      const { title } = json.object_attributes
      if (title !== 'hangs') response.writeHead(title === 'fails' ? 500 : 200).end()
    }
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    await world.runJobs()
    await openIssue(world, project, 'fails')
    await eventually(async () => expect((await world.root.get(`${at}/events`)).json[0].attempts).toBe(1))
    await openIssue(world, project, 'hangs')
    await receiver.request(({ json }) => json.object_attributes.title === 'hangs')
    for (let n = 0; n < 5; n++) await openIssue(world, project, `title ${n}`)
    await eventually(async () => expect(await deliveryStates(world, idOf(at))).toEqual({ delivered: 5, pending: 2 }))
  })

  test('a delivery that only one event prevents is given up after a day of attempts, and the next one follows', () => {
    let total = 0
    for (let attempts = 1; attempts < maxAttempts; attempts++) total += retryMs(hookTimes, attempts)
    expect(total).toBeGreaterThan(24 * 3_600_000)
    expect(total).toBeLessThan(30 * 3_600_000)
    expect([9, 10, 11, 100].map((failures) => pauseMs(hookTimes, failures))).toEqual([0, 10_000, 20_000, 3_600_000])
  })

  test('a delivery whose attempts all fail ends as failed while others are accepted', async () => {
    await using world = await quickWorld({ ...quick, retry: 1, maxRetry: 2 })
    await using receiver = await HookReceiver.start()
    receiver.answering = ({ json }, response) =>
      void response.writeHead(json.object_attributes.title === 'bad' ? 500 : 200).end()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    await world.runJobs()
    const bad = await openIssue(world, project, 'bad')
    for (let n = 0; (await deliveryStates(world, idOf(at)))['failed'] !== 1; n++)
      await openIssue(world, project, `${n}`)
    await world.root.put(bad, { title: 'good' })
    await receiver.request(({ json }) => json.object_attributes.title === 'good')
    const [failed] = (await world.root.get(`${at}/events?state=failed`)).json
    expect(failed).toMatchObject({
      attempts: maxAttempts,
      error: 'The receiver answered with 500',
      response_status: 500,
    })
  })
})
