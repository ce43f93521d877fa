import { describe, expect } from 'vitest'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import { deliveryStates } from '../../../../test/tables/hooks.ts'
import { eventually } from '../../../../test/waiting.ts'
import { test, unique, World } from '../../../../test/world.ts'
import { hookTimes } from '../deliveries/schedule.ts'

const chats = ['slack', 'mattermost', 'discord', 'microsoft-teams'] as const
type Chat = (typeof chats)[number]

const everything = {
  push_events: true,
  issues_events: true,
  confidential_issues_events: true,
  merge_requests_events: true,
  note_events: true,
  confidential_note_events: true,
  tag_push_events: true,
  pipeline_events: true,
  wiki_page_events: true,
}
const nothing = Object.fromEntries(Object.keys(everything).map((flag) => [flag, false]))

/** The texts of a message, without the escapes of the format. */
function textOf(chat: Chat, json: any): string {
  const text = {
    slack: () => [json.text, json.attachments?.[0].text],
    mattermost: () => [json.text, json.attachments?.[0].text],
    discord: () => [json.embeds[0].description],
    'microsoft-teams': () => [json.sections[0].activityText, json.sections[0].text],
  }[chat]()
  return text
    .join('\n')
    .replaceAll('\\', '')
    .replaceAll(/&#(\d+);/g, (_all, code) => String.fromCharCode(code))
}

async function chatIn(world: World, slug: Chat, more: object = everything) {
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
  const receiver = await HookReceiver.start()
  const project = await world.project()
  const at = `/projects/${project.id}`
  const made = await world.root.put(`${at}/integrations/${slug}`, { webhook: receiver.url, ...more })
  expect(made.status, made.text).toBe(200)
  const texts = () => receiver.received.map(({ json }) => textOf(slug, json))
  return {
    receiver,
    project,
    at,
    id: made.json.id as number,
    texts,
    settled: (counts: object) =>
      eventually(async () => expect(await deliveryStates(world, made.json.id)).toEqual(counts)),
    [Symbol.asyncDispose]: () => receiver[Symbol.asyncDispose](),
  }
}

const commit = async (world: World, at: string, branch: string, more = {}) => {
  const made = await world.root.post(`${at}/repository/commits`, {
    branch,
    commit_message: 'Add a file',
    actions: [{ action: 'create', file_path: unique('file'), content: 'x' }],
    ...more,
  })
  expect(made.status, made.text).toBe(201)
  return made.json.id as string
}

/** One event of each flag, and what a chat shows of it. */
async function oneOfEach(world: World, at: string): Promise<readonly (readonly string[])[]> {
  const { post } = world.root
  const send = async (path: string, json: object) => {
    const answer = await post.call(world.root, `${at}${path}`, json)
    expect(answer.status, answer.text).toBe(201)
    return answer.json
  }
  const sha = await commit(world, at, 'main')
  await send('/repository/tags', { tag_name: 'v1', ref: 'main' })
  await send('/repository/branches', { branch: 'topic', ref: 'main' })
  await commit(world, at, 'topic')
  const open = await send('/issues', { title: 'Open issue', description: 'What is wrong' })
  const hidden = await send('/issues', { title: 'Hidden issue', confidential: true })
  const mr = await send('/merge_requests', { source_branch: 'topic', target_branch: 'main', title: 'Merge me' })
  await send(`/issues/${open.iid}/notes`, { body: 'On the issue' })
  await send(`/issues/${hidden.iid}/notes`, { body: 'Hidden note' })
  await send(`/merge_requests/${mr.iid}/notes`, { body: 'On the request' })
  await send(`/repository/commits/${sha}/comments`, { note: 'On the commit' })
  await send(`/statuses/${sha}`, { state: 'failed', name: 'build', ref: 'main' })
  await send('/wikis', { title: 'Home page', content: 'Text' })
  await world.root.put(`${at}/issues/${open.iid}`, { state_event: 'close' })
  return [
    ['pushed new branch', 'main', sha.slice(0, 8), 'Add a file'],
    ['pushed tag', 'v1'],
    ['opened issue', '#1 Open issue', 'What is wrong'],
    ['closed issue', '#1 Open issue'],
    ['opened confidential issue', '#2 Hidden issue'],
    ['opened merge request', '!1 Merge me'],
    ['on issue #1: Open issue', 'On the issue'],
    ['on confidential issue #2: Hidden issue', 'Hidden note'],
    ['on merge request !1: Merge me', 'On the request'],
    [`on commit ${sha.slice(0, 8)}: Add a file`, 'On the commit'],
    ['Pipeline', 'of branch main', 'failed'],
    ['created', 'Home page', 'wiki'],
  ]
}

describe.for(chats)('messages to %s', (chat) => {
  test('a message is sent for each kind of event whose flag is set, with links to this service', async ({ world }) => {
    await using made = await chatIn(world, chat)
    const expected = await oneOfEach(world, made.at)
    await world.runJobs()
    await eventually(() => {
      for (const words of expected)
        expect(
          made.texts().some((text) => words.every((word) => text.includes(word))),
          words.join(', '),
        ).toBe(true)
    })
    // Branches other than the default one are left out.
    expect(made.receiver.received).toHaveLength(expected.length)
    for (const { headers, text } of made.receiver.received) {
      expect(headers).toMatchObject({ 'content-type': 'application/json', 'idempotency-key': expect.any(String) })
      expect(headers).not.toHaveProperty('x-gitlab-event')
      expect(text).toContain(`${world.origin}/${made.project.full_path}`)
    }
  })

  test('nothing is sent for events whose flag is not set', async ({ world }) => {
    await using made = await chatIn(world, chat, { ...nothing, wiki_page_events: true })
    await oneOfEach(world, made.at)
    await world.runJobs()
    await made.settled({ delivered: 1 })
    expect(made.texts()).toEqual([expect.stringContaining('Home page')])
  })

  test('a message is sent again until the receiver accepts it, and the log shows the failures', async () => {
    const times = { ...hookTimes, retry: 20, maxRetry: 100 }
    await using world = await World.start({}, { hookTimes: times })
    await using made = await chatIn(world, chat)
    let failures = 2
    made.receiver.answering = (_received, response) => void response.writeHead(failures-- > 0 ? 503 : 204).end()
    await world.runJobs()
    await world.root.post(`${made.at}/issues`, { title: 'Retried' })
    await made.settled({ delivered: 1 })
    expect(new Set(made.receiver.received.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    const log = `${made.at}/integrations/${chat}/events`
    const [delivery] = (await world.root.get(log)).json
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 3, response_status: 204, trigger: 'issues_events' })
    expect(delivery.url).toBe(new URL(made.receiver.url).origin)
    expect((await world.root.post(`${log}/${delivery.id}/resend`)).status).toBe(201)
    await made.settled({ delivered: 2 })
  })
})

describe('options of chats', () => {
  test('a message goes to the channel of its event, else to the usual one, under the given name', async ({ world }) => {
    const channels = { channel: 'general', issue_channel: '#bugs', username: 'Stithy' }
    for (const chat of ['slack', 'mattermost'] as const) {
      await using made = await chatIn(world, chat, { ...everything, ...channels })
      await world.root.post(`${made.at}/issues`, { title: 'Bug' })
      await world.root.post(`${made.at}/issues/1/notes`, { body: 'A note' })
      if (chat === 'slack') await world.runJobs()
      await eventually(() => expect(made.receiver.received).toHaveLength(2))
      const places = made.receiver.received.map(({ json }) => [json.channel, json.username])
      expect(places.sort()).toEqual([
        ['#bugs', 'Stithy'],
        ['general', 'Stithy'],
      ])
    }
  })

  test('each kind of event has a channel of its own, so that what is confidential is not in the channel of the rest', async ({
    world,
  }) => {
    const kinds = ['push', 'tag_push', 'issue', 'confidential_issue', 'merge_request', 'note', 'confidential_note']
    const named = [...kinds, 'pipeline', 'wiki_page'].map((kind) => [`${kind}_channel`, kind])
    await using made = await chatIn(world, 'slack', { ...everything, ...Object.fromEntries(named) })
    await oneOfEach(world, made.at)
    await world.runJobs()
    await eventually(() => expect(made.receiver.received).toHaveLength(12))
    const [channels, texts] = [made.receiver.received.map(({ json }) => json.channel), made.texts()]
    const channelWith = (words: string) => channels[texts.findIndex((text) => text.includes(words))]
    expect(channels.toSorted()).toEqual([...named.map(([, kind]) => kind), 'issue', 'note', 'note'].toSorted())
    expect(channelWith('pushed tag')).toBe('tag_push')
    expect(channelWith('opened issue')).toBe('issue')
    expect(channelWith('opened confidential issue')).toBe('confidential_issue')
    expect(channelWith('Hidden note')).toBe('confidential_note')
    expect(channelWith('opened merge request')).toBe('merge_request')
    expect(channelWith('failed')).toBe('pipeline')
    expect(channelWith('Home page')).toBe('wiki_page')
  })

  test('branches_to_be_notified: pushes of the default branch, of protected ones, of both, or of all', async ({
    world,
  }) => {
    const branches = { all: 4, default: 1, protected: 2, default_and_protected: 3 }
    await world.runJobs()
    for (const [set, count] of Object.entries(branches)) {
      await using made = await chatIn(world, 'slack', { ...nothing, branches_to_be_notified: set })
      await commit(world, made.at, 'main')
      await world.root.delete(`${made.at}/protected_branches/main`)
      await world.root.post(`${made.at}/protected_branches`, { name: 'release/*' })
      await world.root.put(`${made.at}/integrations/slack`, { push_events: true, issues_events: true })
      await commit(world, made.at, 'main')
      for (const branch of ['release/1', 'release/2', 'topic'])
        await commit(world, made.at, branch, { start_branch: 'main' })
      await world.root.post(`${made.at}/issues`, { title: 'Last' })
      await made.settled({ delivered: count + 1 })
    }
  })

  test('notify_only_broken_pipelines: pipelines that passed are sent only without it, others that end never', async ({
    world,
  }) => {
    await world.runJobs()
    for (const [broken, expected] of [
      [true, ['failed']],
      [false, ['failed', 'passed']],
    ] as const) {
      await using made = await chatIn(world, 'discord', {
        ...nothing,
        pipeline_events: true,
        notify_only_broken_pipelines: broken,
      })
      for (const state of ['canceled', 'success', 'failed']) {
        const sha = await commit(world, made.at, 'main')
        await world.root.post(`${made.at}/statuses/${sha}`, { state, name: 'build', ref: 'main' })
      }
      await made.settled({ delivered: expected.length })
      expect(made.texts().map((text) => /passed|failed|canceled/.exec(text)?.[0])).toEqual(
        expect.arrayContaining([...expected]),
      )
    }
  })

  test('edits of issues and merge requests are not shown; closing and merging are', async ({ world }) => {
    await using made = await chatIn(world, 'slack')
    const issue = `${made.at}/issues/${(await world.root.post(`${made.at}/issues`, { title: 'One' })).json.iid}`
    await world.root.put(issue, { title: 'Edited', labels: 'bug' })
    await world.root.put(issue, { state_event: 'close' })
    await world.root.put(issue, { state_event: 'reopen' })
    await world.runJobs()
    await made.settled({ delivered: 3 })
    expect(made.texts().map((text) => / (opened|closed|reopened) /.exec(text)?.[1])).toEqual([
      'opened',
      'closed',
      'reopened',
    ])
  })

  test('an issue that became confidential before it was sent is not sent without that flag', async ({ world }) => {
    await using made = await chatIn(world, 'mattermost', { ...nothing, issues_events: true })
    const { iid } = (await world.root.post(`${made.at}/issues`, { title: 'Secret plan' })).json
    await world.root.put(`${made.at}/issues/${iid}`, { confidential: true })
    await world.root.post(`${made.at}/issues`, { title: 'Open' })
    await world.runJobs()
    await eventually(() => expect(made.receiver.received).toHaveLength(1))
    expect(made.texts().join()).not.toContain('Secret plan')
  })

  test('what waits is not sent after the integration was disabled, and the project may enable it again', async () => {
    await using world = await World.start({}, { hookTimes: { ...hookTimes, retry: 50, maxRetry: 50 } })
    await using made = await chatIn(world, 'slack')
    made.receiver.answering = (_received, response) => void response.writeHead(500).end()
    await world.runJobs()
    await world.root.post(`${made.at}/issues`, { title: 'Waiting' })
    await eventually(() => expect(made.receiver.received.length).toBeGreaterThan(0))
    expect((await world.root.delete(`${made.at}/integrations/slack`)).status).toBe(204)
    made.receiver.answering = (_received, response) => void response.writeHead(200).end()
    expect((await world.root.put(`${made.at}/integrations/slack`, { webhook: made.receiver.url })).status).toBe(200)
    await world.root.post(`${made.at}/issues`, { title: 'Afterwards' })
    await eventually(() => expect(made.texts().at(-1)).toContain('Afterwards'))
    expect(await deliveryStates(world, made.id)).toEqual({})
  })
})
