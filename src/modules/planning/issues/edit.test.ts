import { describe, expect } from 'vitest'
import { answerDuring } from '../../../../test/during.ts'
import { eventsOf } from '../../../../test/tables/events.ts'
import { lockRow } from '../../../../test/tables/instance.ts'
import { deleteProject } from '../../../../test/tables/projects.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Level, Visibility } from '../../../access/levels.ts'
import { lockState } from '../../projects/projects/edit-queries.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { closeIssue } from './close.ts'
import { openIssue } from './testing.ts'

/** An issue by a guest of its project, with a reporter and an owner. */
async function opened(
  world: World,
  { visibility = 'public', ...attributes }: { visibility?: Visibility; labels?: string } = {},
) {
  const [author, rita, olga, stranger] = [
    await world.user(),
    await world.user(),
    await world.user(),
    await world.user(),
  ]
  const members: [Client, Level][] = [
    [author, 'guest'],
    [rita, 'reporter'],
  ]
  const group = await world.group({ visibility, members: [[olga, 'owner']] })
  const project = await storedProject(world, { visibility, group, members })
  return { ...(await openIssue(world, { project, author, ...attributes })), author, rita, olga, stranger }
}

const systemNotes = async (who: Client, at: string): Promise<string[]> =>
  (await who.get(`${at}/notes?sort=asc`)).json
    .filter(({ system }: { system: boolean }) => system)
    .map(({ body }: { body: string }) => body)

const events = async (world: World, id: number): Promise<any[]> =>
  (await eventsOf(world, { payload: { issue_id: id } }, 'kind', 'payload')).map(({ kind, payload }) => ({
    kind,
    changes: payload.changes ?? null,
  }))

describe('PUT /projects/:id/issues/:issue_iid', () => {
  test('PUT changes the given attributes of an issue and records the old values', async ({ world }) => {
    const { at, id, rita, olga, project } = await opened(world)
    const milestone = (await world.root.post(`/projects/${project.id}/milestones`, { title: '1.0' })).json
    const changed = await rita.put(at, {
      title: 'Better',
      description: `For @${olga.username}`,
      assignee_ids: [olga.id, rita.id],
      labels: 'a,b',
      milestone_id: milestone.id,
      due_date: '2030-01-02',
      weight: 3,
      discussion_locked: true,
      confidential: true,
    })
    expect(changed).toMatchObject({
      status: 200,
      json: {
        title: 'Better',
        description: `For @${olga.username}`,
        labels: ['a', 'b'],
        milestone: { id: milestone.id },
        due_date: '2030-01-02',
        weight: 3,
        discussion_locked: true,
        confidential: true,
        state: 'opened',
      },
    })
    expect(changed.json.assignees.map((user: any) => user.id).sort()).toEqual([rita.id, olga.id].sort())
    expect(await systemNotes(rita, at)).toEqual([
      'changed title from **Something is wrong** to **Better**',
      'changed the description',
      expect.stringMatching(/^assigned to @\S+, @\S+$/),
      'made the issue confidential',
      'changed due date to January 2, 2030',
      'changed weight to **3**',
      'changed milestone to %"1.0"',
      'locked this issue',
    ])
    const [, { kind, changes }] = await events(world, id)
    expect(kind).toBe('issue_updated')
    expect(changes).toMatchObject({
      title: ['Something is wrong', 'Better'],
      confidential: [false, true],
      weight: [null, 3],
    })
    expect((await olga.get('/todos')).json).toMatchObject([{ target_type: 'Issue' }])
    const more = await rita.put(at, { add_labels: 'c', remove_labels: 'a', assignee_id: 0 })
    expect(more.json).toMatchObject({ labels: ['b', 'c'], assignees: [], assignee: null })
    const cleared = {
      labels: '',
      milestone_id: 0,
      description: null,
      due_date: null,
      weight: null,
      confidential: false,
    }
    expect((await rita.put(at, cleared)).json).toMatchObject({
      labels: [],
      milestone: null,
      description: null,
      due_date: null,
      weight: null,
      confidential: false,
    })
    expect((await systemNotes(rita, at)).slice(-5)).toEqual([
      'changed the description',
      'made the issue visible to everyone',
      'removed due date',
      'removed the weight',
      'removed milestone',
    ])
  })

  test('PUT without a difference writes nothing', async ({ world }) => {
    const { at, id, rita, record } = await opened(world)
    const same = await rita.put(at, { title: record.title, assignee_ids: [], labels: [], state_event: 'reopen' })
    expect(same).toMatchObject({ status: 200, json: { updated_at: record.updated_at } })
    expect(await systemNotes(rita, at)).toEqual([])
    expect(await events(world, id)).toHaveLength(1)
  })

  test('400 for an edit without attributes, or with an invalid title', async ({ world }) => {
    const { at, rita } = await opened(world)
    expect((await rita.put(at, {})).status).toBe(400)
    expect((await rita.put(at, { updated_at: '2020-01-01T00:00:00Z' })).status).toBe(400)
    expect(await rita.put(at, { title: '' })).toMatchObject({ status: 400, json: { error: 'title is empty' } })
    expect(await rita.put(at, { title: 'x'.repeat(256) })).toMatchObject({
      status: 400,
      json: { message: { title: ['is too long (maximum is 255 characters)'] } },
    })
  })

  test('D3-ISSUE-STATES D3-ISSUE-CLOSED-BY: an issue is closed and reopened, and names who closed it', async ({
    world,
  }) => {
    const { at, id, author, rita } = await opened(world)
    await rita.post(`${at}/todo`)
    const closed = (await rita.put(at, { state_event: 'close' })).json
    expect(closed).toMatchObject({ state: 'closed', closed_by: { id: rita.id }, closed_at: expect.any(String) })
    expect((await rita.get('/todos')).json).toEqual([])
    expect((await rita.put(at, { state_event: 'close' })).json).toEqual(closed)
    expect((await author.put(at, { state_event: 'reopen' })).json).toMatchObject({
      state: 'opened',
      closed_by: null,
      closed_at: null,
    })
    expect(await systemNotes(rita, at)).toEqual(['closed', 'reopened'])
    expect((await events(world, id)).map(({ kind }) => kind)).toEqual([
      'issue_opened',
      'issue_closed',
      'issue_reopened',
    ])
  })

  test('a closed issue stays closed while its discussion is locked', async ({ world }) => {
    const { at, rita } = await opened(world)
    await rita.put(at, { state_event: 'close', discussion_locked: true })
    expect(await rita.put(at, { state_event: 'reopen' })).toMatchObject({ status: 200, json: { state: 'closed' } })
    await rita.put(at, { discussion_locked: false })
    expect((await rita.put(at, { state_event: 'reopen' })).json.state).toBe('opened')
  })

  test('null clears the lock of the discussion of an issue, as it clears other attributes', async ({ world }) => {
    const { at, rita } = await opened(world)
    expect((await rita.put(at, { discussion_locked: true })).json.discussion_locked).toBe(true)
    expect(await rita.put(at, { discussion_locked: null })).toMatchObject({
      status: 200,
      json: { discussion_locked: null },
    })
    expect(await systemNotes(rita, at)).toEqual(['locked this issue', 'unlocked this issue'])
  })

  test.for([
    ['stays closed', true, 'closed'],
    ['is reopened', false, 'opened'],
  ] as const)(
    'a closed issue %s if the lock of its discussion becomes %s while the request to reopen it waits',
    async ([, locked, state], { world }) => {
      const { at, rita, project } = await opened(world)
      await rita.put(at, { state_event: 'close', discussion_locked: !locked })
      const { namespace } = (await world.root.get(`/projects/${project.id}`)).json
      const answer = await answerDuring(
        world,
        () => rita.put(at, { state_event: 'reopen', add_labels: 'bug' }),
        () => world.root.put(at, { discussion_locked: locked }),
        (tx) => lockRow(tx, 'namespaces', namespace.id),
      )
      expect(answer).toMatchObject({ status: 200, json: { state, labels: ['bug'] } })
    },
  )

  test('D3-ISSUE-ASSIGNEE-DEPRECATED: authors change texts, state and confidentiality; other attributes are ignored', async ({
    world,
  }) => {
    const { at, author, rita, stranger } = await opened(world)
    const changed = await author.put(at, {
      title: 'Mine',
      confidential: true,
      labels: 'x',
      assignee_id: rita.id,
      due_date: '2030-01-02',
      weight: 1,
      discussion_locked: true,
      created_at: '2001-01-01T00:00:00Z',
    })
    expect(changed).toMatchObject({
      status: 200,
      json: {
        title: 'Mine',
        confidential: true,
        labels: [],
        assignee: null,
        assignees: [],
        due_date: null,
        weight: null,
        discussion_locked: null,
        created_at: expect.not.stringMatching(/^2001/),
      },
    })
    const { assignee, assignees } = (await rita.put(at, { assignee_id: rita.id })).json
    expect(assignees).toEqual([assignee])
    expect((await stranger.put(at, { title: 'Theirs' })).status).toBe(404)
    await rita.put(at, { confidential: false })
    expect((await stranger.put(at, { title: 'Theirs' })).status).toBe(403)
  })

  test('owners set the times of an issue, which its notes and label events share', async ({ world }) => {
    const { at, olga, rita } = await opened(world)
    const times = { created_at: '2001-01-01T00:00:00.000Z', updated_at: '2002-02-02T00:00:00.000Z' }
    expect((await rita.put(at, { ...times, title: 'Now' })).json.updated_at).not.toBe(times.updated_at)
    expect((await olga.put(at, { ...times, title: 'Then', labels: 'bug', state_event: 'close' })).json).toMatchObject({
      ...times,
      closed_at: times.updated_at,
    })
    expect((await olga.get(`${at}/notes`)).json.map((note: any) => note.created_at)).toContain(times.updated_at)
    expect((await olga.get(`${at}/resource_label_events`)).json).toMatchObject([{ created_at: times.updated_at }])
  })

  test('assignees must be able to read issues of the project', async ({ world }) => {
    const { at, rita, stranger } = await opened(world, { visibility: 'private' })
    expect((await rita.put(at, { assignee_ids: [stranger.id, rita.id] })).json.assignees).toMatchObject([
      { id: rita.id },
    ])
  })

  test('an edit that names only users who cannot be assigned keeps the assignees', async ({ world }) => {
    const { at, rita, stranger } = await opened(world, { visibility: 'private' })
    await rita.put(at, { assignee_ids: [rita.id] })
    const edits = [
      { assignee_ids: [stranger.id, 999_999] },
      { assignee_ids: [0, stranger.id] },
      { assignee_id: stranger.id },
    ]
    for (const edit of edits)
      expect(await rita.put(at, edit), JSON.stringify(edit)).toMatchObject({
        status: 200,
        json: { assignees: [{ id: rita.id }] },
      })
    expect((await rita.put(at, { assignee_id: 0 })).json.assignees).toEqual([])
  })

  test('assignee_ids=0 unassigns all, and one ID needs no list', async ({ world }) => {
    const { at, rita, olga } = await opened(world)
    const assigned = async (ids: unknown) =>
      (await rita.put(at, { assignee_ids: ids })).json.assignees?.map(({ id }: { id: number }) => id)
    expect(await assigned([rita.id, olga.id])).toEqual([rita.id, olga.id])
    expect(await assigned(0)).toEqual([])
    expect(await assigned(String(olga.id))).toEqual([olga.id])
    expect(await assigned('0')).toEqual([])
  })

  test('an issue that becomes confidential disappears for users who cannot read it any longer', async ({ world }) => {
    const { at, rita, stranger, project } = await opened(world)
    await rita.put(at, { assignee_ids: [stranger.id] })
    await world.takeJobs('mail_named_users:%')
    await rita.put(at, { confidential: true, title: 'Whispered' })
    expect((await stranger.get(at)).json.title).toBe('Whispered')
    await rita.put(at, { assignee_ids: [] })
    expect((await stranger.get(at)).status).toBe(404)
    expect((await stranger.get('/todos')).json).toEqual([])
    for (const path of [
      '',
      '/participants',
      '/user_agent_detail',
      '/resource_state_events',
      '/resource_milestone_events',
    ])
      expect((await stranger.get(`${at}${path}`)).status, path).toBe(404)
    for (const path of ['/subscribe', '/unsubscribe', '/move', '/clone'])
      expect((await stranger.post(`${at}${path}`, { to_project_id: project.id })).status, path).toBe(404)
    expect((await stranger.delete(at)).status).toBe(404)
  })

  test('concurrent changes of labels all take effect', async ({ world }) => {
    const { at, rita } = await opened(world)
    const titles = Array.from({ length: 6 }, (_, index) => `label ${index}`)
    await Promise.all(titles.map((add_labels) => rita.put(at, { add_labels })))
    expect((await rita.get(at)).json.labels).toEqual(titles)
  })

  test.for([
    [{ confidential: true }, { confidential: true }],
    [{ state_event: 'close' }, { state: 'closed' }],
  ])('of edits, only some wait for changes of the project, among them %j', async ([edited, result], { world }) => {
    const { at, rita, project } = await opened(world)
    const later = await world.db.transaction(async (tx) => {
      await lockState(tx, project.id)
      const edit = { title: 'New', description: 'Text', weight: 3, due_date: '2031-01-01', confidential: false }
      expect(await rita.put(at, edit)).toMatchObject({ status: 200, json: { title: 'New' } })
      const waiting = rita.put(at, edited)
      await world.waitsForLock(1)
      return { waiting }
    })
    expect(await later.waiting).toMatchObject({ status: 200, json: result })
  })
})

describe('DELETE /projects/:id/issues/:issue_iid', () => {
  test('owners delete an issue with all that belongs to it', async ({ world }) => {
    const { at, olga, rita, author } = await opened(world, { labels: 'bug' })
    await rita.post(`${at}/notes`, { body: 'Why?' })
    for (const who of [rita, author]) expect((await who.delete(at)).status).toBe(403)
    expect(
      (await olga.send('DELETE', at, { headers: { 'if-unmodified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' } })).status,
    ).toBe(412)
    expect((await olga.delete(at)).status).toBe(204)
    expect(await olga.get(at)).toMatchObject({ status: 404, json: { message: '404 Not found' } })
    expect(await olga.delete(at)).toMatchObject({ status: 404, json: { message: '404 Issue Not Found' } })
  })
})

test('closeIssue closes an issue once, and none that is deleted', async ({ world }) => {
  const { id, project, at, rita } = await opened(world)
  const ctx = await world.app.open(null)
  const close = () => ctx.transaction((tx) => closeIssue(tx, id, rita.id))
  expect(await Promise.all([close(), close()])).toEqual(expect.arrayContaining([true, false]))
  expect((await rita.get(at)).json).toMatchObject({ state: 'closed', closed_by: { id: rita.id } })
  await deleteProject(world, { id: project.id })
  expect(await close()).toBe(false)
})
