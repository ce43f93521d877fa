import { request } from 'undici'
import { describe, expect } from 'vitest'
import { caughtUp } from '../../../../test/tables/events.ts'
import { type Client, test, unique, type World } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openMergeRequest } from '../../review/merge-requests/testing.ts'

type Record = { cursor: string; kind: string; target_type: string; target_id: number; project_id: number }

/** The cursor of the end of the feed. */
/** The cursor after everything that has happened so far. */
async function now(world: World, who: Client): Promise<string> {
  await caughtUp(world)
  return (await who.get('/events/changes')).headers['x-next-cursor']!
}

/** All events after a cursor, read in pages of `limit`, as far as they are about the project. */
async function changes(who: Client, after: string, projectId: number, limit = 100): Promise<Record[]> {
  const found: Record[] = []
  for (let cursor = after; ; ) {
    const page = await who.get(`/events/changes?after=${cursor}&limit=${limit}`)
    expect(page.status, page.text).toBe(200)
    found.push(...(page.json as Record[]))
    cursor = page.headers['x-next-cursor']!
    if (page.headers['x-has-more'] !== 'true') return found.filter(({ project_id }) => project_id === projectId)
  }
}

const kindsOf = (records: readonly Record[]) => records.map(({ kind }) => kind)

async function withMembers(world: World) {
  const [guest, reporter, stranger] = await Promise.all([world.user(), world.user(), world.user()])
  const project = await storedProject(world, {
    visibility: 'private',
    members: [
      [guest, 'guest'],
      [reporter, 'reporter'],
    ],
  })
  return { guest, reporter, stranger, id: project.id, at: `/projects/${project.id}` }
}

describe('GET /events/changes', () => {
  test('lists what happened after the cursor, in order, in pages without gaps or repeats', async ({ world }) => {
    const { reporter, id, at } = await withMembers(world)
    const start = await now(world, reporter)
    const { json: issue } = await reporter.post(`${at}/issues`, { title: 'One' })
    const { json: note } = await reporter.post(`${at}/issues/${issue.iid}/notes`, { body: 'Hello' })
    await world.root.put(`${at}/issues/${issue.iid}`, { state_event: 'close' })
    const file = { branch: 'main', commit_message: 'x', content: 'x' }
    await world.root.post(`${at}/repository/files/a`, file)
    await caughtUp(world)
    const found = await changes(reporter, start, id)
    const expected = ['issue_opened', 'note_created', 'issue_closed', 'pushed']
    expect(kindsOf(found).filter((kind) => expected.includes(kind))).toEqual(expected)
    expect(found.find(({ kind }) => kind === 'issue_opened')).toMatchObject({
      target_type: 'Issue',
      target_id: issue.id,
      actor_id: reporter.id,
      on_id: null,
    })
    expect(found.find(({ kind }) => kind === 'note_created')).toMatchObject({
      target_type: 'Note',
      target_id: note.id,
      on_type: 'Issue',
      on_id: issue.id,
    })
    expect(await changes(reporter, start, id, 1)).toEqual(found)
    expect(await changes(reporter, found[1]!.cursor, id)).toEqual(found.slice(2))
  })

  test('shows that a discussion of a merge request is resolved and unresolved', async ({ world }) => {
    const { at, project } = await openMergeRequest(world)
    const { json: mergeRequest } = await world.root.get(at)
    const { json: discussion } = await world.root.post(`${at}/discussions`, { body: 'Why?' })
    const start = await now(world, world.root)
    for (const resolved of [true, false])
      expect((await world.root.put(`${at}/discussions/${discussion.id}`, { resolved })).status).toBe(200)
    await caughtUp(world)
    const found = await changes(world.root, start, project.id)
    expect(found.map(({ kind, target_type, target_id }) => [kind, target_type, target_id])).toEqual([
      ['discussion_resolved', 'MergeRequest', mergeRequest.id],
      ['discussion_unresolved', 'MergeRequest', mergeRequest.id],
    ])
  })

  test('shows changes and deletions of labels and milestones to readers of their project or group', async ({
    world,
  }) => {
    const { guest, stranger, id, at } = await withMembers(world)
    const group = await world.group({ members: [[guest, 'guest']] })
    await world.root.post(`${at}/issues`, { title: 'One', labels: 'bug' })
    const start = await now(world, guest)
    const { json: label } = await world.root.put(`${at}/labels/bug`, { new_name: 'fault' })
    await world.root.delete(`${at}/labels/fault`)
    const { json: milestone } = await world.root.post(`${at}/milestones`, { title: 'Soon' })
    await world.root.put(`${at}/milestones/${milestone.id}`, { state_event: 'close' })
    await world.root.delete(`${at}/milestones/${milestone.id}`)
    const { json: shared } = await world.root.post(`/groups/${group.id}/labels`, { name: 'all', color: '#ff0000' })
    await caughtUp(world)
    expect(
      (await changes(guest, start, id)).map(({ kind, target_type, target_id }) => [kind, target_type, target_id]),
    ).toEqual([
      ['label_updated', 'Label', label.id],
      ['label_deleted', 'Label', label.id],
      ['milestone_created', 'Milestone', milestone.id],
      ['milestone_closed', 'Milestone', milestone.id],
      ['milestone_deleted', 'Milestone', milestone.id],
    ])
    const all = (await guest.get(`/events/changes?after=${start}&limit=500`)).json
    expect(all).toContainEqual(expect.objectContaining({ kind: 'label_created', target_id: shared.id }))
    expect(await changes(stranger, start, id)).toEqual([])
  })

  test('shows only what the caller may read at the time of reading', async ({ world }) => {
    const { guest, reporter, stranger, id, at } = await withMembers(world)
    const start = await now(world, world.root)
    const { json: hidden } = await reporter.post(`${at}/issues`, { title: 'Secret', confidential: true })
    await reporter.post(`${at}/issues/${hidden.iid}/notes`, { body: 'Also secret' })
    await world.root.post(`${at}/repository/files/a`, { branch: 'main', commit_message: 'x', content: 'x' })
    const about = async (who: Client) => {
      await caughtUp(world)
      // The members of the project may have been added by transactions that had not ended before the start.
      return new Set(kindsOf(await changes(who, start, id)).filter((kind) => kind !== 'member_added'))
    }
    expect(await about(reporter)).toEqual(new Set(['issue_opened', 'note_created', 'pushed']))
    expect(await about(guest)).toEqual(new Set())
    expect(await about(stranger)).toEqual(new Set())
    await reporter.put(`${at}/issues/${hidden.iid}`, { confidential: false })
    expect(await about(guest)).toContain('issue_opened')
    await world.root.delete(`${at}/members/${reporter.id}`)
    expect(await about(reporter)).toEqual(new Set())
  })

  test('shows what changes the record of a project, group or account: the end of an import, shares, forks, confirmed addresses', async ({
    world,
  }) => {
    const ann = await world.user()
    const [group, partners] = [await world.group(), await world.group()]
    const source = await storedProject(world, { visibility: 'public' })
    const start = await now(world, world.root)
    const since = async (type: string, id: number) => {
      await caughtUp(world)
      const { json } = await world.root.get(`/events/changes?after=${start}&limit=500`)
      return kindsOf((json as Record[]).filter((each) => each.target_type === type && each.target_id === id))
    }
    const { json: fork } = await ann.post(`/projects/${source.id}/fork`, { path: unique('fork') })
    await world.runJobs()
    await expect.poll(async () => (await ann.get(`/projects/${fork.id}`)).json.import_status).toBe('finished')
    const share = { group_id: partners.id, group_access: 30 }
    await world.root.post(`/projects/${fork.id}/share`, share)
    await world.root.delete(`/projects/${fork.id}/share/${partners.id}`)
    await world.root.delete(`/projects/${fork.id}/fork`)
    await world.root.post(`/projects/${fork.id}/fork/${source.id}`)
    expect(await since('Project', fork.id)).toEqual([
      'project_created',
      'project_imported',
      'project_shared',
      'project_unshared',
      'fork_unlinked',
      'fork_linked',
    ])
    await world.root.post(`/groups/${group.id}/share`, share)
    await world.root.delete(`/groups/${group.id}/share/${partners.id}`)
    expect(await since('Group', group.id)).toEqual(['group_shared', 'group_unshared'])
    const identity = { provider: unique('provider'), extern_uid: unique('uid') }
    expect((await world.root.put(`/users/${ann.id}`, identity)).status).toBe(200)
    expect((await world.root.delete(`/users/${ann.id}/identities/${identity.provider}`)).status).toBe(204)
    expect(await since('User', ann.id)).toEqual(['user_updated', 'user_identity_removed'])
  })

  test('400 for a malformed cursor, 401 without a token', async ({ world }) => {
    const ann = await world.user()
    for (const after of ['x', '1', `${'9'.repeat(20)}-1`, '1-1-1', '1-9999999999999999'])
      expect(await ann.get(`/events/changes?after=${after}`)).toMatchObject({ status: 400 })
    expect((await world.anonymous.get('/events/changes')).status).toBe(401)
  })
})

describe('GET /events/stream', () => {
  test('sends events as they happen, and continues after Last-Event-ID', async ({ world }) => {
    const { reporter, at } = await withMembers(world)
    const headers = { accept: 'text/event-stream', 'private-token': reporter.token! }
    const follow = async (more: object, isEnough: (text: string) => boolean, meanwhile: () => Promise<unknown>) => {
      const stream = await request(`${world.origin}/api/v4/events/stream`, { headers: { ...headers, ...more } })
      expect([stream.statusCode, stream.headers['content-type']]).toEqual([200, 'text/event-stream'])
      let text = ''
      let hasBegun = false
      for await (const chunk of stream.body) {
        text += chunk
        if (!hasBegun && text.includes(': next')) await meanwhile()
        hasBegun ||= text.includes(': next')
        if (isEnough(text)) break
      }
      return text
    }
    const make = (title: string) => () => reporter.post(`${at}/issues`, { title })
    const first = await follow({}, (text) => text.includes('event: issue_opened'), make('One'))
    const id = /^id: (.*)\nevent: issue_opened\ndata: (\{.*\})$/m.exec(first)!
    expect(JSON.parse(id[2]!)).toMatchObject({ cursor: id[1], kind: 'issue_opened', target_type: 'Issue' })
    await make('Two')()
    const second = await follow(
      { 'last-event-id': id[1]! },
      (text) => text.includes('event: issue_opened'),
      async () => {},
    )
    expect(second).not.toContain(`id: ${id[1]}\nevent: `)
  })

  test('ends when the token is revoked or the account is blocked, and shows what administrators see only while the user is one', async ({
    world,
  }) => {
    const { root } = world
    const [revoked, blocked, demoted] = await Promise.all([world.user(), world.user(), world.user({ admin: true })])
    const made = await revoked.post('/user/personal_access_tokens', { name: 'stream', scopes: ['api'] })
    const other = await world.user()
    // One each: an event may show up in the next stream, too.
    const projects = await Promise.all([1, 2, 3].map(() => storedProject(world, { visibility: 'internal' })))
    /** What a stream sends until it ends or shows an issue of the next project, which follows `change`. */
    const seen = async (token: string, change: () => Promise<{ status: number; text: string }>) => {
      const project = projects.pop()!
      const opened = new RegExp(`^event: issue_opened\\n(.+\\n)*?data: .*"project_id":${project.id}\\b`, 'm')
      const headers = { accept: 'text/event-stream', 'private-token': token }
      const { statusCode, body } = await request(`${world.origin}/api/v4/events/stream`, { headers })
      expect(statusCode).toBe(200)
      let text = ''
      let hasBegun = false
      for await (const chunk of body) {
        text += chunk
        if (!hasBegun && text.includes(': next')) {
          hasBegun = true
          const { status, text } = await change()
          expect(status, text).toBeLessThan(300)
          await root.put(`/users/${other.id}`, { bio: unique('bio') })
          await root.post(`/projects/${project.id}/issues`, { title: 'After the change' })
        }
        if (opened.test(text) && text.endsWith('\n\n')) break
      }
      const records = [...text.matchAll(/^data: (.*)$/gm)].map(([, record]) => JSON.parse(record!) as Record)
      return kindsOf(records.filter((each) => each.project_id === project.id || each.target_id === other.id))
    }
    expect(await seen(made.json.token, () => root.delete(`/personal_access_tokens/${made.json.id}`))).toEqual([])
    expect(await seen(blocked.token!, () => root.post(`/users/${blocked.id}/block`))).toEqual([])
    expect(await seen(demoted.token!, () => root.put(`/users/${demoted.id}`, { admin: false }))).toEqual([
      'issue_opened',
    ])
  })

  test('ends at once for a client that does not follow', async ({ world }) => {
    const { reporter, at } = await withMembers(world)
    const start = await now(world, reporter)
    await reporter.post(`${at}/issues`, { title: 'One' })
    const read = async () => {
      const { status, text } = await reporter.get(`/events/stream?after=${start}`)
      return [status, text]
    }
    await caughtUp(world)
    expect(await read()).toEqual([200, expect.stringContaining('event: issue_opened\n')])
  })

  test('a user has at most five streams', async ({ world }) => {
    const ann = await world.user()
    const headers = { accept: 'text/event-stream', 'private-token': ann.token! }
    const open = () => request(`${world.origin}/api/v4/events/stream`, { headers })
    const streams = await Promise.all(Array.from({ length: 5 }, open))
    try {
      const sixth = await open()
      expect([sixth.statusCode, await sixth.body.text()]).toEqual([429, expect.stringContaining('Too many streams')])
    } finally {
      for (const stream of streams) stream.body.destroy()
    }
    await expect.poll(async () => (await ann.get('/events/stream')).status).toBe(200)
  })
})
