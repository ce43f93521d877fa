import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import {
  ageEvents,
  deliveryStates,
  dropPush,
  exchangePushes,
  recordedEvents,
  tablesWithText,
  unsettleFirstPush,
} from '../../../../test/tables/hooks.ts'
import { eventually } from '../../../../test/waiting.ts'
import { type TestProject, test, unique, World } from '../../../../test/world.ts'
import { expandEvents } from './expand.ts'
import { endOldHookEvents } from './jobs.ts'
import { hookTimes, maxAttempts, pauseMs, retryMs } from './schedule.ts'

/** So that a test sees many retries and pauses. */
const quick = { ...hookTimes, retry: 20, maxRetry: 200, pause: 50, maxPause: 200, request: 2_000 }

const quickWorld = async (hookTimes = quick): Promise<World> => {
  const world = await World.start({}, { hookTimes })
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
  return world
}

async function hookFor(world: World, project: { id: number }, url: string, more: object = {}): Promise<string> {
  const flags = { push_events: false, issues_events: true, ...more }
  const made = await world.root.post(`/projects/${project.id}/hooks`, { url, ...flags })
  expect(made.status).toBe(201)
  return `/projects/${project.id}/hooks/${made.json.id}`
}

const openIssue = async (world: World, { id }: { id: number }, title: string): Promise<string> =>
  `/projects/${id}/issues/${(await world.root.post(`/projects/${id}/issues`, { title })).json.iid}`

const idOf = (at: string) => Number(at.split('/').at(-1))

const titlesOf = (receiver: HookReceiver) => receiver.received.map(({ json }) => json.object_attributes.title)

const commit = (world: World, { id }: TestProject, branch: string, more = {}) =>
  world.root.post(`/projects/${id}/repository/commits`, {
    branch,
    commit_message: 'x',
    actions: [{ action: 'create', file_path: unique('file'), content: 'x' }],
    ...more,
  })

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

  test('nothing is recorded of a project whose events no hook receives', async ({ world }) => {
    const project = await world.project()
    const at = await hookFor(world, project, 'https://203.0.114.9/', { issues_events: false, job_events: true })
    await openIssue(world, project, 'Unseen')
    expect(await recordedEvents(world, project.id)).toEqual([])
    await world.root.delete(at)
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
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    const project = await world.project()
    const at = await hookFor(world, project, 'https://203.0.114.9/', { push_events: true })
    for (let n = 0; n < 2; n++) await commit(world, project, 'main')
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
      const tests = kind === 'system' ? [at, `${at}/test/push_events`] : [`${at}/test`, `${at}/test/push_events`]
      for (const path of tests) expect((await world.root.post(path)).status).toBe(201)
      await commit(world, project, 'main')
      await world.runJobs()
      const isPush = ({ json }: { json: any }) => json.ref === 'refs/heads/main' && json.before !== '0'.repeat(40)
      await receiver.request(isPush)
      await eventually(async () => expect(await deliveryStates(world, made.json.id)).not.toHaveProperty('pending'))
      const logged = (await world.root.get(`${at}/events`)).json
      expect(logged.length).toBeGreaterThanOrEqual(3)
      expect(logged[0]).toMatchObject({ state: 'delivered', response_status: 200, response_body: 'ok' })
      const again = await world.root.post(`${at}/events/${logged[0].id}/resend`)
      expect(again.json).toMatchObject({ idempotency_key: logged[0].idempotency_key, state: 'pending' })
      const since = new Date(Date.now() - 3_600_000).toISOString()
      const replayed = await world.root.post(`${at}/replay`, { since })
      expect(replayed.json.queued).toBeGreaterThanOrEqual(kind === 'system' ? 1 : 0)
      await eventually(async () => expect(await deliveryStates(world, made.json.id)).not.toHaveProperty('pending'))
      await world.root.delete(at)
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
    await using world = await quickWorld()
    await using receiver = await HookReceiver.start()
    const [group, other] = [await world.group(), await world.group()]
    const project = await world.project({ group })
    const hook = { url: receiver.url, push_events: false, issues_events: true }
    const { id } = (await world.root.post(`/groups/${group.id}/hooks`, hook)).json
    let isDown = true
    receiver.answering = (_received, response) => void response.writeHead(isDown ? 500 : 200).end()
    await world.runJobs()
    await openIssue(world, project, 'Before')
    await eventually(() => expect(receiver.received.length).toBeGreaterThan(0))
    expect((await world.root.put(`/projects/${project.id}/transfer`, { namespace: other.id })).status).toBe(200)
    isDown = false
    await eventually(async () => expect(await deliveryStates(world, id)).toEqual({ dropped: 1 }))
  })

  test('the deliveries of a deleted hook end, and those of a deleted record are dropped', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const [gone, stays] = [await hookFor(world, project, receiver.url), await hookFor(world, project, receiver.url)]
    const issue = await openIssue(world, project, 'Deleted')
    await world.root.delete(issue)
    await openIssue(world, project, 'Stays')
    await world.root.delete(gone)
    await world.runJobs()
    await eventually(async () => expect(await deliveryStates(world, idOf(stays))).toEqual({ dropped: 1, delivered: 1 }))
    expect(titlesOf(receiver)).toEqual(['Stays'])
    const [dropped] = (await world.root.get(`${stays}/events?state=dropped`)).json
    expect(dropped).toMatchObject({ attempts: 0, error: 'What the event is about was deleted' })
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

/** Spellings of addresses that requests must not reach. */
const localUrls: readonly string[] = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0177.0.0.1', '127.0.0.2'],
  ...['127.255.255.254', '0', '0.0.0.0', '0x0', '00000', '[::1]', '[::]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]'],
  ...['[::ffff:7f00:1]', '[::127.0.0.1]', '[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[::ffff:0:127.0.0.1]', 'localhost'],
  ...[
    'LOCALHOST',
    'localhost.',
    '１２７.０.０.１',
    '127。0。0。1',
    '①②⑦.⓪.⓪.①',
    '10.0.0.1',
    '10.255.255.255',
    '0xa000001',
  ],
  ...['167772161', '012.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.0.1', '192.168.1.254', '3232235521'],
  ...['0xc0a80001', '[fc00::1]', '[fd00:ec2::254]', '[fec0::1]', '[::ffff:10.0.0.1]', '[::ffff:192.168.0.1]'],
  ...[
    '[64:ff9b::10.0.0.1]',
    '[64:ff9b:1::1]',
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '[::ffff:169.254.169.254]',
  ],
  ...['[fe80::1]', '169.254.170.2', '100.64.0.1', '100.100.100.200', '224.0.0.1', '239.255.255.250', '255.255.255.255'],
  ...['[ff02::1]', '198.18.0.1', '192.0.0.192', '192.0.2.1', '203.0.113.1', '240.0.0.1'],
]
  .map((host) => `http://${host}/`)
  .concat([
    'https://127.0.0.1:8443/x',
    'http://ann:sesame@127.0.0.1/',
    'http://203.0.114.1@127.0.0.1/',
    'http://127.0.0.1#@203.0.114.1/',
    'http://127.0.0.1?@203.0.114.1/',
    'http://127.0.0.1\\@203.0.114.1/',
    'http://a.example/\r\nHost: 127.0.0.1',
    'http://a%0d%0ab@203.0.114.1/',
    'gopher://127.0.0.1:6379/_x',
    'file:///etc/passwd',
    'ftp://203.0.114.1/',
    'dict://127.0.0.1:11211/',
    'ldap://127.0.0.1/',
    'unix:///var/run/docker.sock',
    'jar:http://127.0.0.1/',
    '//127.0.0.1/',
    'http:///127.0.0.1/',
    'http://[::1',
  ])

describe('addresses of the local network', () => {
  test(`D2-SETTINGS-LOCAL-REQUESTS: ${localUrls.length} URLs are refused as hooks when local requests are off`, async ({
    world,
  }) => {
    await world.settings({ allow_local_requests_from_system_hooks: false })
    const project = await world.project()
    const accepted: string[] = []
    for (const url of localUrls)
      for (const hooks of [`/projects/${project.id}/hooks`, '/hooks']) {
        const { status, json } = await world.root.post(hooks, { url })
        if (status !== 422 || json.error !== 'Invalid url given') accepted.push(`${hooks} ${url}`)
      }
    expect(accepted).toEqual([])
  })

  test('a hook of the local network receives nothing once the setting forbids it, and catches up when it allows it', async () => {
    await using world = await quickWorld()
    await using receiver = await HookReceiver.start()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    await world.settings({ allow_local_requests_from_web_hooks_and_services: false })
    await world.runJobs()
    await openIssue(world, project, 'Blocked')
    await eventually(async () => {
      const [waiting] = (await world.root.get(`${at}/events`)).json
      expect(waiting.error).toMatch(/^The address is blocked: /)
    })
    expect(receiver.received).toEqual([])
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await receiver.request(({ json }) => json.object_attributes.title === 'Blocked')
  })

  test('a redirect to the local network is not followed', async () => {
    await using world = await quickWorld()
    await using receiver = await HookReceiver.start()
    await world.settings({
      allow_local_requests_from_web_hooks_and_services: false,
      outbound_local_requests_whitelist: ['127.0.0.1'],
    })
    const target = receiver.url.replace('127.0.0.1', '127.0.0.2')
    receiver.answering = (_received, response) => void response.writeHead(307, { location: target }).end()
    const project = await world.project()
    const at = await hookFor(world, project, receiver.url)
    await world.runJobs()
    await openIssue(world, project, 'Redirected')
    await eventually(async () => {
      const [waiting] = (await world.root.get(`${at}/events`)).json
      expect(waiting.error).toBe('The address is blocked: Requests to loopback addresses are not allowed')
    })
  })
})

test('secrets of a hook are in no table, log or response after requests that failed', async () => {
  await using world = await quickWorld()
  await using receiver = await HookReceiver.start()
  const [secret, token] = [unique('hidden'), unique('token')]
  const project = await world.project()
  const at = await hookFor(world, project, receiver.url.replace('http://', `http://ann:${secret}@`), { token })
  receiver.answering = (_received, response) => void response.writeHead(500).end('no')
  await world.runJobs()
  await openIssue(world, project, 'Failing')
  const { headers } = await receiver.request(() => true)
  expect(headers).toMatchObject({ 'x-gitlab-token': token, authorization: expect.stringMatching(/^Basic /) })
  await eventually(async () => expect((await world.root.get(`${at}/events`)).json[0].attempts).toBeGreaterThan(0))
  const log = await world.root.get(`${at}/events`)
  for (const word of [secret, token]) {
    expect(log.text).not.toContain(word)
    expect(await tablesWithText(world, word)).toEqual([])
  }
})
