import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { openIssue } from '../issues/testing.ts'

describe('quick actions of issues', () => {
  test('a due date in the year 0 sets none, as one that does not exist', async ({ world }) => {
    const { at } = await openIssue(world)
    for (const day of ['2030-02-30', '0000-01-01'])
      expect(await world.root.post(`${at}/notes`, { body: `/due ${day}` })).toMatchObject({
        status: 202,
        json: { commands_changes: {} },
      })
    expect((await world.root.get(at)).json.due_date).toBeNull()
  })

  test('400 for a text that is too long once quick actions are replaced by what they stand for', async ({ world }) => {
    const { at } = await openIssue(world)
    const body = '/shrug\n'.repeat(142_857)
    const tooLong = { status: 400, json: { message: expect.stringContaining('is too long') } }
    expect(await world.root.post(`${at}/notes`, { body })).toMatchObject(tooLong)
    expect(await world.root.post(`${at}/discussions`, { body })).toMatchObject(tooLong)
    expect((await world.root.get(`${at}/notes`)).json).toEqual([])
  })

  test('a note that consists of quick actions changes the issue and is not stored', async ({ world }) => {
    const [reporter, eve] = await Promise.all([world.user(), world.user()])
    const { project, at } = await openIssue(world, {
      members: [
        [reporter, 'reporter'],
        [eve, 'guest'],
      ],
    })
    await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#ff0000' })
    const body = `/label ~bug\n/assign @${eve.username}\n/due 2030-01-02\n/weight 5\n/confidential\n/estimate 1h\n/close`
    expect(await reporter.post(`${at}/notes`, { body })).toMatchObject({
      status: 202,
      json: {
        commands_changes: {
          add_labels: ['bug'],
          due_date: '2030-01-02',
          weight: 5,
          confidential: true,
          state_event: 'close',
        },
        summary: [
          'Added ~"bug" label.',
          `Assigned @${eve.username}.`,
          'Set the due date to 2030-01-02.',
          'Set weight to 5.',
          'Made this issue confidential.',
          'Set time estimate to 1h.',
          'Closed this issue.',
        ],
      },
    })
    expect((await eve.get(at)).json).toMatchObject({
      labels: ['bug'],
      assignees: [{ id: eve.id }],
      due_date: '2030-01-02',
      weight: 5,
      confidential: true,
      state: 'closed',
      time_stats: { time_estimate: 3600 },
      user_notes_count: 0,
    })
    expect(
      (
        await reporter.post(`${at}/notes`, {
          body: '/reopen\n/remove_due_date\n/clear_weight\n/unassign\n/relabel ~bug',
        })
      ).status,
    ).toBe(202)
    expect((await reporter.get(at)).json).toMatchObject({
      state: 'opened',
      due_date: null,
      weight: null,
      assignees: [],
      labels: ['bug'],
    })
    expect((await eve.get(at)).status).toBe(404)
  })

  test('an author without a role closes the issue, and cannot label, assign or date it', async ({ world }) => {
    const author = await world.user()
    const { project, at } = await openIssue(world, {
      author,
      description: 'Broken\n/label ~bug\n/due tomorrow\n/award :tada:',
    })
    await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#ff0000' })
    expect((await author.get(at)).json).toMatchObject({ description: 'Broken', labels: [], due_date: null })
    expect((await author.get(`${at}/award_emoji`)).json).toMatchObject([{ name: 'tada' }])
    expect(
      (await author.post(`${at}/notes`, { body: '/label ~bug\n/assign me\n/weight 1\n/lock\n/close' })).json.summary,
    ).toEqual([
      'Could not apply label command.',
      'Could not apply assign command.',
      'Could not apply weight command.',
      'Could not apply lock command.',
      'Closed this issue.',
    ])
    expect((await author.get(at)).json).toMatchObject({ state: 'closed', labels: [], assignees: [], weight: null })
  })

  test('an issue with /confidential in its description is never open to others', async ({ world }) => {
    const [author, eve] = await Promise.all([world.user(), world.user()])
    const { at, record } = await openIssue(world, {
      author,
      description: `@${eve.username} must not see\n/confidential`,
    })
    expect(record).toMatchObject({ confidential: true, description: `@${eve.username} must not see` })
    expect((await author.get(`${at}/notes`)).json).toEqual([])
    expect((await author.get(`${at}/participants`)).json).toMatchObject([{ id: author.id }])
    const open = await openIssue(world, { author })
    await author.put(open.at, { description: `Nor must @${eve.username} see this\n/confidential` })
    expect((await author.get(open.at)).json).toMatchObject({ confidential: true })
    expect((await author.get(`${open.at}/participants`)).json).toMatchObject([{ id: author.id }])
  })

  test('an issue moves by a quick action if the caller may move it', async ({ world }) => {
    const reporter = await world.user()
    const [closed, open] = await Promise.all([
      storedProject(world, { visibility: 'private' }),
      storedProject(world, { members: [[reporter, 'reporter']] }),
    ])
    const { at, project } = await openIssue(world, { members: [[reporter, 'reporter']] })
    const post = async (body: string) => (await reporter.post(`${at}/notes`, { body })).json.summary
    expect(await post(`/move ${closed.full_path}`)).toEqual(['Could not apply move command.'])
    expect(await post(`/move ${project.full_path}`)).toEqual(['Could not apply move command.'])
    expect(await post(`/move ${open.full_path}`)).toEqual([`Moved this issue to ${open.full_path}.`])
    expect((await reporter.get(at)).json).toMatchObject({ state: 'closed', moved_to_id: expect.any(Number) })
  })

  test('issues are related, blocked and marked as duplicates by quick actions, and metadata is copied', async ({
    world,
  }) => {
    const reporter = await world.user()
    const source = await openIssue(world, { members: [[reporter, 'reporter']], labels: 'bug' })
    const { project } = source
    const hidden = await openIssue(world, { visibility: 'private' })
    const { at, iid } = await openIssue(world, { project })
    const post = async (body: string) => (await reporter.post(`${at}/notes`, { body })).json.summary
    expect(
      await post(`/relate #${source.iid}\n/copy_metadata #${source.iid}\n/relate ${hidden.record.references.full}`),
    ).toEqual([
      `Marked this issue as related to #${source.iid}.`,
      `Copied labels and milestone from #${source.iid}.`,
      'Could not apply relate command.',
    ])
    expect((await reporter.get(at)).json.labels).toEqual(['bug'])
    expect((await reporter.get(`${source.at}/links`)).json).toMatchObject([{ iid, link_type: 'relates_to' }])
    expect(await post(`/duplicate #${source.iid}`)).toEqual([`Closed this issue as a duplicate of #${source.iid}.`])
    expect((await reporter.get(at)).json.state).toBe('closed')
    expect((await reporter.get(`${source.at}/notes`)).json).toContainEqual(
      expect.objectContaining({ system: true, body: `marked #${iid} as a duplicate of this issue` }),
    )
    expect(await post('/duplicate #999\n/relate nothing')).toEqual([
      'Could not apply duplicate command.',
      'Could not apply relate command.',
    ])
  })

  test('/relate of several issues links none of them if one is linked already', async ({ world }) => {
    const { at, project } = await openIssue(world)
    const [linked, free] = [await openIssue(world, { project }), await openIssue(world, { project })]
    const summaryOf = async (body: string) => (await world.root.post(`${at}/notes`, { body })).json.summary
    await summaryOf(`/relate #${linked.iid}`)
    expect(await summaryOf(`/relate #${free.iid} #${linked.iid}\n/due 2030-01-02`)).toEqual([
      'Could not apply relate command.',
      'Set the due date to 2030-01-02.',
    ])
    expect((await world.root.get(`${at}/links`)).json).toMatchObject([{ iid: linked.iid }])
    expect((await world.root.get(at)).json.due_date).toBe('2030-01-02')
    expect((await world.root.get(`${free.at}/notes`)).json).toEqual([])
  })

  test('/copy_metadata of an issue in another project copies labels and milestones of the same title only', async ({
    world,
  }) => {
    const { project, at } = await openIssue(world)
    const other = await openIssue(world, { labels: 'bug,foreign' })
    const milestone = async (projectId: number, title: string): Promise<number> =>
      (await world.root.post(`/projects/${projectId}/milestones`, { title })).json.id
    await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#ff0000' })
    await milestone(project.id, 'v1')
    const [shared, unshared] = [await milestone(other.project.id, 'v1'), await milestone(other.project.id, 'v9')]
    const copied = async (milestone_id: number) => {
      await world.root.put(other.at, { milestone_id })
      await world.root.post(`${at}/notes`, { body: `/copy_metadata ${other.record.references.full}` })
      const { labels, milestone } = (await world.root.get(at)).json
      return [labels, milestone?.title]
    }
    expect(await copied(shared)).toEqual([['bug'], 'v1'])
    expect(await copied(unshared)).toEqual([['bug'], 'v1'])
    const labels = (await world.root.get(`/projects/${project.id}/labels`)).json
    expect(labels.map(({ name }: any) => name)).toEqual(['bug'])
  })

  test('an issue that stays open because another quick action is refused is not marked as a duplicate', async ({
    world,
  }) => {
    const other = await openIssue(world)
    const { at } = await openIssue(world, { project: other.project })
    const body = `/duplicate #${other.record.iid}\n/title ${'x'.repeat(300)}`
    expect((await world.root.post(`${at}/notes`, { body })).json.summary).toEqual([
      'Could not apply duplicate command.',
      'Could not apply title command.',
    ])
    expect((await world.root.get(at)).json.state).toBe('opened')
    for (const each of [at, other.at]) expect((await world.root.get(`${each}/notes`)).json).toEqual([])
  })

  test('an issue is not marked as a duplicate of one on which the caller may not comment, which gets no note', async ({
    world,
  }) => {
    const eve = await world.user()
    const [locked, archived] = [
      await openIssue(world, { visibility: 'public' }),
      await openIssue(world, { visibility: 'public' }),
    ]
    await world.root.put(locked.at, { discussion_locked: true })
    await world.root.post(`/projects/${archived.project.id}/archive`)
    const { at } = await openIssue(world, { members: [[eve, 'reporter']] })
    for (const other of [locked, archived]) {
      expect(await eve.post(`${at}/notes`, { body: `/duplicate ${other.record.references.full}` })).toMatchObject({
        json: { commands_changes: {}, summary: ['Could not apply duplicate command.'] },
      })
      const notes = (await world.root.get(`${other.at}/notes`)).json
      expect(notes.filter(({ body }: { body: string }) => body.includes('duplicate'))).toEqual([])
    }
    expect((await eve.get(at)).json.state).toBe('opened')
  })
})
