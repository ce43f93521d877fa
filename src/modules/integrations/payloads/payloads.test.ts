import { describe, expect } from 'vitest'
import { HookReceiver, type Received } from '../../../../test/hook-receiver.ts'
import {
  type Client,
  git,
  type TestProject,
  temporaryFolder,
  test,
  unique,
  type World,
} from '../../../../test/world.ts'

const oid = expect.stringMatching(/^[0-9a-f]{40}$/)
const nullOid = '0'.repeat(40)
const text = expect.any(String)
const number = expect.any(Number)
const time = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)

const flags = [
  'push_events',
  'tag_push_events',
  'issues_events',
  'confidential_issues_events',
  'note_events',
  'confidential_note_events',
  'merge_requests_events',
  'job_events',
  'pipeline_events',
  'wiki_page_events',
  'releases_events',
] as const

const allFlags = Object.fromEntries(flags.map((flag) => [flag, true]))

/** Block P of the supplement, "Shared blocks". */
const currentProject = {
  id: number,
  name: text,
  description: text,
  web_url: text,
  avatar_url: null,
  git_ssh_url: text,
  git_http_url: text,
  namespace: text,
  visibility_level: 0,
  path_with_namespace: text,
  default_branch: expect.toBeOneOf([null, 'main']),
  ci_config_path: null,
}
const projectBlock = { ...currentProject, homepage: text, url: text, ssh_url: text, http_url: text }
const repositoryBlock = { name: text, url: text, description: text, homepage: text }
const longRepositoryBlock = { ...repositoryBlock, git_http_url: text, git_ssh_url: text, visibility_level: 0 }
const userBlock = { id: number, name: text, username: text, avatar_url: expect.toBeOneOf([null, text]), email: '' }
const commitBlock = {
  id: oid,
  message: text,
  title: text,
  timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  url: text,
  author: { name: 'Test Author', email: 'author@example.com' },
}
const labelBlock = {
  id: number,
  title: text,
  color: text,
  project_id: number,
  created_at: time,
  updated_at: time,
  template: false,
  description: null,
  type: 'ProjectLabel',
  group_id: null,
}
const issueAttributes = {
  author_id: number,
  closed_at: null,
  confidential: false,
  created_at: time,
  description: expect.toBeOneOf([null, text]),
  discussion_locked: expect.toBeOneOf([null, false]),
  due_date: null,
  id: number,
  iid: number,
  last_edited_at: null,
  last_edited_by_id: null,
  milestone_id: null,
  moved_to_id: null,
  duplicated_to_id: null,
  project_id: number,
  relative_position: expect.toBeOneOf([null, number]),
  state_id: 1,
  time_estimate: 0,
  title: text,
  updated_at: time,
  updated_by_id: null,
  weight: null,
  url: text,
  total_time_spent: 0,
  human_total_time_spent: null,
  human_time_estimate: null,
  assignee_ids: [],
  assignee_id: null,
  labels: [],
  state: 'opened',
}
const mergeRequestAttributes = {
  assignee_id: null,
  author_id: number,
  created_at: time,
  description: expect.toBeOneOf([null, text]),
  head_pipeline_id: null,
  id: number,
  iid: 1,
  last_edited_at: null,
  last_edited_by_id: null,
  merge_commit_sha: null,
  merge_error: null,
  merge_params: { force_remove_source_branch: '1' },
  merge_status: text,
  merge_user_id: null,
  merge_when_pipeline_succeeds: false,
  milestone_id: null,
  source_branch: 'topic',
  source_project_id: number,
  state_id: 1,
  target_branch: 'main',
  target_project_id: number,
  time_estimate: 0,
  title: text,
  updated_at: time,
  updated_by_id: null,
  url: text,
  source: projectBlock,
  target: projectBlock,
  last_commit: commitBlock,
  work_in_progress: false,
  total_time_spent: 0,
  human_total_time_spent: null,
  human_time_estimate: null,
  assignee_ids: [],
  state: 'opened',
}
const noteAttributes = {
  attachment: null,
  author_id: number,
  change_position: null,
  commit_id: null,
  created_at: time,
  discussion_id: expect.toBeOneOf([null, text]),
  id: number,
  line_code: null,
  note: text,
  noteable_id: number,
  noteable_type: text,
  original_position: null,
  position: null,
  project_id: number,
  resolved_at: null,
  resolved_by_id: null,
  resolved_by_push: null,
  st_diff: null,
  system: false,
  type: null,
  updated_at: time,
  updated_by_id: null,
  description: text,
  url: text,
}

type Hooked = { receiver: HookReceiver; project: TestProject; hookId: number; hooks: string } & AsyncDisposable

/** A project with a hook for all events; jobs run until the end of the test. */
async function hooked(world: World, more: object = allFlags): Promise<Hooked> {
  await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
  const [receiver, project] = [await HookReceiver.start(), await world.project()]
  const hooks = `/projects/${project.id}/hooks`
  const made = await world.root.post(hooks, { url: receiver.url, token: 'sesame', ...more })
  expect(made.status).toBe(201)
  await world.runJobs()
  const dispose = () => receiver[Symbol.asyncDispose]()
  return { receiver, project, hookId: made.json.id, hooks, [Symbol.asyncDispose]: dispose }
}

const ofKind = (kind: string, action?: string) => (received: Received) =>
  received.json.object_kind === kind && (action === undefined || received.json.object_attributes?.action === action)

async function withContent(world: World, project: TestProject, who: Client = world.root) {
  await using work = await temporaryFolder()
  const run = (...args: string[]) => git(work.path, ...args)
  await run('init', '-q', '-b', 'main')
  await run('commit', '-q', '--allow-empty', '-m', 'first')
  await run('push', '-q', world.remote(project, who), 'main')
  await run('checkout', '-q', '-b', 'topic')
  await run('commit', '-q', '--allow-empty', '-m', 'topic')
  await run('push', '-q', world.remote(project, who), 'topic')
}

const commitTo = (world: World, { id }: { id: number }, branch: string, actions: readonly object[], more = {}) =>
  world.root.post(`/projects/${id}/repository/commits`, { branch, commit_message: 'Change files', actions, ...more })

describe('payloads', () => {
  test('D2-HOOK-TOKEN-VALIDATES: a push has all keys, the token, the ids and a signature of the body', async ({
    world,
  }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await commitTo(world, project, 'main', [
      { action: 'create', file_path: 'a.txt', content: 'a' },
      { action: 'create', file_path: 'b.txt', content: 'b\nc\nd\ne\n' },
    ])
    await commitTo(world, project, 'main', [
      { action: 'update', file_path: 'a.txt', content: 'aa' },
      { action: 'move', file_path: 'c.txt', previous_path: 'b.txt' },
    ])
    const { json, headers, text: body } = await receiver.request(({ json }) => json.before !== nullOid)
    expect(json).toEqual({
      object_kind: 'push',
      event_name: 'push',
      before: oid,
      after: oid,
      ref: 'refs/heads/main',
      checkout_sha: json.after,
      message: null,
      user_id: 1,
      user_name: text,
      user_username: 'root',
      user_email: '',
      user_avatar: expect.toBeOneOf([null, text]),
      project_id: project.id,
      project: { ...projectBlock, default_branch: 'main' },
      commits: [
        {
          ...commitBlock,
          author: { name: text, email: text },
          message: 'Change files',
          added: ['c.txt'],
          modified: ['a.txt'],
          removed: ['b.txt'],
        },
      ],
      total_commits_count: 1,
      push_options: {},
      repository: longRepositoryBlock,
    })
    const signed = `sha256=${(await import('node:crypto')).createHmac('sha256', 'sesame').update(body).digest('hex')}`
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Stithy\//),
      'x-hub-signature-256': signed,
      'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
    for (const family of ['x-service', 'x-gitlab'])
      expect(headers).toMatchObject({
        [`${family}-event`]: 'Push Hook',
        [`${family}-token`]: 'sesame',
        [`${family}-signature-256`]: signed,
        [`${family}-event-uuid`]: expect.stringMatching(/^[0-9a-f-]{36}$/),
        [`${family}-instance`]: world.origin,
      })
  })

  test('creation and deletion of branches and tags are pushes from and to zeros', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    const at = `/projects/${project.id}/repository`
    const first = (await receiver.request(({ json }) => json.ref === 'refs/heads/main')).json
    expect(first).toMatchObject({ before: nullOid, total_commits_count: 1, commits: [{ message: 'first\n' }] })
    const topic = (await receiver.request(({ json }) => json.ref === 'refs/heads/topic')).json
    expect(topic).toMatchObject({ before: nullOid, total_commits_count: 1, commits: [{ message: 'topic\n' }] })
    await world.root.post(`${at}/tags`, { tag_name: 'light', ref: 'main' })
    await world.root.post(`${at}/tags`, { tag_name: 'v1', ref: 'main', message: 'Version 1' })
    const light = (await receiver.request(({ json }) => json.ref === 'refs/tags/light')).json
    expect(light).toMatchObject({ object_kind: 'tag_push', checkout_sha: first.after, message: '', after: first.after })
    const tag = await receiver.request(({ json }) => json.ref === 'refs/tags/v1')
    expect(tag.headers['x-service-event']).toBe('Tag Push Hook')
    expect(tag.json).toMatchObject({
      object_kind: 'tag_push',
      event_name: 'tag_push',
      before: nullOid,
      checkout_sha: first.after,
      message: 'Version 1',
      commits: [{ id: first.after }],
      total_commits_count: 1,
    })
    expect(tag.json.after).not.toBe(first.after)
    await world.root.delete(`${at}/branches/topic`)
    await world.root.delete(`${at}/tags/v1`)
    const branchGone = (await receiver.request(({ json }) => json.ref === topic.ref && json.after === nullOid)).json
    expect(branchGone).toMatchObject({ before: topic.after, checkout_sha: null, commits: [], total_commits_count: 0 })
    const tagGone = (await receiver.request(({ json }) => json.ref === tag.json.ref && json.after === nullOid)).json
    expect(tagGone).toMatchObject({ object_kind: 'tag_push', checkout_sha: null, commits: [], message: '' })
  })

  test('an issue has all keys, its action, and its changes as they were, whatever follows', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    const at = `/projects/${project.id}`
    await world.root.post(`${at}/labels`, { name: 'bug', color: '#ff0000' })
    const issue = (await world.root.post(`${at}/issues`, { title: 'Broken', description: 'It is broken' })).json
    await world.root.put(`${at}/issues/${issue.iid}`, { title: 'Broken pipe', labels: 'bug', assignee_ids: [1] })
    await world.root.put(`${at}/issues/${issue.iid}`, { state_event: 'close' })
    await world.root.put(`${at}/issues/${issue.iid}`, { state_event: 'reopen' })
    const opened = await receiver.request(ofKind('issue', 'open'))
    expect(opened.headers['x-gitlab-event']).toBe('Issue Hook')
    expect(opened.json).toEqual({
      object_kind: 'issue',
      event_type: 'issue',
      user: { ...userBlock, username: 'root' },
      project: projectBlock,
      object_attributes: {
        ...issueAttributes,
        title: 'Broken',
        description: 'It is broken',
        action: 'open',
        url: `${world.origin}/${project.full_path}/-/issues/1`,
      },
      labels: [],
      changes: {},
      repository: repositoryBlock,
    })
    const updated = (await receiver.request(ofKind('issue', 'update'))).json
    expect(updated).toMatchObject({
      object_attributes: { title: 'Broken pipe', assignee_id: 1, state: 'opened', state_id: 1 },
      labels: [{ ...labelBlock, title: 'bug' }],
      assignees: [{ ...userBlock, username: 'root' }],
      changes: {
        title: { previous: 'Broken', current: 'Broken pipe' },
        labels: { previous: [], current: [{ ...labelBlock, title: 'bug' }] },
        assignees: { previous: [], current: [{ username: 'root' }] },
      },
    })
    const closed = (await receiver.request(ofKind('issue', 'close'))).json
    expect(closed).toMatchObject({
      object_attributes: { state: 'closed', state_id: 2, closed_at: time },
      changes: { state_id: { previous: 1, current: 2 } },
    })
    const reopened = (await receiver.request(ofKind('issue', 'reopen'))).json
    expect(reopened.object_attributes).toMatchObject({ state: 'opened', closed_at: null })
    expect(receiver.received.map(({ json }) => json.object_attributes.action)).toEqual([
      'open',
      'update',
      'close',
      'reopen',
    ])
  })

  test('a confidential issue is sent only to hooks with the flag, also when it turns confidential', async ({
    world,
  }) => {
    await using open = await hooked(world, { push_events: false, issues_events: true, note_events: true })
    const { project } = open
    await using receiver = await HookReceiver.start()
    const secretFlags = { push_events: false, confidential_issues_events: true, confidential_note_events: true }
    await world.root.post(open.hooks, { url: receiver.url, ...secretFlags })
    const at = `/projects/${project.id}/issues`
    const issue = (await world.root.post(at, { title: 'Open' })).json
    // Later it would be confidential by the time it is sent.
    await open.receiver.request(ofKind('issue', 'open'))
    await world.root.put(`${at}/${issue.iid}`, { confidential: true })
    await world.root.post(`${at}/${issue.iid}/notes`, { body: 'Hidden' })
    await world.root.put(`${at}/${issue.iid}`, { confidential: false })
    await open.receiver.request(ofKind('issue', 'update'))
    const hidden = await receiver.request(ofKind('issue', 'update'))
    expect(hidden.headers['x-service-event']).toBe('Confidential Issue Hook')
    expect(hidden.json).toMatchObject({ event_type: 'confidential_issue', object_attributes: { confidential: true } })
    const note = await receiver.request(ofKind('note'))
    expect(note.headers['x-service-event']).toBe('Confidential Note Hook')
    expect(note.json.event_type).toBe('confidential_note')
    expect(open.receiver.received.map(({ json }) => json.changes?.confidential)).toEqual([
      undefined,
      { previous: true, current: false },
    ])
  })

  test('notes on issues, merge requests, commits and snippets have all keys, with what they are about', async ({
    world,
  }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    const at = `/projects/${project.id}`
    await withContent(world, project)
    const issue = (await world.root.post(`${at}/issues`, { title: 'Issue' })).json
    await world.root.post(`${at}/issues/${issue.iid}/notes`, { body: 'On the issue' })
    const input = { source_branch: 'topic', target_branch: 'main', title: 'Merge me' }
    const mr = (await world.root.post(`${at}/merge_requests`, input)).json
    await world.root.post(`${at}/merge_requests/${mr.iid}/notes`, { body: 'On the merge request' })
    await world.root.post(`${at}/repository/commits/main/comments`, { note: 'On the commit' })
    const file = { file_name: 'a.txt', content: 'Some text' }
    const written = { title: 'Snippet', ...file, description: 'What it is', visibility: 'internal' }
    const { id: snippetId } = (await world.root.post(`${at}/snippets`, written)).json
    await world.root.post(`${at}/snippets/${snippetId}/notes`, { body: 'On the snippet' })
    const on = async (type: string) =>
      (await receiver.request(({ json }) => json.object_attributes?.noteable_type === type)).json
    const shared = {
      object_kind: 'note',
      event_type: 'note',
      user: userBlock,
      project_id: project.id,
      project: projectBlock,
      repository: repositoryBlock,
    }
    const about = (noteable_type: string, note: string, more = {}) => ({
      ...noteAttributes,
      noteable_type,
      note,
      description: note,
      ...more,
    })
    expect(await on('Issue')).toEqual({
      ...shared,
      object_attributes: about('Issue', 'On the issue', { url: expect.stringMatching(/\/-\/issues\/1#note_\d+$/) }),
      issue: { ...issueAttributes, labels: [] },
    })
    expect(await on('MergeRequest')).toEqual({
      ...shared,
      object_attributes: about('MergeRequest', 'On the merge request'),
      merge_request: mergeRequestAttributes,
    })
    expect(await on('Commit')).toEqual({
      ...shared,
      object_attributes: about('Commit', 'On the commit', { noteable_id: null, commit_id: oid }),
      commit: { ...commitBlock, message: 'first\n' },
    })
    expect(await on('Snippet')).toEqual({
      ...shared,
      object_attributes: about('Snippet', 'On the snippet', { noteable_id: snippetId }),
      snippet: {
        ...file,
        id: snippetId,
        title: 'Snippet',
        author_id: world.root.id,
        project_id: project.id,
        created_at: text,
        updated_at: text,
        type: 'ProjectSnippet',
        visibility_level: 10,
        description: 'What it is',
      },
    })
  })

  test('a merge request has all keys, its action, and the previous head after a push', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    const at = `/projects/${project.id}`
    await withContent(world, project)
    const input = { source_branch: 'topic', target_branch: 'main', title: 'Merge me' }
    const mr = (await world.root.post(`${at}/merge_requests`, input)).json
    const opened = await receiver.request(ofKind('merge_request', 'open'))
    expect(opened.headers['x-service-event']).toBe('Merge Request Hook')
    expect(opened.json).toEqual({
      object_kind: 'merge_request',
      event_type: 'merge_request',
      user: userBlock,
      project: projectBlock,
      object_attributes: { ...mergeRequestAttributes, title: 'Merge me', action: 'open' },
      labels: [],
      changes: {},
      repository: repositoryBlock,
    })
    await commitTo(world, project, 'topic', [{ action: 'create', file_path: 'x', content: 'x' }])
    const pushed = (await receiver.request(({ json }) => json.object_attributes?.oldrev !== undefined)).json
    expect(pushed.object_attributes).toMatchObject({ action: 'update', oldrev: mr.sha })
    expect(pushed.object_attributes.last_commit.id).not.toBe(mr.sha)
    await world.root.put(`${at}/merge_requests/${mr.iid}`, { title: 'Merge it' })
    const edited = await receiver.request(({ json }) => json.changes?.title !== undefined)
    expect(edited.json.changes.title).toEqual({ previous: 'Merge me', current: 'Merge it' })
    const ann = await world.user()
    await world.root.post(`${at}/members`, { user_id: ann.id, access_level: 40 })
    await ann.post(`${at}/merge_requests/${mr.iid}/approve`)
    await receiver.request(ofKind('merge_request', 'approved'))
    await ann.post(`${at}/merge_requests/${mr.iid}/unapprove`)
    await receiver.request(ofKind('merge_request', 'unapproved'))
    expect((await world.root.put(`${at}/merge_requests/${mr.iid}/merge`)).status).toBe(200)
    const merged = (await receiver.request(ofKind('merge_request', 'merge'))).json
    expect(merged.object_attributes).toMatchObject({ state: 'merged', state_id: 3, merge_user_id: 1 })
  })

  test('pipelines and jobs have all keys, with the status of the event', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    for (const state of ['running', 'success'])
      await world.root.post(`/projects/${project.id}/statuses/main`.replace('main', await tipOf(world, project)), {
        state,
        name: 'build',
      })
    const pipeline = await receiver.request(({ json }) => json.object_attributes?.status === 'success')
    expect(pipeline.headers['x-service-event']).toBe('Pipeline Hook')
    expect(pipeline.json).toEqual({
      object_kind: 'pipeline',
      object_attributes: {
        id: number,
        ref: 'main',
        tag: false,
        sha: oid,
        before_sha: nullOid,
        source: 'external',
        status: 'success',
        detailed_status: 'passed',
        stages: ['external'],
        created_at: time,
        finished_at: time,
        duration: number,
        variables: [],
      },
      merge_request: null,
      user: userBlock,
      project: currentProject,
      commit: commitBlock,
      builds: [],
    })
    const job = await receiver.request(({ json }) => json.build_status === 'running')
    expect(job.headers['x-service-event']).toBe('Job Hook')
    expect(job.json).toEqual({
      object_kind: 'build',
      ref: 'main',
      tag: false,
      before_sha: nullOid,
      sha: oid,
      build_id: number,
      build_name: 'build',
      build_stage: 'external',
      build_status: 'running',
      build_started_at: time,
      build_finished_at: null,
      build_duration: null,
      build_allow_failure: false,
      build_failure_reason: 'unknown_failure',
      pipeline_id: number,
      project_id: project.id,
      project_name: text,
      user: { id: 1, name: text, email: '' },
      commit: {
        id: number,
        sha: oid,
        message: 'first\n',
        author_name: 'Test Author',
        author_email: 'author@example.com',
        author_url: 'mailto:author@example.com',
        status: text,
        duration: expect.toBeOneOf([null, number]),
        started_at: expect.toBeOneOf([null, time]),
        finished_at: expect.toBeOneOf([null, time]),
      },
      repository: longRepositoryBlock,
      runner: null,
      environment: null,
    })
  })

  test('releases have all keys, also when they are deleted', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    const at = `/projects/${project.id}/releases`
    await world.root.post(at, { tag_name: 'v1', ref: 'main', name: 'One', description: 'First' })
    const created = (await receiver.request(({ json }) => json.action === 'create')).json
    const release = {
      object_kind: 'release',
      id: number,
      created_at: time,
      description: 'First',
      name: 'One',
      released_at: time,
      tag: 'v1',
      project: projectBlock,
      url: text,
      action: 'create',
      assets: { count: 4, links: [], sources: expect.any(Array) },
      commit: commitBlock,
    }
    expect(created).toEqual(release)
    await world.root.delete(`${at}/v1`)
    const deleted = (await receiver.request(({ json }) => json.action === 'delete')).json
    expect(deleted).toEqual({ ...release, action: 'delete' })
  })
})

const tipOf = async (world: World, { id }: { id: number }): Promise<string> =>
  (await world.root.get(`/projects/${id}/repository/branches/main`)).json.commit.id

describe('tests of hooks', () => {
  test('every flag of a project can be tested with its newest record, or is refused without one', async ({ world }) => {
    await using made = await hooked(world, { push_events: false })
    const { receiver, project, hooks, hookId } = made
    const at = `/projects/${project.id}`
    const testFlag = (flag: string) => world.root.post(`${hooks}/${hookId}/test/${flag}`)
    for (const flag of flags.filter((each) => each !== 'wiki_page_events'))
      expect(await testFlag(flag)).toMatchObject({
        status: 422,
        json: { error: expect.stringMatching(/^Ensure the project has /) },
      })
    await withContent(world, project)
    await world.root.post(`${at}/releases`, { tag_name: 'v1', ref: 'main', description: 'First' })
    for (const confidential of [false, true]) {
      const issue = (await world.root.post(`${at}/issues`, { title: 'Issue', confidential })).json
      await world.root.post(`${at}/issues/${issue.iid}/notes`, { body: 'Note' })
    }
    await world.root.post(`${at}/merge_requests`, { source_branch: 'topic', target_branch: 'main', title: 'Merge' })
    await world.root.post(`${at}/statuses/${await tipOf(world, project)}`, { state: 'success', name: 'build' })
    const kinds = {
      push_events: ['Push Hook', 'push'],
      tag_push_events: ['Tag Push Hook', 'tag_push'],
      issues_events: ['Issue Hook', 'issue'],
      confidential_issues_events: ['Confidential Issue Hook', 'issue'],
      note_events: ['Note Hook', 'note'],
      confidential_note_events: ['Confidential Note Hook', 'note'],
      merge_requests_events: ['Merge Request Hook', 'merge_request'],
      job_events: ['Job Hook', 'build'],
      pipeline_events: ['Pipeline Hook', 'pipeline'],
      wiki_page_events: ['Wiki Page Hook', 'wiki_page'],
      releases_events: ['Release Hook', 'release'],
    } as const
    for (const [flag, [header, kind]] of Object.entries(kinds)) {
      expect(await testFlag(flag)).toMatchObject({ status: 201, json: { trigger: flag } })
      const { json } = await receiver.request(({ headers }) => headers['x-service-event'] === header)
      expect(json.object_kind).toBe(kind)
    }
    expect((await world.root.post(`${hooks}/${hookId}/test`)).json.trigger).toBe('push_events')
    expect((await testFlag('nothing')).status).toBe(400)
  })

  test('a page of a wiki is sent when it is created, changed and deleted', async ({ world }) => {
    await using made = await hooked(world)
    const { project, receiver } = made
    const at = `/projects/${project.id}/wikis`
    const { slug } = (await world.root.post(at, { title: 'Plans/First step', content: 'One' })).json
    const sent = async (action: string) =>
      (
        await receiver.request(
          ({ json }) => json.object_kind === 'wiki_page' && json.object_attributes.action === action,
        )
      ).json
    expect(await sent('create')).toMatchObject({
      user: userBlock,
      project: projectBlock,
      object_attributes: {
        title: 'First step',
        slug,
        content: 'One',
        format: 'markdown',
        url: expect.stringContaining(slug),
      },
    })
    await world.root.put(`${at}/${encodeURIComponent(slug)}`, { content: 'Two' })
    expect(await sent('update')).toMatchObject({ object_attributes: { content: 'Two' } })
    await world.root.delete(`${at}/${encodeURIComponent(slug)}`)
    expect(await sent('delete')).toMatchObject({ object_attributes: { slug, content: 'Two' } })
  })

  test('a wiki page has all keys', async ({ world }) => {
    await using made = await hooked(world)
    await world.root.post(`${made.hooks}/${made.hookId}/test/wiki_page_events`)
    const { json } = await made.receiver.request(ofKind('wiki_page'))
    expect(json).toEqual({
      object_kind: 'wiki_page',
      user: userBlock,
      project: projectBlock,
      wiki: {
        web_url: text,
        git_ssh_url: expect.stringMatching(/\.wiki\.git$/),
        git_http_url: expect.stringMatching(/\.wiki\.git$/),
        path_with_namespace: `${made.project.full_path}.wiki`,
        default_branch: text,
      },
      object_attributes: {
        title: 'Home',
        content: 'A page',
        format: 'markdown',
        message: 'Create the page',
        slug: 'home',
        url: text,
        action: 'create',
      },
    })
  })
})

describe('hooks of groups and of the installation', () => {
  test('a hook of a group receives events of projects below, of members and of subgroups', async ({ world }) => {
    await world.settings({ allow_local_requests_from_web_hooks_and_services: true })
    await using receiver = await HookReceiver.start()
    const group = await world.group()
    const flags = { issues_events: true, member_events: true, subgroup_events: true }
    await world.root.post(`/groups/${group.id}/hooks`, { url: receiver.url, ...flags })
    await world.runJobs()
    const ann = await world.user()
    await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 30 })
    const subgroup = await world.group({ parent: group })
    const project = await world.project({ group: subgroup })
    await world.root.post(`/projects/${project.id}/issues`, { title: 'Below' })
    await world.root.delete(`/groups/${group.id}/members/${ann.id}`)
    const member = await receiver.request(({ json }) => json.event_name === 'user_add_to_group')
    expect(member.headers['x-service-event']).toBe('Member Hook')
    expect(member.json).toEqual({
      event_name: 'user_add_to_group',
      created_at: time,
      updated_at: time,
      group_name: group.path,
      group_path: group.path,
      group_id: group.id,
      user_id: ann.id,
      user_name: text,
      user_username: ann.username,
      user_email: '',
      group_access: 'Developer',
      expires_at: null,
    })
    const removed = await receiver.request(({ json }) => json.event_name === 'user_remove_from_group')
    expect(removed.json).toMatchObject({ user_id: ann.id, group_access: 'Developer' })
    const made = await receiver.request(({ json }) => json.event_name === 'subgroup_create')
    expect(made.headers['x-service-event']).toBe('Subgroup Hook')
    expect(made.json).toEqual({
      created_at: time,
      updated_at: time,
      event_name: 'subgroup_create',
      name: subgroup.path,
      path: subgroup.path,
      full_path: subgroup.full_path,
      group_id: subgroup.id,
      parent_group_id: group.id,
      parent_name: group.path,
      parent_path: group.path,
      parent_full_path: group.full_path,
    })
    expect((await receiver.request(ofKind('issue'))).json.project.id).toBe(project.id)
  })

  test('a system hook receives events of accounts, keys, groups, projects and members, also when they are gone', async ({
    world,
  }) => {
    await world.settings({ deletion_adjourned_period: 0 })
    await using receiver = await HookReceiver.start()
    const hook = (await world.root.post('/hooks', { url: receiver.url, push_events: true, tag_push_events: true })).json
    await world.runJobs()
    const named = async (name: string, fits: (json: any) => boolean) => {
      const { headers, json } = await receiver.request(({ json }) => json.event_name === name && fits(json))
      expect(headers['x-gitlab-event']).toBe('System Hook')
      return json
    }
    const ann = await world.user()
    const ofAnn = (json: any) => json.user_id === ann.id
    expect(await named('user_create', ofAnn)).toEqual({
      event_name: 'user_create',
      created_at: time,
      updated_at: time,
      name: text,
      email: `${ann.username}@example.com`,
      user_id: ann.id,
      username: ann.username,
    })
    const renamed = unique('renamed')
    await world.root.put(`/users/${ann.id}`, { username: renamed })
    expect(await named('user_rename', ofAnn)).toMatchObject({ username: renamed, old_username: ann.username })
    const group = await world.group()
    const ofGroup = (json: any) => json.group_id === group.id
    expect(await named('group_create', ofGroup)).toMatchObject({ path: group.path, full_path: group.path })
    await world.root.put(`/groups/${group.id}`, { path: `${group.path}-2` })
    expect(await named('group_rename', ofGroup)).toMatchObject({ full_path: `${group.path}-2`, old_path: group.path })
    await world.root.post(`/groups/${group.id}/members`, { user_id: ann.id, access_level: 40 })
    expect(await named('user_add_to_group', ofGroup)).toMatchObject({
      user_email: `${ann.username}@example.com`,
      group_access: 'Maintainer',
    })
    const project = await world.project({ group })
    const ofProject = (json: any) => json.project_id === project.id
    expect(await named('project_create', ofProject)).toEqual({
      event_name: 'project_create',
      created_at: time,
      updated_at: time,
      name: project.name,
      path: project.path,
      path_with_namespace: project.full_path,
      project_id: project.id,
      owner_name: text,
      owner_email: '',
      owners: [{ name: text, email: '' }],
      project_visibility: 'private',
    })
    await world.root.post(`/projects/${project.id}/members`, { user_id: ann.id, access_level: 40 })
    expect(await named('user_add_to_team', ofProject)).toMatchObject({
      user_id: ann.id,
      access_level: 'Maintainer',
      project_path: project.path,
      project_path_with_namespace: project.full_path,
      project_visibility: 'private',
    })
    await withContent(world, project)
    expect(await named('push', ofProject)).toMatchObject({ object_kind: 'push' })
    const update = await named('repository_update', ofProject)
    expect(update).toEqual({
      event_name: 'repository_update',
      user_id: 1,
      user_name: text,
      user_email: '',
      user_avatar: expect.toBeOneOf([null, text]),
      project_id: project.id,
      project: projectBlock,
      changes: [{ before: nullOid, after: oid, ref: 'refs/heads/main' }],
      refs: ['refs/heads/main'],
    })
    await world.root.put(`/projects/${project.id}`, { path: `${project.path}-2`, description: 'Changed' })
    expect(await named('project_rename', ofProject)).toMatchObject({ old_path_with_namespace: project.full_path })
    await named('project_update', ofProject)
    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    expect(await named('user_remove_from_team', ofProject)).toMatchObject({ access_level: 'Maintainer' })
    await world.root.delete(`/projects/${project.id}`)
    expect(await named('project_destroy', ofProject)).toMatchObject({ path: `${project.path}-2` })
    await world.root.delete(`/groups/${group.id}`)
    expect(await named('group_destroy', ofGroup)).toMatchObject({ path: `${group.path}-2` })
    await world.root.delete(`/users/${ann.id}`)
    expect(await named('user_destroy', ofAnn)).toMatchObject({ username: renamed })
    await world.root.delete(`/hooks/${hook.id}`)
  })
})
