import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { git, temporaryFolder, test, unique } from '../../../../test/world.ts'
import { mailsTo } from '../../instance/mails/testing.ts'
import { at, code, imported, request, times } from './testing.ts'

describe('details of archives of the reference product', () => {
  test('a milestone of a group, which only its issues and merge requests have, is imported or adopted', async ({
    world,
  }) => {
    const own = { iid: 1, title: 'Own', state: 'active', ...times }
    const ofGroup = { id: 8, iid: 1, title: 'Of the group', state: 'closed', group_id: 5, project_id: null, ...times }
    const tree = {
      milestones: [own],
      issues: [
        { iid: 1, title: 'A', author_id: 11, state: 'opened', ...times, milestone: ofGroup },
        { iid: 2, title: 'B', author_id: 11, state: 'opened', ...times, milestone: own },
      ],
      merge_requests: [{ ...request, state: 'closed', milestone: ofGroup }],
    }
    const get = await imported(world, tree)
    expect(await get('/issues/1')).toMatchObject({ milestone: { title: 'Of the group', iid: 2, state: 'closed' } })
    expect(await get('/issues/2')).toMatchObject({ milestone: { title: 'Own', iid: 1 } })
    expect(await get('/merge_requests/1')).toMatchObject({ milestone: { title: 'Of the group' } })

    const group = (await world.root.post('/groups', { name: unique('group'), path: unique('group') })).json
    const { id } = (await world.root.post(`/groups/${group.id}/milestones`, { title: 'Of the group' })).json
    const within = await imported(world, tree, { namespace: group.full_path })
    expect(await within('/issues/1')).toMatchObject({ milestone: { id, group_id: group.id } })
    expect(await within('/milestones')).toMatchObject([{ title: 'Own' }])
  })

  test('a merge request of an older archive has its one assignee, and deletes its source branch as chosen', async ({
    world,
  }) => {
    const ann = await world.user()
    const { head, base, bundle } = await code(world)
    const diff = { state: 'collected', head_commit_sha: head, base_commit_sha: base, start_commit_sha: base }
    const tree = {
      project_members: [
        { access_level: 30, user: { id: 11, username: ann.username, email: `${ann.username}@example.com` }, ...times },
      ],
      merge_requests: [
        {
          ...request,
          assignee_id: 11,
          merge_params: { force_remove_source_branch: '1' },
          merge_request_diff: { ...diff, created_at: at },
        },
        { ...request, iid: 2, state: 'closed', assignee_id: 11, merge_request_assignees: [] },
      ],
    }
    const get = await imported(world, tree, {}, [{ name: './project.bundle', content: bundle }])
    expect(await get('/merge_requests/1')).toMatchObject({
      assignees: [{ id: ann.id }],
      force_remove_source_branch: true,
    })
    expect(await get('/merge_requests/2')).toMatchObject({ assignees: [], force_remove_source_branch: null })
  })

  test('large files and the avatar of a project are imported, from whatever folder', async ({ world }) => {
    const content = unique('large file')
    const oid = createHash('sha256').update(content).digest('hex')
    const picture = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.from(unique('picture'))])
    const get = await imported(world, {}, {}, [
      { name: `./lfs-objects/${oid}`, content },
      { name: './avatar/uploads/-/system/project/avatar/7/a.png', content: picture },
    ])
    const { avatar_url, statistics } = await get('?statistics=true')
    const answer = await fetch(avatar_url, { headers: { 'private-token': world.root.token! } })
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(picture)
    expect(statistics.lfs_objects_size).toBe(content.length)
  })

  test('settings that the reference product has in other places are those of the project', async ({ world }) => {
    const policy = {
      enabled: true,
      cadence: '14d',
      keep_n: 25,
      older_than: '30d',
      name_regex: 'old.*',
      next_run_at: at,
    }
    const get = await imported(world, {
      container_registry_enabled: false,
      build_allow_git_fetch: false,
      public_builds: false,
      auto_devops: { enabled: false, deploy_strategy: 'manual', ...times },
      container_expiration_policy: policy,
      ci_cd_settings: { group_runners_enabled: true },
    })
    expect(await get('')).toMatchObject({
      container_registry_enabled: false,
      build_git_strategy: 'clone',
      public_jobs: false,
      auto_devops_enabled: false,
      auto_devops_deploy_strategy: 'manual',
      container_expiration_policy: {
        enabled: true,
        cadence: '14d',
        keep_n: 25,
        older_than: '30d',
        name_regex: 'old.*',
      },
    })
  })

  test('a setting that is not possible here is left out alone', async ({ world }) => {
    const get = await imported(world, {
      only_allow_merge_if_pipeline_succeeds: true,
      merge_requests_ff_only_enabled: true,
      build_timeout: 2_629_000,
      container_expiration_policy: { enabled: true, keep_n: 7 },
    })
    expect(await get('')).toMatchObject({
      only_allow_merge_if_pipeline_succeeds: true,
      merge_method: 'ff',
      build_timeout: 3600,
      container_expiration_policy: { keep_n: 10 },
    })
  })

  test('the default branch is that of the bundle of git, whatever it is called', async ({ world }) => {
    await using work = await temporaryFolder()
    await git(work.path, 'init', '-q', '-b', 'master')
    await git(work.path, 'commit', '-q', '--allow-empty', '-m', 'first')
    await git(work.path, 'checkout', '-q', '-b', 'develop')
    await git(work.path, 'commit', '-q', '--allow-empty', '-m', 'second')
    await git(work.path, 'branch', 'a-feature', 'master')
    await git(work.path, 'bundle', 'create', '-q', 'all', '--all')
    const content = await readFile(join(work.path, 'all'))
    const get = await imported(world, {}, {}, [{ name: './project.bundle', content }])
    expect(await get('')).toMatchObject({ default_branch: 'develop' })
  })

  test('a member who is one of the group, too, is imported with the role in the project', async ({ world }) => {
    const ann = await world.user()
    const user = { id: 11, username: ann.username, email: `${ann.username}@example.com` }
    const get = await imported(world, {
      project_members: [
        { access_level: 30, source_type: 'Project', user, ...times },
        { access_level: 20, source_type: 'Namespace', user, ...times },
      ],
    })
    expect((await get('/members')).find(({ id }: any) => id === ann.id)).toMatchObject({ access_level: 30 })
  })

  test('of jobs of one name in a pipeline the last one counts, and pipelines without a number get free ones', async ({
    world,
  }) => {
    const { head: sha, bundle } = await code(world)
    const job = (status: string) => ({ name: 'unit', ref: 'main', status, stage: 'test', stage_idx: 0, created_at: at })
    const pipeline = { sha, ref: 'main', tag: false, status: 'success', source: 'push', ...times }
    const ci_pipelines = [
      { ...pipeline, stages: [{ name: 'test', statuses: [job('failed'), job('success')] }] },
      { ...pipeline, iid: 1, stages: [] },
      { ...pipeline, iid: 7, stages: [] },
    ]
    const get = await imported(world, { ci_pipelines }, {}, [{ name: './project.bundle', content: bundle }])
    expect((await get('/pipelines')).map(({ iid }: any) => iid)).toEqual([7, 2, 1])
    const statuses = async (query: string) =>
      (await get(`/repository/commits/${sha}/statuses${query}`)).map(({ status }: any) => status)
    expect(await statuses('')).toEqual(['success'])
    expect(await statuses('?all=true')).toEqual(['failed', 'success'])
  })

  test('access of a deploy key to a protected branch is not access of a role', async ({ world }) => {
    const access = [{ access_level: 0 }, { access_level: 40, deploy_key_id: 5 }]
    const get = await imported(world, { protected_branches: [{ name: 'main', ...times, push_access_levels: access }] })
    const [{ push_access_levels }] = await get('/protected_branches')
    expect(push_access_levels).toMatchObject([{ access_level: 0 }])
    expect(push_access_levels).toHaveLength(1)
  })

  test('records of old releases, which lack what was added later, are imported', async ({ world }) => {
    const { head, base, bundle } = await code(world)
    const label = { title: 'bug', color: '#ff0000', type: 'ProjectLabel', ...times }
    const note = { note: 'Text', author_id: 99, system: false, ...times }
    const issue = { title: 'Old', author_id: 99, ...times }
    const awards = [98, 99].map((user_id) => ({ name: 'thumbsup', user_id, ...times }))
    const position = { base_sha: base, start_sha: base, head_sha: head, old_path: 'a', new_path: 'a', new_line: 1 }
    const get = await imported(
      world,
      {
        labels: [label, { ...label, title: 'bug', type: 'GroupLabel' }, { ...label, title: 'short', color: '#f00' }],
        milestones: [
          { iid: 1, title: 'M', state: 'active', start_date: '2020-02-02', due_date: '2020-01-01', ...times },
        ],
        issues: [
          { ...issue, iid: 1, state: 'closed', award_emoji: awards, label_links: [{ label }, { label }] },
          { ...issue, iid: 2, state: 'opened', closed_at: at, closed_by_id: 99, time_estimate: null },
          {
            ...issue,
            iid: 3,
            state: 'opened',
            notes: [
              { ...note, resolved_at: at, type: 'DiscussionNote', award_emoji: awards },
              { ...note, note: null },
            ],
            timelogs: [{ time_spent: -60, user_id: 99, created_at: at }],
            issue_assignees: [{ user_id: 99 }, { user_id: 98 }],
          },
        ],
        merge_requests: [
          { ...request, state: 'merged' },
          { ...request, iid: 2, state: 'closed', source_project_id: 2, merge_request_diff: { state: 'timeout' } },
          { ...request, iid: 3, state: 'locked' },
          {
            ...request,
            iid: 4,
            source_project_id: 2,
            notes: [
              { ...note, type: 'DiffNote', position: JSON.stringify(position) },
              {
                ...note,
                type: 'DiffNote',
                position: JSON.stringify({ ...position, position_type: 'image', x: 1, y: 1 }),
              },
              { ...note, type: 'LegacyDiffNote', line_code: 'x', st_diff: {} },
            ],
          },
        ],
        releases: [
          { tag: 'v1', description: null, ...times },
          { tag: 'v2', name: 'x', author_id: null, links: [{ name: 'a', url: 'ftp://a' }], ...times },
        ],
        protected_branches: [
          { name: 'main', ...times, push_access_levels: [{ access_level: 40 }, { access_level: 40 }] },
        ],
        boards: [
          { name: 'Board', ...times, lists: [{ label, position: null, ...times }] },
          { name: 'Board', ...times },
        ],
        project_members: [{ access_level: 30, invite_email: 'a@example.com', user: null }],
      },
      {},
      [{ name: './project.bundle', content: bundle }],
    )
    const states = async (path: string) => (await get(path)).map(({ iid, state }: any) => [iid, state])
    expect((await states('/issues')).sort()).toEqual([
      [1, 'closed'],
      [2, 'opened'],
      [3, 'opened'],
    ])
    // The fourth comes from a branch of the same name as the third.
    expect((await states('/merge_requests?state=all')).sort()).toEqual([
      [1, 'merged'],
      [2, 'closed'],
      [3, 'opened'],
      [4, 'closed'],
    ])
    expect(await get('/issues/3/notes')).toMatchObject([{ body: expect.stringContaining('Text') }])
    expect((await get('/merge_requests/4/notes')).map(({ type }: any) => type)).toHaveLength(3)
  })

  test('lists of a board are those of labels, milestones and people, and those without are counted', async ({
    world,
  }) => {
    const ann = await world.user()
    const milestone = { iid: 1, title: 'Soon', state: 'active', ...times }
    const label = { title: 'bug', color: '#F0a', type: 'ProjectLabel', ...times }
    const get = await imported(world, {
      labels: [label],
      milestones: [milestone],
      project_members: [
        { access_level: 30, user: { id: 11, username: ann.username, email: `${ann.username}@example.com` }, ...times },
      ],
      boards: [
        {
          name: 'Board',
          milestone,
          hide_backlog_list: true,
          ...times,
          lists: [
            { list_type: 'backlog', ...times },
            { list_type: 'label', label, position: 0, max_issue_count: 3, ...times },
            { list_type: 'milestone', milestone, position: 1, ...times },
            { list_type: 'assignee', user_id: 11, position: 2, ...times },
            { list_type: 'label', label: { title: 'odd', color: 'red', ...times }, position: 3, ...times },
          ],
        },
      ],
    })
    expect(await get('/labels')).toMatchObject([{ name: 'bug', color: '#FF00aa' }])
    const [board] = await get('/boards')
    expect(board).toMatchObject({ name: 'Board', milestone: { title: 'Soon' }, hide_backlog_list: true })
    expect(board.lists).toMatchObject([
      { label: { name: 'bug' }, max_issue_count: 3 },
      { milestone: { title: 'Soon' } },
      { assignee: { id: ann.id } },
    ])
    expect(board.lists).toHaveLength(3)
    const mails = await mailsTo(world, `${get.importer.username}@example.com`)
    expect(mails.at(-1)!.body).toContain('board_lists: 1')
  })

  test('a snippet has the files of its repository, or one file with a name that git accepts', async ({ world }) => {
    await using work = await temporaryFolder()
    await git(work.path, 'init', '-q', '-b', 'master')
    await writeFile(join(work.path, 'b'), 'second')
    await writeFile(join(work.path, 'a'), 'first')
    await git(work.path, 'add', '.')
    await git(work.path, 'commit', '-q', '-m', 'files')
    await git(work.path, 'bundle', 'create', '-q', 'all', '--all')
    const content = await readFile(join(work.path, 'all'))
    const name = createHash('sha256').update('SeveralFiles2019-06-07 08:00:00 UTC2019-06-07 08:00:00 UTC').digest('hex')
    const snippet = { title: 'One', content: 'x', visibility_level: 0, author_id: 11, ...times }
    const names = ['.git/config', '.gitmodules', null, 'folder/a.txt', '']
    const snippets = [
      { ...snippet, title: 'Several', description: 'Files', file_name: 'a', content: 'first' },
      ...names.map((file_name) => ({ ...snippet, content: '[submodule "a"]\n\turl = -x\n\tpath = -x\n', file_name })),
    ]
    const get = await imported(world, { snippets }, {}, [{ name: `./snippets/${name}.bundle`, content }])
    const found = (await get('/snippets')).sort((a: any, b: any) => a.id - b.id)
    expect(found.map(({ files }: any) => files.map(({ path }: any) => path))).toEqual([
      ['a', 'b'],
      ['snippetfile1.txt'],
      ['snippetfile1.txt'],
      ['snippetfile1.txt'],
      ['folder/a.txt'],
      ['snippetfile1.txt'],
    ])
  })

  test('a merge request from a fork gets its branch at its head also if the bundle has no ref of it', async ({
    world,
  }) => {
    await using work = await temporaryFolder()
    await git(work.path, 'init', '-q', '-b', 'main')
    const commit = async (message: string) => {
      await git(work.path, 'commit', '-q', '--allow-empty', '-m', message)
      return (await git(work.path, 'rev-parse', 'HEAD')).trim()
    }
    const [first, second] = [await commit('first'), await commit('second')]
    await git(work.path, 'bundle', 'create', '-q', 'all', '--all')
    const content = await readFile(join(work.path, 'all'))
    const fork = { ...request, source_project_id: 2 }
    const get = await imported(
      world,
      {
        merge_requests: [
          { ...fork, source_branch: 'from-head', diff_head_sha: first },
          { ...fork, iid: 2, source_branch: 'from-source', diff_head_sha: 'f'.repeat(40), source_branch_sha: second },
          { ...fork, iid: 3, source_branch: 'unknown', diff_head_sha: 'f'.repeat(40) },
          { ...fork, iid: 4, source_branch: 'closed', state: 'closed', diff_head_sha: first },
        ],
      },
      {},
      [{ name: './project.bundle', content }],
    )
    expect((await get('/repository/branches')).map(({ name, commit }: any) => [name, commit.id])).toEqual([
      ['from-head', first],
      ['from-source', second],
      ['main', second],
    ])
  })
})
