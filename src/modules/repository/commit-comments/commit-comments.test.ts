import { describe, expect } from 'vitest'
import { commitNotesOf } from '../../../../test/tables/discussion.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { changeProject, wasActive } from '../../../../test/tables/projects.ts'
import { housekeepingOf } from '../../../../test/tables/pushes.ts'
import { test, type World } from '../../../../test/world.ts'
import { hostilePaths, hostileRefs, type StoredProject, storedProject } from '../commits/testing.ts'

const enc = encodeURIComponent
const at = (project: StoredProject, sha: string) => `/projects/${project.id}/repository/commits/${enc(sha)}/comments`
const unattached = { path: null, line: null, line_type: null }

/** Ten lines, of which the second commit replaced the fifth and removed the ninth; and a new file. */
async function discussed(world: World) {
  const project = await storedProject(world)
  const lines = Array.from({ length: 10 }, (_, index) => `line ${index + 1}\n`)
  const first = project.repository.commit({ 'a.txt': lines.join(''), 'gone.txt': 'x\n' })
  lines[4] = 'changed\n'
  lines.splice(8, 1)
  const second = project.repository.commit({ 'a.txt': lines.join(''), 'dir/new.txt': '+\n', 'gone.txt': null })
  return { project, first, second }
}

describe('POST /projects/:id/repository/commits/:sha/comments', () => {
  test('D1-COMMENT-ON-LINE D1-COMMENT-TWO-FORMS: a comment on a changed line has its position', async ({ world }) => {
    const { project, second } = await discussed(world)
    const ann = await world.user()
    const made = await ann.post(at(project, second), { note: 'Why?', path: 'a.txt', line: 5, line_type: 'new' })
    expect(made).toMatchObject({
      status: 201,
      json: {
        note: 'Why?',
        path: 'a.txt',
        line: 5,
        line_type: 'new',
        author: { id: ann.id, username: ann.username, state: 'active' },
      },
    })
    expect(Object.keys(made.json).sort()).toEqual(['author', 'created_at', 'line', 'line_type', 'note', 'path'])
    expect(Object.keys(made.json.author).sort()).toEqual(['avatar_url', 'id', 'name', 'state', 'username', 'web_url'])
    const { json } = await world.anonymous.get(at(project, second))
    expect(json).toHaveLength(1)
    expect(json[0]).toMatchObject(made.json)
    expect(json[0].author).toMatchObject({ email: '', created_at: expect.stringMatching(/^\d{4}-.*Z$/) })
  })

  test('D1-COMMENT-FALLBACK D1-COMMENT-FALLBACK-NULLS: comment on the commit without such a line', async ({
    world,
  }) => {
    const { project, second } = await discussed(world)
    const place = async (sha: string, more: object) => {
      const { status, json } = await world.root.post(at(project, sha), { note: 'n', ...more })
      expect(status).toBe(201)
      return { path: json.path, line: json.line, line_type: json.line_type }
    }
    const changed = { path: 'a.txt', line: 5, line_type: 'new' }
    expect(await place(second, changed)).toEqual(changed)
    expect(await place(second, { path: 'a.txt', line: 5 })).toEqual(changed)
    expect(await place('main', changed)).toEqual(changed)
    expect(await place(second.slice(0, 8), changed)).toEqual(changed)
    expect(await place(second, { ...changed, line_type: 'old' })).toEqual({ ...changed, line_type: 'old' })
    const removed = { path: 'a.txt', line: 9, line_type: 'old' }
    expect(await place(second, removed)).toEqual(removed)
    const added = { path: 'dir/new.txt', line: 1, line_type: 'new' }
    expect(await place(second, added)).toEqual(added)
    for (const more of [
      {},
      { path: 'a.txt', line: 4 },
      { path: 'a.txt', line: 6 },
      { path: 'a.txt', line: 100 },
      { path: 'a.txt', line: 0 },
      { path: 'a.txt', line: -1 },
      { path: 'a.txt', line: 9 },
      { path: 'dir/new.txt', line: 1, line_type: 'old' },
      { path: 'nope.txt', line: 5 },
      { path: '', line: 5 },
      { line: 5 },
    ])
      expect(await place(second, more), JSON.stringify(more)).toEqual(unattached)
  })

  test('400 for a comment without required parameters, 404 for a missing commit', async ({ world }) => {
    const { project, second } = await discussed(world)
    const post = (body: object, sha: string = second) => world.root.post(at(project, sha), body)
    for (const [body, error] of [
      [{}, 'note is missing'],
      [{ note: 'n', path: 'a.txt' }, 'line is missing'],
      [{ note: 'n', path: 'a.txt', line: 'x' }, 'line is invalid'],
      [{ note: 'n', path: 'a.txt', line: 5, line_type: 'both' }, 'line_type does not have a valid value'],
    ] as const)
      expect(await post(body), error).toMatchObject({ status: 400, json: { error } })
    for (const note of ['', ' \n'])
      expect(await post({ note })).toMatchObject({
        status: 400,
        json: { message: `Failed to save note {:note=>["can't be blank"]}` },
      })
    expect(await post({ note: 'n' }, 'nope')).toMatchObject({
      status: 404,
      json: { message: '404 Commit Not Found' },
    })
    expect(await world.root.get(at(project, 'nope'))).toMatchObject({ status: 404 })
    for (const ref of hostileRefs) {
      const { status } = await post({ note: 'n' }, ref)
      expect([400, 404, 414], JSON.stringify(ref)).toContain(status)
    }
    for (const path of hostilePaths) {
      const { status, json } = await post({ note: 'n', path, line: 1 })
      expect([201, 400], JSON.stringify(path)).toContain(status)
      if (status === 201) expect(json, JSON.stringify(path)).toMatchObject(unattached)
    }
  })

  test('commenting needs access to the project and its code, and a project not archived', async ({ world }) => {
    const [stranger, guest, reporter, external] = await Promise.all([
      world.user(),
      world.user(),
      world.user(),
      world.user({ external: true }),
    ])
    const members = [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ] as const
    for (const [visibility, expected] of [
      ['public', { anonymous: 401, stranger: 201, external: 201, guest: 201, reporter: 201 }],
      ['internal', { anonymous: 401, stranger: 201, external: 404, guest: 201, reporter: 201 }],
      ['private', { anonymous: 401, stranger: 404, external: 404, guest: 403, reporter: 201 }],
    ] as const) {
      const project = await storedProject(world, { visibility, members: members as never })
      const commit = project.repository.commit({ a: 'a' })
      const who = { anonymous: world.anonymous, stranger, external, guest, reporter }
      for (const [name, client] of Object.entries(who))
        expect((await client.post(at(project, commit), { note: 'n' })).status, `${visibility} ${name}`).toBe(
          expected[name as keyof typeof who],
        )
      expect((await guest.get(at(project, commit))).status).toBe(visibility === 'private' ? 403 : 200)
      await changeProject(world, project.id, { archived: true })
      expect(await world.root.post(at(project, commit), { note: 'n' })).toMatchObject({ status: 403 })
      expect(await reporter.get(at(project, commit))).toMatchObject({ status: 200 })
    }
  })

  test('a comment emits note_created without its text, and updates the activity', async ({ world }) => {
    const { project, second } = await discussed(world)
    await changeProject(world, project.id, { last_activity_at: '2020-01-01' })
    await world.root.post(at(project, second), { note: 'Text', path: 'a.txt', line: 5 })
    await world.root.post(at(project, second), { note: ' ' })
    const events = await eventsOf(world, { project: project.id, kind: 'note_created' })
    expect(events).toHaveLength(1)
    const [{ id }] = await commitNotesOf(world, project.id)
    expect(events[0]).toMatchObject({
      actor_id: 1,
      payload: {
        note_id: id,
        noteable_type: 'Commit',
        commit_id: second,
      },
    })
    const [{ recent }] = await wasActive(world, project.id)
    expect(recent).toBe(true)
  })
})

describe('GET /projects/:id/repository/commits/:sha/comments', () => {
  test('comments of a commit are listed oldest first, in pages', async ({ world }) => {
    const { project, first, second } = await discussed(world)
    for (const note of ['one', 'two', 'three']) await world.root.post(at(project, second), { note })
    await world.root.post(at(project, first), { note: 'elsewhere' })
    const notes = async (query: string, sha: string = second) => {
      const answer = await world.root.get(`${at(project, sha)}?${query}`)
      expect(answer.status).toBe(200)
      return { notes: answer.json.map(({ note }: any) => note), total: answer.headers['x-total'] }
    }
    expect(await notes('')).toEqual({ notes: ['one', 'two', 'three'], total: '3' })
    expect(await notes('per_page=2&page=2')).toEqual({ notes: ['three'], total: '3' })
    expect(await notes('', 'main')).toMatchObject({ notes: ['one', 'two', 'three'] })
    expect(await notes('', first)).toEqual({ notes: ['elsewhere'], total: '1' })
  })

  test('a comment updates the activity of the project and does not count as a push', async ({ world }) => {
    const project = await storedProject(world)
    const sha = project.repository.commit({ a: 'a' })
    await changeProject(world, project.id, { last_activity_at: '2020-01-01' })
    await world.root.post(`/projects/${project.id}/repository/commits/${sha}/comments`, { note: 'x' })
    const { last_activity_at } = (await world.root.get(`/projects/${project.id}`)).json
    expect(last_activity_at > '2021').toBe(true)
    expect(await housekeepingOf(world, project.id, 'pushes')).toEqual([])
  })

  test('concurrent comments are all stored', async ({ world }) => {
    const { project, second } = await discussed(world)
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, index) => world.root.post(at(project, second), { note: `${index}` })),
    )
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 201))
    expect((await world.root.get(`${at(project, second)}?per_page=100`)).json).toHaveLength(20)
  })

  test('comments of a user with a private profile do not show their created_at', async ({ world }) => {
    const { project, second } = await discussed(world)
    const shy = await world.user({ private_profile: true })
    await shy.post(at(project, second), { note: 'n' })
    const author = async (who: typeof shy) => (await who.get(at(project, second))).json[0].author
    expect(await author(await world.user())).not.toHaveProperty('created_at')
    expect(await author(shy)).toHaveProperty('created_at')
    expect(await author(world.root)).toHaveProperty('created_at')
  })
})
