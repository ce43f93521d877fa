import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { mailRows } from '../../../../test/tables/instance.ts'
import { countHits } from '../../../../test/tables/users.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { openEpic } from '../../planning/epics/testing.ts'
import { openIssue } from '../../planning/issues/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'
import { afterPush, pushed } from '../../review/merging/testing.ts'
import { mailNamedUsersJob } from '../subscriptions/jobs.ts'
import { mailHappeningJob } from './jobs.ts'

const people = (world: World, count: number) => Promise.all(Array.from({ length: count }, () => world.user()))

/** Runs the queued jobs that mail events and named users. */
async function mailAll(world: World): Promise<void> {
  const ctx = await world.app.open(null)
  for (const { payload } of await world.takeJobs('mail_happening:%')) await mailHappeningJob.run(payload, ctx)
  for (const { payload } of await world.takeJobs('mail_named_users:%')) await mailNamedUsersJob.run(payload, ctx)
}

/** What happened according to the mails to a user: their first paragraphs after the greeting. */
async function said(world: World, who: Client): Promise<string[]> {
  await mailAll(world)
  const mails = await mailsTo(world, `${who.username}@example.com`)
  return mails.map(({ body }) => body.split('\n\n')[1]!).filter((sentence) => !sentence.startsWith('You were added'))
}

/** Sets the level `custom` with these events for a project. */
const selects = async (who: Client, projectId: number, events: object) => {
  const set = await who.put(`/projects/${projectId}/notification_settings`, { level: 'custom', ...events })
  expect(set.status).toBe(200)
}

const level = (who: Client, projectId: number, name: string) =>
  who.put(`/projects/${projectId}/notification_settings`, { level: name })

describe('mails about what happens to issues', () => {
  test('closing and reopening an issue is mailed to participants, subscribers, watchers and users who selected the event', async ({
    world,
  }) => {
    const [author, asked, watcher, closing, reopening, named, stranger, actor] = await people(world, 8)
    const { at, project, record } = await openIssue(world, {
      author: author!,
      members: [[actor!, 'developer']],
      title: 'Paint it',
      description: `@${named!.username}`,
    })
    await mailAll(world)
    await asked!.post(`${at}/subscribe`)
    await level(watcher!, project.id, 'watch')
    await level(named!, project.id, 'mention')
    await selects(closing!, project.id, { close_issue: true })
    await selects(reopening!, project.id, { reopen_issue: true })
    await actor!.put(at, { state_event: 'close' })
    const [closed, reopened] = ['An issue was closed:', 'An issue was reopened:']
    const mention = 'You were mentioned in an issue:'
    expect(await said(world, author!)).toEqual([closed])
    const [mail] = await mailRows(world, `${author!.username}@example.com`, 'sender', 'subject', 'body')
    expect(mail).toMatchObject({
      sender: { name: `Name of ${actor!.username} (@${actor!.username})` },
      subject: expect.stringContaining(`Paint it, ${project.full_path}#1`),
      body: expect.stringContaining(`\n\nPaint it\n${record.web_url}\n`),
    })
    await actor!.put(at, { state_event: 'reopen' })
    for (const [who, sentences] of [
      [author, [closed, reopened]],
      [asked, [closed, reopened]],
      [watcher, [closed, reopened]],
      [closing, [closed]],
      [reopening, [reopened]],
      [named, [mention]],
      [stranger, []],
      [actor, []],
    ] as const)
      expect(await said(world, who!), who!.username).toEqual(sentences)
  })

  test('a move is mailed as a move, not as a closure, and its assignees have a todo for the issue that continues it', async ({
    world,
  }) => {
    const [author, assignee, closing] = await people(world, 3)
    const { at, project } = await openIssue(world, { author: author!, members: [[assignee!, 'developer']] })
    const target = await world.project({ members: [[assignee!, 'developer']] })
    await selects(closing!, project.id, { close_issue: true })
    await world.root.put(at, { assignee_ids: [assignee!.id] })
    await assignee!.post('/todos/mark_as_done')
    await said(world, author!)
    await said(world, assignee!)
    const moved = (await world.root.post(`${at}/move`, { to_project_id: target.id })).json
    const sentence = 'An issue was moved to another project:'
    expect((await said(world, author!)).at(-1)).toBe(sentence)
    expect(await said(world, closing!)).toEqual([sentence])
    expect(await said(world, assignee!)).toContain('An issue was assigned to you:')
    expect(await said(world, author!)).not.toContain('An issue was closed:')
    expect((await assignee!.get('/todos')).json).toMatchObject([{ action_name: 'assigned', target: { id: moved.id } }])

    // A closed one that moves again.
    const again = await world.project()
    await world.root.put(`/projects/${target.id}/issues/${moved.iid}`, { state_event: 'close' })
    await world.root.post(`/projects/${target.id}/issues/${moved.iid}/move`, { to_project_id: again.id })
    expect((await said(world, assignee!)).slice(-2)).toEqual(['An issue was closed:', sentence])
  })

  test('new assignees are mailed their assignment, and former ones and others the change, with names', async ({
    world,
  }) => {
    const [author, before, now, selecting] = await people(world, 4)
    const { at, project } = await openIssue(world, {
      author: author!,
      members: [
        [author!, 'reporter'],
        [before!, 'developer'],
        [now!, 'developer'],
      ],
      assignee_ids: [before!.id],
    })
    await mailAll(world)
    await selects(selecting!, project.id, { reassign_issue: true })
    await world.root.put(at, { assignee_ids: [now!.id] })
    const changed = 'The assignees of an issue changed:'
    expect(await said(world, author!)).toEqual([changed])
    expect(await said(world, selecting!)).toEqual([changed])
    expect(await said(world, before!)).toEqual(['An issue was assigned to you:', changed])
    expect(await said(world, now!)).toEqual(['An issue was assigned to you:'])
    const { body } = (await mailsTo(world, `${author!.username}@example.com`)).at(-1)!
    const name = (who: Client) => `Name of ${who.username} (@${who.username})`
    expect(body).toContain(`\n\nAdded: ${name(now!)}\nRemoved: ${name(before!)}\n\n`)
  })

  test('a former assignee who can no longer read a confidential issue is not mailed', async ({ world }) => {
    const [assignee] = await people(world, 1)
    const { at } = await openIssue(world, { assignee_ids: [assignee!.id] })
    await mailAll(world)
    await world.root.put(at, { confidential: true, assignee_ids: [] })
    expect(await said(world, assignee!)).toEqual(['An issue was assigned to you:'])
  })

  test('a label that is added is mailed to its subscribers', async ({ world }) => {
    const [subscriber, author] = await people(world, 2)
    const { at, project } = await openIssue(world, { author: author! })
    for (const name of ['bug', 'other'])
      await world.root.post(`/projects/${project.id}/labels`, { name, color: '#f00' })
    await subscriber!.post(`/projects/${project.id}/labels/bug/subscribe`)
    await world.root.put(at, { labels: 'other' })
    expect(await said(world, subscriber!)).toEqual([])
    await world.root.put(at, { labels: 'other,bug' })
    await world.root.put(at, { labels: 'bug' })
    expect(await said(world, subscriber!)).toEqual(['An issue has a label to which you are subscribed:'])
    expect(await said(world, author!)).toEqual([])
  })

  test('a user whose todo for the issue is pending is mailed each assignment, once', async ({ world }) => {
    const [assignee] = await people(world, 1)
    const { at } = await openIssue(world, {
      members: [[assignee!, 'developer']],
      description: `@${assignee!.username}`,
    })
    const [mention, assignment] = ['You were mentioned in an issue:', 'An issue was assigned to you:']
    expect(await said(world, assignee!)).toEqual([mention])
    await world.root.put(at, { assignee_ids: [assignee!.id] })
    expect(await said(world, assignee!)).toEqual([mention, assignment])
    await world.root.put(at, { assignee_ids: [], description: 'Nothing' })
    await world.root.put(at, { assignee_ids: [assignee!.id], description: `Again, @${assignee!.username}` })
    expect(await said(world, assignee!)).toEqual([
      mention,
      assignment,
      'The assignees of an issue changed:',
      assignment,
    ])
    expect((await assignee!.get('/todos')).json).toMatchObject([{ action_name: 'directly_addressed' }])
  })

  test('closing and reopening an epic is mailed to its participants', async ({ world }) => {
    const [author, stranger] = await people(world, 2)
    const { at } = await openEpic(world, { author: author!, members: [[author!, 'reporter']] })
    await world.root.put(at, { state_event: 'close' })
    await world.root.put(at, { state_event: 'reopen' })
    expect(await said(world, author!)).toEqual(['An epic was closed:', 'An epic was reopened:'])
    expect(await said(world, stranger!)).toEqual([])
  })
})

describe('mails about what happens to merge requests', () => {
  test.for([
    ['close_merge_request', 'A merge request was closed:'],
    ['reopen_merge_request', 'A merge request was reopened:'],
    ['merge_merge_request', 'A merge request was merged:'],
    ['reassign_merge_request', 'The assignees of a merge request changed:'],
    ['change_reviewer_merge_request', 'The reviewers of a merge request changed:'],
    ['push_to_merge_request', 'A merge request has new commits:'],
    ['merge_when_pipeline_succeeds', 'A merge request will be merged when its pipeline succeeds:'],
  ] as const)('%s is mailed to participants and to users who selected it', async ([event, sentence], { world }) => {
    const [author, selecting, watcher, other, reviewer] = await people(world, 5)
    const { at, project, head, branch } = await openMergeRequest(world, {
      author: author!,
      members: [author!, reviewer!].map((who): [Client, 'developer'] => [who, 'developer']),
    })
    await selects(selecting!, project.id, { [event]: true })
    await level(watcher!, project.id, 'watch')
    await selects(other!, project.id, { new_issue: true })
    await world.root.put(at, { state_event: 'close' })
    await world.root.put(at, { state_event: 'reopen' })
    await world.root.put(at, { assignee_ids: [world.root.id] })
    await world.root.put(at, { reviewer_ids: [reviewer!.id] })
    const pushedHead = project.repository.commit({ c: 'c\n' }, { branch: 'other', parents: [head] })
    await pushed(await contextFor(world, world.root), project, branch, head, pushedHead)
    await afterPush(world, project)
    await world.root.post(`/projects/${project.id}/statuses/${pushedHead}`, { state: 'running', ref: branch })
    expect((await world.root.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
    await world.root.post(`${at}/cancel_merge_when_pipeline_succeeds`)
    expect((await world.root.put(`${at}/merge`)).json.state).toBe('merged')
    const frequent = event === 'push_to_merge_request'
    expect(await said(world, selecting!)).toEqual([sentence])
    expect(await said(world, author!)).toContain(sentence)
    expect(await said(world, other!)).toEqual([])
    const watched = await said(world, watcher!)
    expect(watched.filter((each) => each === sentence)).toHaveLength(frequent ? 0 : 1)
  })
})

test('a user causes at most a hundred mailed events an hour, and as many mails to users they name', async ({
  world,
}) => {
  const [author, actor] = await people(world, 2)
  const { at } = await openIssue(world, { author: author!, members: [[actor!, 'developer']] })
  await countHits(world, `happenings:${actor!.id}`, 99)
  await countHits(world, `named_users:${actor!.id}`, 99)
  for (const state_event of ['close', 'reopen']) {
    await actor!.put(at, { state_event })
    await mailAll(world)
  }
  for (const ids of [[author!.id], [], [author!.id]]) await actor!.put(at, { assignee_ids: ids })
  expect(await said(world, author!)).toEqual(['An issue was closed:', 'An issue was assigned to you:'])
})

test('a job about an event that runs again mails nothing twice', async ({ world }) => {
  const [author] = await people(world, 1)
  const { at } = await openIssue(world, { author: author! })
  await world.root.put(at, { state_event: 'close' })
  const [queued] = await world.takeJobs('mail_happening:%')
  for (let run = 1; run <= 2; run++) await mailHappeningJob.run(queued!.payload, await world.app.open(null))
  expect(await said(world, author!)).toEqual(['An issue was closed:'])
})
