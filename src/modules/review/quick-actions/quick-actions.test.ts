import { describe, expect } from 'vitest'
import { test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from '../merge-requests/testing.ts'

describe('quick actions of merge requests', () => {
  test('quick actions that add and remove the same take effect in their order', async ({ world }) => {
    const [dev, bob] = await Promise.all([world.user(), world.user()])
    const { project, at } = await openMergeRequest(world, {
      members: [
        [dev, 'developer'],
        [bob, 'developer'],
      ],
    })
    for (const name of ['bug', 'new'])
      await world.root.post(`/projects/${project.id}/labels`, { name, color: '#ff0000' })
    const state = async () => {
      const { assignees, reviewers, labels } = (await dev.get(at)).json
      return [assignees, reviewers].map((users) => users.map(({ id }: any) => id)).concat([labels])
    }
    const apply = async (...actions: string[]) => {
      expect((await dev.post(`${at}/notes`, { body: actions.join('\n') })).status).toBe(202)
      return state()
    }
    const name = `@${bob.username}`
    const added = [[bob.id], [bob.id], ['bug']]
    const [remove, add] = [
      [`/unassign ${name}`, `/unassign_reviewer ${name}`, '/unlabel ~bug'],
      [`/assign ${name}`, `/request_review ${name}`, '/label ~bug'],
    ]
    expect(await apply(...remove, ...add)).toEqual(added)
    expect(await apply(...add, ...remove)).toEqual([[], [], []])
    expect(await apply(...remove, ...add, ...remove)).toEqual([[], [], []])
    expect(await apply(...remove, `/reassign ${name}`, '/relabel ~bug', add[1]!)).toEqual(added)
    expect(await apply('/unassign', '/unassign_reviewer', '/unlabel', ...add)).toEqual(added)
    expect(await apply('/relabel ~new', '/unlabel ~new', '/label ~bug')).toEqual(added)
  })

  test('a note that consists of quick actions changes the merge request and is not stored', async ({ world }) => {
    const [dev, eve] = await Promise.all([world.user(), world.user()])
    const { project, at } = await openMergeRequest(world, {
      members: [
        [dev, 'developer'],
        [eve, 'developer'],
      ],
    })
    for (const name of ['bug', 'two words'])
      await world.root.post(`/projects/${project.id}/labels`, { name, color: '#ff0000' })
    await world.root.post(`/projects/${project.id}/milestones`, { title: 'v 1' })
    const body = [
      '/label ~bug ~"two words" ~missing',
      '/milestone %"v 1"',
      `/assign @${eve.username} me`,
      `/request_review @${eve.username}`,
      '/title Better',
      '/lock',
      '/estimate 1h 30m',
      '/spend 30m',
      '/award :tada:',
      '/subscribe',
      '/todo',
      '/draft',
    ].join('\n')
    expect(await dev.post(`${at}/notes`, { body })).toMatchObject({
      status: 202,
      json: {
        commands_changes: { title: 'Better', add_labels: ['bug', 'two words'], discussion_locked: true },
        summary: [
          'Added ~"bug" ~"two words" labels.',
          'Set the milestone to %"v 1".',
          expect.stringMatching(/^Assigned @\S+ and @\S+\.$/),
          `Requested a review from @${eve.username}.`,
          'Changed the title to "Better".',
          'Locked the discussion.',
          'Set time estimate to 1h 30m.',
          'Added 30m spent time.',
          'Toggled :tada: emoji award.',
          'Subscribed to this merge request.',
          'Added a to-do item.',
          'Marked this merge request as a draft.',
        ],
      },
    })
    expect((await dev.get(at)).json).toMatchObject({
      title: 'Draft: Better',
      labels: ['bug', 'two words'],
      milestone: { title: 'v 1' },
      reviewers: [{ id: eve.id }],
      discussion_locked: true,
      time_stats: { time_estimate: 5400, total_time_spent: 1800 },
      subscribed: true,
      draft: true,
      user_notes_count: 0,
    })
    expect((await dev.get(at)).json.assignees.map(({ id }: any) => id).sort()).toEqual([dev.id, eve.id].sort())
    expect((await dev.get('/todos')).json).toMatchObject([{ action_name: 'marked' }])
    expect((await dev.get(`${at}/award_emoji`)).json).toMatchObject([{ name: 'tada' }])

    const undone =
      '/unlabel ~bug\n/remove_milestone\n/unassign\n/unlock\n/ready\n/remove_estimate\n/remove_time_spent\n/award tada\n/done\n/unsubscribe\n/close'
    const second = await dev.post(`${at}/notes`, { body: `Enough.\n${undone}` })
    expect(second).toMatchObject({
      status: 201,
      json: { body: 'Enough.', summary: expect.arrayContaining(['Closed this merge request.']) },
    })
    expect((await dev.get(at)).json).toMatchObject({
      title: 'Better',
      state: 'closed',
      labels: ['two words'],
      milestone: null,
      assignees: [],
      discussion_locked: false,
      time_stats: { time_estimate: 0, total_time_spent: 0 },
      subscribed: false,
    })
    expect((await dev.get(`${at}/award_emoji`)).json).toEqual([])
    expect((await dev.get('/todos')).json).toEqual([])
  })

  test('quick actions replace and remove assignees, reviewers and labels by name, and subtract time', async ({
    world,
  }) => {
    const [dev, eve, joe] = await Promise.all([world.user(), world.user(), world.user()])
    const { project, at } = await openMergeRequest(world, {
      members: [
        [dev, 'developer'],
        [eve, 'developer'],
        [joe, 'developer'],
      ],
    })
    project.repository.commit({ c: 'c\n' }, { branch: 'stable' })
    for (const name of ['bug', 'wish', 'doc'])
      await world.root.post(`/projects/${project.id}/labels`, { name, color: '#ff0000' })
    const { id: milestone_id } = (await world.root.post(`/projects/${project.id}/milestones`, { title: 'v 1' })).json
    const labels = 'doc'
    const { iid } = (await world.root.post(`/projects/${project.id}/issues`, { title: 'x', labels, milestone_id })).json
    const act = async (...actions: string[]) => {
      const { status, json } = await dev.post(`${at}/notes`, { body: actions.join('\n') })
      return [status, ...json.summary]
    }
    const ids = (people: readonly { id: number }[]) => people.map(({ id }) => id).sort()
    await act(`/assign @${dev.username} @${eve.username}`, `/reviewer @${eve.username} @${joe.username}`, '/label ~bug')
    await act('/spend 1h', '/approve')
    expect(
      await act(
        `/unassign @${dev.username}`,
        `/unassign_reviewer @${joe.username}`,
        '/relabel ~wish',
        `/copy_metadata #${iid}`,
        '/spend -20m',
        '/unapprove',
        '/target_branch stable',
      ),
    ).toEqual([
      202,
      `Removed assignee @${dev.username}.`,
      `Removed the request to @${joe.username} to review.`,
      'Replaced all labels with ~"wish" label.',
      `Copied labels and milestone from #${iid}.`,
      'Subtracted 20m spent time.',
      'Unapproved the current merge request.',
      'Set target branch to stable.',
    ])
    const now = (await dev.get(at)).json
    expect(now).toMatchObject({
      labels: ['doc', 'wish'],
      milestone: { title: 'v 1' },
      target_branch: 'stable',
      time_stats: { total_time_spent: 2400 },
    })
    expect([ids(now.assignees), ids(now.reviewers)]).toEqual([[eve.id], [eve.id]])
    expect((await dev.get(`${at}/approvals`)).json.approved_by).toEqual([])
    expect(
      await act(`/reassign @${joe.username}`, '/remove_reviewer', '/spend -2h', '/unlabel ~none', '/approve now'),
    ).toEqual([
      202,
      `Changed assignees to @${joe.username}.`,
      'Removed all reviewers.',
      'Could not apply spend command.',
      'Could not apply unlabel command.',
      'Approved the current merge request.',
    ])
    const last = (await dev.get(at)).json
    expect([ids(last.assignees), ids(last.reviewers)]).toEqual([[joe.id], []])
  })

  test('/target_branch of a branch that does not exist changes nothing', async ({ world }) => {
    const { at } = await openMergeRequest(world)
    for (const branch of ['missing', '-x', 'refs/heads/main', '..'])
      expect((await world.root.post(`${at}/notes`, { body: `/target_branch ${branch}` })).json).toEqual({
        commands_changes: {},
        summary: ['Could not apply target_branch command.'],
      })
    expect((await world.root.get(at)).json.target_branch).toBe('main')
  })

  test('a reply that consists of quick actions is not stored, and the branch is rebased', async ({ world }) => {
    const { project, at, base } = await openMergeRequest(world)
    const moved = project.repository.commit({ c: 'c\n' }, { branch: 'main', parents: [base] })
    const { id } = (await world.root.post(`${at}/discussions`, { body: 'Old?' })).json
    expect(await world.root.post(`${at}/discussions/${id}/notes`, { body: '/rebase' })).toMatchObject({
      status: 202,
      json: { summary: ['Scheduled a rebase of branch topic.'] },
    })
    await world.runJobs()
    const parents = async () =>
      (await world.root.get(`/projects/${project.id}/repository/commits/topic`)).json.parent_ids
    await expect.poll(parents).toEqual([moved])
    expect((await world.root.get(`${at}/discussions/${id}/notes`)).json).toMatchObject([{ body: 'Old?' }])
  })

  test('a quick action that the caller may not take is reported and changes nothing, and the others are applied', async ({
    world,
  }) => {
    const [stranger, author] = await Promise.all([world.user(), world.user()])
    const { project, at } = await openMergeRequest(world)
    await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#ff0000' })
    const before = (await world.root.get(at)).json
    const body = '/close\n/label ~bug\n/approve\n/merge\n/title Mine\n/award tada\n/assign me\n/estimate 1h\n/lock'
    expect((await stranger.post(`${at}/notes`, { body })).json.summary).toEqual([
      'Could not apply close command.',
      'Could not apply label command.',
      'Could not apply approve command.',
      'Could not apply merge command.',
      'Could not apply title command.',
      'Toggled :tada: emoji award.',
      'Could not apply assign command.',
      'Could not apply estimate command.',
      'Could not apply lock command.',
    ])
    const after = (await world.root.get(at)).json
    expect({ ...after, updated_at: before.updated_at, subscribed: before.subscribed }).toEqual(before)
    expect((await author.post(`${at}/notes`, { body: '/nothing like that' })).status).toBe(201)
  })

  test('quick actions approve and merge', async ({ world }) => {
    const dev = await world.user()
    const { at } = await openMergeRequest(world, { members: [[dev, 'maintainer']] })
    expect(await dev.post(`${at}/discussions`, { body: '/approve\n/merge' })).toMatchObject({
      status: 202,
      json: { summary: ['Approved the current merge request.', 'Merged this merge request.'] },
    })
    expect((await dev.get(at)).json).toMatchObject({ state: 'merged' })
    expect((await dev.get(`${at}/approvals`)).json.approved_by).toMatchObject([{ user: { id: dev.id } }])
  })

  test('a merge that conflicts is reported, and the note and the other quick actions stay', async ({ world }) => {
    const { at, project } = await openMergeRequest(world, { files: { a: 'mine\n' } })
    project.repository.commit({ a: 'theirs\n' }, { branch: 'main' })
    const answer = await world.root.post(`${at}/notes`, { body: 'Now.\n/merge\n/title Better' })
    expect(answer).toMatchObject({
      status: 201,
      json: { body: 'Now.', summary: ['Could not apply merge command.', 'Changed the title to "Better".'] },
    })
    expect((await world.root.get(at)).json).toMatchObject({ title: 'Better', state: 'opened' })
  })

  test('a merge that the push rule refuses is reported, and the merge request has the reason', async ({ world }) => {
    const { at, project } = await openMergeRequest(world)
    project.repository.commit({ other: 'x' })
    await world.root.post(`/projects/${project.id}/push_rule`, { commit_message_regex: '^fix' })
    expect((await world.root.post(`${at}/notes`, { body: '/merge' })).json.summary).toEqual([
      'Could not apply merge command.',
    ])
    expect((await world.root.get(at)).json).toMatchObject({
      state: 'opened',
      merge_error: expect.stringContaining("does not follow the pattern '^fix'"),
    })
  })

  test('quick actions of a description are applied when it is created and changed, and are not stored', async ({
    world,
  }) => {
    const dev = await world.user()
    const project = await storedProject(world, { members: [[dev, 'developer']] })
    await world.root.post(`/projects/${project.id}/labels`, { name: 'bug', color: '#ff0000' })
    const { at, record } = await openMergeRequest(world, {
      project,
      author: dev,
      description: 'Text\n\n/label ~bug\n/assign me',
    })
    expect(record).toMatchObject({ description: 'Text', labels: ['bug'], assignees: [{ id: dev.id }] })
    expect((await dev.put(at, { description: '/unlabel\n/close' })).json).toMatchObject({
      description: '',
      labels: [],
      state: 'closed',
    })
  })

  test('quick actions of a description are left to those who may read what they create', async ({ world }) => {
    const guest = await world.user()
    const project = await storedProject(world, { visibility: 'private', members: [[guest, 'reporter']] })
    const { base } = await openMergeRequest(world, { project })
    const source = await forkOf(world, project, guest)
    await world.root.put(`/projects/${project.id}/members/${guest.id}`, { access_level: 10 })
    source.repository.commit({ c: 'c\n' }, { branch: 'theirs', parents: [base] })
    const made = await guest.post(`/projects/${source.id}/merge_requests`, {
      source_branch: 'theirs',
      target_branch: 'main',
      target_project_id: project.id,
      title: 'Merge theirs',
      description: 'Text\n/award tada',
    })
    expect(made).toMatchObject({ status: 201, json: { description: 'Text', state: 'opened' } })
    expect((await world.root.get(`/projects/${project.id}/merge_requests/${made.json.iid}/award_emoji`)).json).toEqual(
      [],
    )
  })
})
