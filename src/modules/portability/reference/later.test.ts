import { describe, expect } from 'vitest'
import { test, type World } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { at, code, imported, request, times } from './testing.ts'

const label = { title: 'bug', color: '#ff0000', type: 'ProjectLabel', ...times }
const milestone = { iid: 1, title: 'Soon', state: 'active', ...times }
const issue = { iid: 1, title: 'Issue', author_id: 11, state: 'opened', ...times }

/** A user who is a member in archives, with the id 11. */
async function member(world: World) {
  const ann = await world.user()
  const user = { id: 11, username: ann.username, email: `${ann.username}@example.com` }
  return { ann, project_members: [{ access_level: 30, user, ...times }] }
}

describe('records of archives of the reference product that not all releases have', () => {
  test('events of states and milestones of issues and merge requests are imported', async ({ world }) => {
    const { ann, project_members } = await member(world)
    const events = {
      resource_state_events: [{ user_id: 11, state: 'closed', created_at: at }],
      resource_milestone_events: [{ user_id: 11, action: 'add', milestone, created_at: at }],
      resource_label_events: [{ user_id: null, action: 'add', label, created_at: at }],
    }
    const get = await imported(world, {
      project_members,
      milestones: [milestone],
      issues: [{ ...issue, ...events }],
      merge_requests: [{ ...request, state: 'closed', ...events }],
    })
    for (const path of ['/issues/1', '/merge_requests/1']) {
      expect(await get(`${path}/resource_state_events`)).toMatchObject([{ state: 'closed', user: { id: ann.id } }])
      expect(await get(`${path}/resource_milestone_events`)).toMatchObject([
        { action: 'add', milestone: { title: 'Soon' }, user: { id: ann.id } },
      ])
      expect(await get(`${path}/resource_label_events`)).toMatchObject([
        { action: 'add', label: { name: 'bug' }, user: { id: get.importer.id } },
      ])
    }
  })

  test('spent times whose sum is out of bounds are shown as the nearest bound, and the lists are read', async ({
    world,
  }) => {
    const log = { user_id: null, created_at: at }
    const [most, more, less] = [2 ** 31 - 1, 60, -60].map((time_spent) => ({ ...log, time_spent }))
    const get = await imported(world, {
      issues: [
        { ...issue, timelogs: [most, more] },
        { ...issue, iid: 2, timelogs: [less] },
      ],
      merge_requests: [{ ...request, state: 'closed', timelogs: [most, most] }],
    })
    const spent = (total_time_spent: number) => ({ time_stats: { total_time_spent } })
    const read = (await get('/issues')).toSorted((a: { iid: number }, b: { iid: number }) => a.iid - b.iid)
    expect(read).toMatchObject([spent(most!.time_spent), spent(0)])
    expect(await get('/merge_requests?state=all')).toMatchObject([spent(most!.time_spent)])
    expect(await get('/issues/1/time_stats')).toMatchObject({ total_time_spent: most!.time_spent })
  })

  test('what a deleted account wrote is of the importer', async ({ world }) => {
    const by = { author_id: null, ...times }
    const note = { note: 'Text', system: false, ...by }
    const get = await imported(world, {
      issues: [
        {
          ...issue,
          ...by,
          notes: [{ ...note, author: { name: 'Gone Person' } }, note],
          timelogs: [{ time_spent: 60, user_id: null, created_at: at }],
          award_emoji: [{ name: 'tada', user_id: null, ...times }],
        },
      ],
      merge_requests: [{ ...request, ...by, state: 'closed' }],
      snippets: [{ title: 'A', content: 'x', file_name: 'x', visibility_level: 0, ...by }],
    })
    const author = { id: get.importer.id }
    expect(await get('/issues')).toMatchObject([{ author, time_stats: { total_time_spent: 60 } }])
    expect(await get('/merge_requests?state=all')).toMatchObject([{ author }])
    expect(await get('/snippets')).toMatchObject([{ author }])
    expect(await get('/issues/1/award_emoji')).toMatchObject([{ name: 'tada', user: author }])
    const bodies = (await get('/issues/1/notes')).map(({ body }: any) => body).sort()
    expect(bodies).toMatchObject([expect.stringContaining('*By Gone Person'), expect.stringContaining('*By a former')])
  })

  test('a merge request has its reviewers and approvals, and may be changed by those who merge', async ({ world }) => {
    const { ann, project_members } = await member(world)
    const get = await imported(world, {
      project_members,
      merge_requests: [
        {
          ...request,
          state: 'closed',
          source_project_id: 2,
          allow_maintainer_to_push: true,
          approvals_before_merge: 2,
          merge_request_reviewers: [{ user_id: 11 }],
          approvals: [{ user_id: 11, created_at: at }],
          merge_request_diff: { state: 'overflow_diff_files_limit', created_at: at },
        },
      ],
    })
    expect(await get('/merge_requests/1')).toMatchObject({
      reviewers: [{ id: ann.id }],
      allow_maintainer_to_push: true,
    })
    expect(await get('/merge_requests/1/approvals')).toMatchObject({
      approvals_required: 2,
      approved_by: [{ user: { id: ann.id } }],
    })
    expect(await get('/merge_requests/1/versions')).toMatchObject([{ state: 'overflow' }])
  })

  test('suggestions of a note are those of the lines around it', async ({ world }) => {
    const { head, base, bundle } = await code(world)
    const ends = { base_sha: base, start_sha: base, head_sha: head, old_path: 'a', new_path: 'a' }
    const position = { ...ends, position_type: 'text', old_line: null, new_line: 1 }
    const suggestion = { from_content: 'b\n', to_content: 'c\n', lines_above: 0, lines_below: 0, applied: false }
    const note = { note: '```suggestion\nc\n```', author_id: 11, type: 'DiffNote', system: false, ...times }
    const diff = { state: 'collected', head_commit_sha: head, base_commit_sha: base, start_commit_sha: base }
    const get = await imported(
      world,
      {
        merge_requests: [
          {
            ...request,
            merge_request_diff: { ...diff, created_at: at },
            notes: [
              {
                ...note,
                position: JSON.stringify({ ...position, new_line: 3 }),
                original_position: JSON.stringify(position),
                suggestions: [{ relative_order: 0, ...suggestion }],
              },
              { ...note, type: null, note: 'Without a line', suggestions: [suggestion] },
            ],
          },
        ],
      },
      {},
      [{ name: './project.bundle', content: bundle }],
    )
    const found = (await get('/merge_requests/1/notes')).flatMap(({ suggestions }: any) => suggestions ?? [])
    expect(found).toMatchObject([{ from_line: 3, to_line: 3, from_content: 'b\n', to_content: 'c\n', applied: false }])
    const mails = await mailsTo(world, `${get.importer.username}@example.com`)
    expect(mails.at(-1)!.body).toContain('merge_request_suggestions: 1')
  })

  test('comments of commits, which are in the pipelines, are imported once', async ({ world }) => {
    const { ann, project_members } = await member(world)
    const { head: sha, bundle } = await code(world)
    const notes = [
      { id: 1, note: 'On a commit', noteable_type: 'Commit', commit_id: sha, author_id: 11, system: false, ...times },
    ]
    const pipeline = { sha, ref: 'topic', tag: false, status: 'success', source: 'push', ...times, notes, stages: [] }
    const ci_pipelines = [
      { ...pipeline, iid: 1 },
      { ...pipeline, iid: 2 },
    ]
    const get = await imported(world, { project_members, ci_pipelines }, {}, [
      { name: './project.bundle', content: bundle },
    ])
    expect(await get(`/repository/commits/${sha}/comments`)).toMatchObject([
      { note: 'On a commit', author: { id: ann.id } },
    ])
  })

  test('settings of approvals, the push rule, custom attributes and protections are imported', async ({ world }) => {
    const get = await imported(world, {
      reset_approvals_on_push: false,
      merge_requests_author_approval: null,
      ci_cd_settings: { group_runners_enabled: true, default_git_depth: 7 },
      auto_cancel_pending_pipelines: 'disabled',
      push_rule: { deny_delete_tag: true, member_check: null, commit_message_regex: '^JIRA', ...times },
      custom_attributes: [{ key: 'team', value: 'blue', ...times }],
      protected_branches: [{ name: 'main', code_owner_approval_required: true, ...times }],
    })
    expect(await get('/approvals')).toMatchObject({
      reset_approvals_on_push: false,
      merge_requests_author_approval: false,
    })
    expect(await get('/push_rule')).toMatchObject({
      deny_delete_tag: true,
      member_check: false,
      commit_message_regex: '^JIRA',
      max_file_size: 0,
    })
    expect(await get('/custom_attributes')).toMatchObject([{ key: 'team', value: 'blue' }])
    expect(await get('/protected_branches')).toMatchObject([{ name: 'main', code_owner_approval_required: true }])
    expect(await get('')).toMatchObject({ ci_default_git_depth: 7, auto_cancel_pending_pipelines: 'disabled' })
    expect(await mailsTo(world, `${get.importer.username}@example.com`)).toEqual([])
  })

  test('relations of any other name, and what issues have that has no place, are counted', async ({ world }) => {
    const get = await imported(world, {
      tags: ['text'],
      feature_flags: [{ name: 'a' }, { name: 'b' }],
      protected_environments: [{ name: 'production' }],
      issues: [{ ...issue, designs: [{ filename: 'a.png' }], zoom_meetings: [{ url: 'x' }], sentry_issue: { id: 1 } }],
      releases: [
        { tag: 'v1', description: '', ...times, milestone_releases: [{ milestone: { ...milestone, group_id: 5 } }] },
      ],
    })
    expect(await get('/releases')).toMatchObject([{ milestones: [{ title: 'Soon' }] }])
    const { body } = (await mailsTo(world, `${get.importer.username}@example.com`)).at(-1)!
    for (const line of [
      'feature_flags: 2',
      'protected_environments: 1',
      'designs: 1',
      'zoom_meetings: 1',
      'sentry_issue: 1',
    ])
      expect(body).toContain(line)
    expect(body).not.toContain('tags')
  })

  test('custom attributes are imported by administrators only, and counted for others', async ({ world }) => {
    const get = await imported(world, { custom_attributes: [{ key: 'a', value: 'b' }] }, {}, [], { admin: false })
    const mails = await mailsTo(world, `${get.importer.username}@example.com`)
    expect(mails.at(-1)!.body).toContain('custom_attributes: 1')
  })

  test('values that are nested deeper than can be written are like any other that does not conform', async ({
    world,
  }) => {
    const marked = {
      issues: [{ ...issue, title: '@deep', state: '@deep', notes: '@deep', author_id: '@deep' }, issue],
      merge_requests: [
        {
          ...request,
          state: 'closed',
          merge_params: { force_remove_source_branch: '@deep' },
          diff_head_sha: '@deep',
          merge_request_diff: { state: '@deep', created_at: at },
          notes: [{ note: 'x', author_id: 1, suggestions: [{ lines_above: '@deep' }], ...times }],
        },
      ],
      snippets: [{ title: 'A', content: 'x', file_name: '@deep', visibility_level: '@deep', ...times }],
      ci_pipelines: [{ iid: '@deep', sha: '@deep', notes: [{ note: 'x', ...times }], ...times }],
      push_rule: { deny_delete_tag: '@deep', ...times },
      labels: [{ title: 'x', color: '@deep' }],
    }
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const get = await imported(world, marked, {}, [], { admin: true, replace: ['"@deep"', deep] })
    expect(await get('/issues')).toMatchObject([{ title: 'Issue' }])
    expect(await get('/merge_requests?state=all')).toHaveLength(1)
  })
})
