import { pino } from 'pino'
import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { HookReceiver } from '../../../../test/hook-receiver.ts'
import { deliveryStates } from '../../../../test/tables/hooks.ts'
import { projectRow } from '../../../../test/tables/projects.ts'
import { eventually } from '../../../../test/waiting.ts'
import { test, unique, type World } from '../../../../test/world.ts'
import { removeUser } from '../../groups/user-removal/jobs.ts'
import { removeProject } from '../../projects/index.ts'
import { Dispatcher } from '../deliveries/dispatcher.ts'
import { allFlags, commitBlock, commitTo, openTopic, tipOf, withContent } from './testing.ts'

/** The sender alone, as it starts after it was down for a time. */
async function sending(world: World) {
  const dispatcher = new Dispatcher({ open: () => contextFor(world, null), log: pino({ level: 'silent' }) })
  dispatcher.start()
  return { [Symbol.asyncDispose]: () => dispatcher.stop() }
}

/** Ends the deletions that were requested. */
async function endDeletions(world: World) {
  const ctx = await contextFor(world, null)
  for (const { payload } of await world.takeJobs('remove_project:%')) await removeProject.run(payload as never, ctx)
  for (const { payload } of await world.takeJobs('remove_user:%')) await removeUser.run(payload as never, ctx)
}

/** A project in a group with a hook for all events, while nothing is sent. */
async function waiting(world: World) {
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true, deletion_adjourned_period: 0 })
  const receiver = await HookReceiver.start()
  const group = await world.group()
  const project = await world.project({ group })
  await withContent(world, project)
  const hook = { url: receiver.url, ...allFlags, member_events: true, subgroup_events: true }
  const made = await world.root.post(`/groups/${group.id}/hooks`, hook)
  expect(made.status, made.text).toBe(201)
  const at = `/projects/${project.id}`
  const kinds = () =>
    receiver.received
      .map(
        ({ json }) => `${json.object_kind ?? json.event_name} ${json.object_attributes?.action ?? json.action ?? ''}`,
      )
      .map((each) => each.trim())
      .sort()
  const dispose = () => receiver[Symbol.asyncDispose]()
  return { receiver, group, project, at, hookId: made.json.id, kinds, [Symbol.asyncDispose]: dispose }
}

const ok = async (sent: Promise<{ status: number; text: string; json: any }>) => {
  const answer = await sent
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.json
}

describe('what was deleted before it was sent', () => {
  test('an issue with its labels and the comments on it is sent as it was', async ({ world }) => {
    await using made = await waiting(world)
    const { at, receiver, kinds } = made
    const { root } = world
    const label = await ok(root.post(`${at}/labels`, { name: 'bug', color: '#ff0000' }))
    const issue = await ok(root.post(`${at}/issues`, { title: 'First', description: 'Before' }))
    const path = `${at}/issues/${issue.iid}`
    await ok(root.put(path, { labels: 'bug' }))
    const note = await ok(root.post(`${path}/notes`, { body: 'Said' }))
    await ok(root.put(`${path}/notes/${note.id}`, { body: 'Said otherwise' }))
    await ok(root.put(path, { title: 'Second', description: 'After' }))
    await ok(root.put(path, { state_event: 'close' }))
    await ok(root.delete(`${at}/labels/${label.id}`))
    await ok(root.delete(path))
    await using _sender = await sending(world)
    await eventually(() =>
      expect(kinds()).toEqual(['issue close', 'issue open', 'issue update', 'issue update', 'note']),
    )
    const issues = receiver.received.filter(({ json }) => json.object_kind === 'issue').map(({ json }) => json)
    expect(issues).toMatchObject([
      { object_attributes: { title: 'First', description: 'Before', state: 'opened', labels: [] }, user: { id: 1 } },
      { object_attributes: { title: 'First', labels: [{ title: 'bug' }] }, changes: { labels: { previous: [] } } },
      { object_attributes: { title: 'Second', description: 'After', state: 'opened' } },
      { object_attributes: { title: 'Second', state: 'closed' } },
    ])
    const said = receiver.received.find(({ json }) => json.object_kind === 'note')!.json
    expect(said).toMatchObject({ object_attributes: { note: 'Said' }, issue: { title: 'First', state: 'opened' } })
  })

  const forOpen = { confidential_issues_events: false, confidential_note_events: false }
  test.for([
    ['is gone', forOpen, ['issue open', 'note']],
    ['is gone with its project', forOpen, ['issue open', 'note']],
    ['is gone, to a hook for notes alone', { ...forOpen, issues_events: false }, ['note']],
    ['is gone with its project, to a hook for notes alone', { ...forOpen, issues_events: false }, ['note']],
  ] as const)(
    'what was open is not sent if it was confidential at its end, when the issue %s',
    async ([gone, flags, expected], { world }) => {
      await using made = await waiting(world)
      const { at, kinds, group, hookId, receiver } = made
      const { root } = world
      await ok(root.put(`/groups/${group.id}/hooks/${hookId}`, { url: receiver.url, ...flags }))
      const said = async (title: string) => {
        const { iid } = await ok(root.post(`${at}/issues`, { title, description: title }))
        await ok(root.post(`${at}/issues/${iid}/notes`, { body: title }))
        return `${at}/issues/${iid}`
      }
      const path = await said('Told by mistake')
      await ok(root.put(path, { confidential: true }))
      await said('Next')
      if (gone.startsWith('is gone with its project')) {
        await ok(root.delete(at))
        await endDeletions(world)
        expect(await projectRow(world, made.project.id, 'id')).toEqual([])
      } else await ok(root.delete(path))
      await using _sender = await sending(world)
      await eventually(async () => {
        expect(kinds().length).toBeGreaterThan(0)
        expect((await deliveryStates(world, hookId))['pending']).toBeUndefined()
      })
      expect(kinds()).toEqual(expected)
      expect(JSON.stringify(receiver.received.map(({ json }) => json))).not.toContain('Told by mistake')
    },
  )

  test('a long text is whole while its issue exists, and cut when it is gone', async ({ world }) => {
    await using made = await waiting(world)
    const { at, kinds, receiver } = made
    const { root } = world
    const description = 'x'.repeat(40_000)
    const kept = await ok(root.post(`${at}/issues`, { title: 'Kept', description }))
    await ok(root.put(`${at}/issues/${kept.iid}`, { title: 'Kept still' }))
    const gone = await ok(root.post(`${at}/issues`, { title: 'Gone', description }))
    await ok(root.delete(`${at}/issues/${gone.iid}`))
    await using _sender = await sending(world)
    await eventually(() => expect(kinds()).toEqual(['issue open', 'issue open', 'issue update']))
    const lengths = receiver.received.map(
      ({ json }) => `${json.object_attributes.title}: ${json.object_attributes.description.length}`,
    )
    expect(lengths.sort()).toEqual(['Gone: 32768', 'Kept still: 40000', 'Kept: 40000'])
  })

  test('a merge request, its comments and those on a snippet are sent', async ({ world }) => {
    await using made = await waiting(world)
    const { at, project, receiver, kinds } = made
    const { root } = world
    const mr = await openTopic(world, project, 'Merge it')
    const path = `${at}/merge_requests/${mr.iid}`
    await ok(root.post(`${path}/notes`, { body: 'Looks good' }))
    await ok(root.put(path, { title: 'Merge it now' }))
    await ok(root.delete(path))
    const file = { title: 'Snippet', file_name: 'a.txt', content: 'x', visibility: 'private' }
    const snippet = await ok(root.post(`${at}/snippets`, file))
    await ok(root.post(`${at}/snippets/${snippet.id}/notes`, { body: 'On a snippet' }))
    await ok(root.delete(`${at}/snippets/${snippet.id}`))
    await using _sender = await sending(world)
    await eventually(() => expect(kinds()).toEqual(['merge_request open', 'merge_request update', 'note', 'note']))
    const of = (kind: string) =>
      receiver.received.filter(({ json }) => json.object_kind === kind).map(({ json }) => json)
    expect(of('merge_request')).toMatchObject([
      { object_attributes: { title: 'Merge it', source_branch: 'topic', last_commit: commitBlock } },
      { object_attributes: { title: 'Merge it now' }, changes: { title: { previous: 'Merge it' } } },
    ])
    expect(
      of('note')
        .map(({ object_attributes: { note } }) => note)
        .sort(),
    ).toEqual(['Looks good', 'On a snippet'])
    expect(of('note').find((note) => note.merge_request)).toMatchObject({ merge_request: { title: 'Merge it' } })
    expect(of('note').find((note) => note.snippet)).toMatchObject({ snippet: { title: 'Snippet', id: snippet.id } })
  })

  test('each state of a release, a pipeline and a page of the wiki is sent', async ({ world }) => {
    await using made = await waiting(world)
    const { at, project, receiver, kinds } = made
    const { root } = world
    await ok(root.post(`${at}/releases`, { tag_name: 'v1', ref: 'main', description: 'First' }))
    await ok(root.put(`${at}/releases/v1`, { description: 'Second' }))
    await ok(root.delete(`${at}/releases/v1`))
    for (const state of ['running', 'success'])
      await ok(root.post(`${at}/statuses/${await tipOf(world, project)}`, { state, name: 'x' }))
    await ok(root.post(`${at}/wikis`, { title: 'Page', content: 'One' }))
    await ok(root.put(`${at}/wikis/Page`, { content: 'Two' }))
    await ok(root.delete(`${at}/wikis/Page`))
    await using _sender = await sending(world)
    await eventually(() =>
      expect(kinds()).toEqual([
        'build',
        'build',
        'pipeline',
        'pipeline',
        'release create',
        'release delete',
        'release update',
        'tag_push',
        'wiki_page create',
        'wiki_page delete',
        'wiki_page update',
      ]),
    )
    const releases = receiver.received.filter(({ json }) => json.object_kind === 'release')
    expect(releases.map(({ json }) => `${json.action} ${json.description}`)).toEqual([
      'create First',
      'update Second',
      'delete Second',
    ])
    const pages = receiver.received.filter(({ json }) => json.object_kind === 'wiki_page')
    expect(pages.map(({ json }) => json.object_attributes.content).slice(0, 2)).toEqual(['One', 'Two'])
  })

  test('events of a project that is gone reach the hooks of the groups above it', async ({ world }) => {
    await using made = await waiting(world)
    const { at, project, receiver, kinds } = made
    const { root } = world
    await commitTo(world, project, 'main', [{ action: 'create', file_path: 'a.txt', content: 'a' }])
    await ok(root.post(`${at}/issues`, { title: 'Last words' }))
    const note = await ok(root.post(`${at}/issues/1/notes`, { body: 'Said' }))
    await openTopic(world, project, 'Merge it')
    await ok(root.post(`${at}/statuses/${await tipOf(world, project)}`, { state: 'running', name: 'x' }))
    await ok(root.post(`${at}/wikis`, { title: 'Page', content: 'One' }))
    await ok(root.post(`${at}/releases`, { tag_name: 'v1', ref: 'main', description: 'First' }))
    await ok(root.delete(at))
    await endDeletions(world)
    expect(await projectRow(world, project.id, 'id')).toEqual([])
    await using _sender = await sending(world)
    await eventually(() =>
      expect(kinds()).toEqual([
        'build',
        'issue open',
        'merge_request open',
        'note',
        'pipeline',
        'push',
        'release create',
        'tag_push',
        'wiki_page create',
      ]),
    )
    for (const { json } of receiver.received) expect(json.project?.id ?? json.project_id).toBe(project.id)
    const of = (kind: string) => receiver.received.find(({ json }) => json.object_kind === kind)!.json
    expect(of('issue').object_attributes).toMatchObject({ title: 'Last words' })
    expect(of('note').object_attributes).toMatchObject({ note: 'Said', id: note.id })
    expect(of('push')).toMatchObject({ ref: 'refs/heads/main', project: { path_with_namespace: project.full_path } })
  })

  test('the push of a new branch has its commits although they were merged before it was sent', async ({ world }) => {
    await using made = await waiting(world)
    const { at, project, receiver } = made
    const create = { action: 'create', file_path: 'a.txt', content: 'a' }
    await ok(commitTo(world, project, 'next', [create], { start_branch: 'main', commit_message: 'New' }))
    const mr = await ok(
      world.root.post(`${at}/merge_requests`, { source_branch: 'next', target_branch: 'main', title: 'Merge next' }),
    )
    await ok(world.root.put(`${at}/merge_requests/${mr.iid}/merge`))
    await using _sender = await sending(world)
    const { json } = await receiver.request(({ json }) => json.ref === 'refs/heads/next')
    expect(json).toMatchObject({ commits: [{ message: 'New' }], total_commits_count: 1 })
  })

  test('a user who is gone is named, and so are members of a group and the group', async ({ world }) => {
    await using made = await waiting(world)
    const { at, group, project, receiver, kinds } = made
    const { root } = world
    const ann = await world.user()
    await ok(root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 }))
    await ok(ann.post(`${at}/issues`, { title: 'By Ann', assignee_ids: [ann.id] }))
    const parent = group
    const path = unique('sub')
    const sub = await ok(root.post('/groups', { name: path, path, parent_id: parent.id }))
    await ok(root.post(`/groups/${sub.id}/members`, { user_id: ann.id, access_level: 30 }))
    await ok(root.delete(`/users/${ann.id}`))
    await endDeletions(world)
    await using _sender = await sending(world)
    await eventually(() => expect(kinds()).toContain('issue open'))
    await eventually(() => expect(kinds()).toContain('user_remove_from_group'))
    const named = { username: ann.username, id: ann.id }
    expect(receiver.received.find(({ json }) => json.object_kind === 'issue')!.json).toMatchObject({
      user: named,
      assignees: [named],
      object_attributes: { title: 'By Ann' },
    })
    const added = receiver.received.filter(
      ({ json }) => json.event_name === 'user_add_to_group' && json.user_id === ann.id,
    )
    expect(added).toMatchObject([{ json: { user_username: ann.username } }])
  })
})
