import { describe, expect } from 'vitest'
import { addManyFeedLines, agePushesInFeed, planOfFeed } from '../../../../test/tables/events.ts'
import { changeUser } from '../../../../test/tables/users.ts'
import { type Client, git, temporaryFolder, test, type World } from '../../../../test/world.ts'

const read = async (who: Client, path: string): Promise<any[]> => {
  const { status, json } = await who.get(path)
  expect(status).toBe(200)
  return json
}

/** Each event as `action_name target`. */
const lines = async (who: Client, path: string) =>
  (await read(who, path)).map(
    ({ action_name, push_data, target_type }) => `${action_name} ${push_data?.ref ?? target_type ?? '-'}`,
  )

/** A project with two commits pushed by `ann`, its maintainer. */
async function pushed(world: World, visibility: 'private' | 'public' = 'private') {
  const ann = await world.user()
  const project = await world.project({ visibility, members: [[ann, 'maintainer']] })
  const folder = await temporaryFolder()
  const run = (...args: string[]) => git(folder.path, ...args)
  await run('init', '-q', '-b', 'main')
  for (const title of ['First', 'Second']) await run('commit', '-q', '--allow-empty', '-m', title)
  await run('remote', 'add', 'origin', world.remote(project, ann))
  await run('push', '-q', 'origin', 'main')
  return { ann, project, run, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

describe('GET /projects/:id/events', () => {
  test('project events list pushes, newest first', async ({ world }) => {
    await using made = await pushed(world)
    const { ann, project, run } = made
    const second = await run('rev-parse', 'HEAD')
    await run('commit', '-q', '--allow-empty', '-m', `Third ${'x'.repeat(80)}`)
    await run('push', '-q', 'origin', 'main')
    const third = await run('rev-parse', 'HEAD')
    await run('tag', '-a', 'v1', '-m', 'One')
    await run('push', '-q', 'origin', 'v1', 'main:topic')
    await run('push', '-q', 'origin', ':topic')
    const events = await read(ann, `/projects/${project.id}/events?action=pushed`)
    expect(events.map(({ action_name, push_data }) => [action_name, push_data])).toEqual([
      [
        'deleted',
        {
          commit_count: 0,
          action: 'removed',
          ref_type: 'branch',
          commit_from: third,
          commit_to: null,
          ref: 'topic',
          commit_title: null,
          ref_count: null,
        },
      ],
      ...['topic', 'v1']
        .map((ref) => [
          'pushed new',
          expect.objectContaining({ action: 'created', ref, commit_from: null, commit_count: 0 }),
        ])
        .toSorted(() => (events[1].push_data.ref === 'topic' ? 0 : -1)),
      [
        'pushed to',
        {
          commit_count: 1,
          action: 'pushed',
          ref_type: 'branch',
          commit_from: second,
          commit_to: third,
          ref: 'main',
          commit_title: `Third ${'x'.repeat(61)}...`,
          ref_count: null,
        },
      ],
      [
        'pushed new',
        expect.objectContaining({ commit_count: 2, commit_from: null, commit_to: second, commit_title: 'Second' }),
      ],
    ])
    expect(events[0]).toEqual({
      id: expect.any(Number),
      project_id: project.id,
      action_name: 'deleted',
      target_id: null,
      target_iid: null,
      target_type: null,
      target_title: null,
      author_id: ann.id,
      author: expect.objectContaining({ id: ann.id, username: ann.username }),
      author_username: ann.username,
      created_at: expect.stringMatching(/Z$/),
      push_data: expect.any(Object),
    })
  })

  test('a push of many branches is one event', async ({ world }) => {
    await using made = await pushed(world)
    const { ann, project, run } = made
    const names = ['a', 'b', 'c', 'd'].map((name) => `main:${name}`)
    await run('push', '-q', 'origin', ...names, 'main:refs/tags/t')
    const [one, other] = (await read(ann, `/projects/${project.id}/events?action=pushed`)).map((each) => each.push_data)
    expect([one, other]).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ action: 'created', ref_type: 'branch', ref_count: 4, ref: null, commit_count: 0 }),
        expect.objectContaining({ action: 'created', ref_type: 'tag', ref_count: null, ref: 't' }),
      ]),
    )
  })

  test('project events list creation, joins, comments and departures', async ({ world }) => {
    await using made = await pushed(world)
    const { ann, project, run } = made
    const bob = await world.user()
    await world.root.post(`/projects/${project.id}/members`, { user_id: bob.id, access_level: 30 })
    const sha = await run('rev-parse', 'HEAD')
    await bob.post(`/projects/${project.id}/repository/commits/${sha}/comments`, { note: 'Nice' })
    await bob.delete(`/projects/${project.id}/members/${bob.id}`)
    const events = await read(ann, `/projects/${project.id}/events`)
    expect(events.map((each) => [each.action_name, each.author_id, each.target_type, each.target_title])).toEqual([
      ['left', bob.id, null, null],
      ['commented on', bob.id, 'Note', 'Second'],
      ['joined', bob.id, null, null],
      ['pushed new', ann.id, null, null],
      ['joined', ann.id, null, null],
      ['created', world.root.id, null, null],
    ])
    expect(await lines(ann, `/projects/${project.id}/events?target_type=note`)).toEqual(['commented on Note'])
    expect(await lines(ann, `/projects/${project.id}/events?target_type=issue`)).toEqual([])
    expect(await lines(ann, `/projects/${project.id}/events?action=joined&sort=asc&per_page=1`)).toEqual(['joined -'])
    expect(await ann.get(`/projects/${project.id}/events?action=danced`)).toMatchObject({
      status: 400,
      json: { error: 'action does not have a valid value' },
    })
  })

  test('events of comments have the note, until it is deleted', async ({ world }) => {
    const ann = await world.user()
    const project = await world.project({ members: [[ann, 'maintainer']] })
    const at = `/projects/${project.id}`
    const issue = (await ann.post(`${at}/issues`, { title: 'Broken' })).json
    const notes = `${at}/issues/${issue.iid}/notes`
    const single = (await ann.post(notes, { body: 'Single' })).json
    const thread = (await ann.post(`${at}/issues/${issue.iid}/discussions`, { body: 'Thread' })).json.notes[0]
    const snippet = { title: 'Code', file_name: 'a', content: 'x', visibility: 'private' }
    const { id } = (await ann.post(`${at}/snippets`, snippet)).json
    await ann.post(`${at}/snippets/${id}/notes`, { body: 'On code' })
    const about = (target: { id: number }, type: string) => ({
      action_name: 'commented on',
      target_id: target.id,
      target_iid: target.id,
      target_type: type,
      target_title: 'Broken',
      note: target,
    })
    expect(await read(ann, `${at}/events?per_page=5`)).toMatchObject([
      { action_name: 'commented on', target_title: 'Code', note: { noteable_type: 'Snippet', noteable_id: id } },
      { action_name: 'created', target_type: 'Snippet', target_id: id, target_iid: id },
      about(thread, 'DiscussionNote'),
      about(single, 'Note'),
      { action_name: 'opened', target_type: 'Issue', target_iid: issue.iid },
    ])
    expect(await lines(ann, `${at}/events?target_type=issue`)).toEqual(['opened Issue'])
    const [line] = await read(await world.as(ann, ['read_user']), '/events?target_type=note&sort=asc')
    expect(line).toMatchObject({ target_type: 'Note', target_id: single.id })
    expect(line).not.toHaveProperty('note')
    await ann.delete(`${notes}/${single.id}`)
    await ann.delete(`${at}/snippets/${id}`)
    expect(await lines(ann, `${at}/events?target_type=note`)).toEqual(['commented on DiscussionNote'])
    expect(await lines(ann, '/events?target_type=note')).toEqual(['commented on DiscussionNote'])
  })

  test('the before and after filters of events exclude the given day', async ({ world }) => {
    await using made = await pushed(world)
    const { ann, project } = made
    await agePushesInFeed(world, project.id)
    const between = (query: string) => lines(ann, `/projects/${project.id}/events?${query}`)
    expect(await between('after=2020-02-01&before=2020-02-03')).toEqual(['pushed new main'])
    expect(await between('before=2020-02-02')).toEqual([])
    expect(await between('after=2020-02-02')).toEqual(['joined -', 'created -'])
  })

  test('events about code are visible to users who can read code', async ({ world }) => {
    await using made = await pushed(world)
    const { project } = made
    const [guest, reporter, stranger] = [await world.user(), await world.user(), await world.user()]
    for (const [who, level] of [
      [guest, 10],
      [reporter, 20],
    ] as const)
      await world.root.post(`/projects/${project.id}/members`, { user_id: who.id, access_level: level })
    const path = `/projects/${project.id}/events?sort=asc`
    expect(await lines(reporter, path)).toContain('pushed new main')
    expect(await lines(guest, path)).toEqual(['created -', 'joined -', 'joined -', 'joined -'])
    expect((await stranger.get(path)).status).toBe(404)
    expect((await world.anonymous.get(path)).status).toBe(404)
  })
})

describe('events of users', () => {
  test("GET /events lists the caller's own events, and 401 without a token", async ({ world }) => {
    await using made = await pushed(world)
    expect(await lines(made.ann, '/events')).toEqual(['pushed new main', 'joined -'])
    expect((await world.anonymous.get('/events')).status).toBe(401)
    const reader = await world.as(made.ann, ['read_user'])
    expect(await lines(reader, '/events?action=pushed')).toEqual(['pushed new main'])
  })

  test('GET /users/:id/events lists the events that the caller can see now', async ({ world }) => {
    await using hidden = await pushed(world)
    await using open = await pushed(world, 'public')
    const { ann, project } = hidden
    const bob = await world.user()
    const path = `/users/${ann.username}/events?action=pushed`
    expect(await lines(world.root, path)).toEqual(['pushed new main'])
    for (const who of [bob, world.anonymous]) expect(await lines(who, path)).toEqual([])
    for (const who of [bob, world.anonymous])
      expect(await lines(who, `/users/${open.ann.id}/events?action=pushed`)).toEqual(['pushed new main'])

    await world.root.post(`/projects/${project.id}/members`, { user_id: bob.id, access_level: 20 })
    expect(await lines(bob, path)).toEqual(['pushed new main'])
    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    expect(await lines(ann, '/events')).toEqual([])
    const off = { repository_access_level: 'disabled', merge_requests_access_level: 'disabled' }
    const closed = await world.root.put(`/projects/${project.id}`, { ...off, builds_access_level: 'disabled' })
    expect(closed.status).toBe(200)
    expect(await lines(bob, path)).toEqual([])
    expect((await bob.get('/users/no-such-user/events')).json).toEqual({ message: '404 User Not Found' })
  })

  test('events of a private profile are visible to the user and administrators', async ({ world }) => {
    await using made = await pushed(world, 'public')
    const { ann } = made
    await changeUser(world, ann.id, { private_profile: true })
    const count = async (who: Client) => (await read(who, `/users/${ann.id}/events`)).length
    expect([await count(world.anonymous), await count(await world.user())]).toEqual([0, 0])
    expect([await count(ann), await count(world.root)]).toEqual([2, 2])
  })
})

test('each list of events reads an index in its order', async ({ world }) => {
  expect(await addManyFeedLines(world)).not.toEqual([])
  for (const column of ['project_id', 'author_id']) {
    const plan = await planOfFeed(world, column)
    expect(JSON.stringify(plan)).toMatch(/Index.* using feed_events_/)
    expect(JSON.stringify(plan)).not.toContain('Sort')
  }
})
