import { writeFile } from 'node:fs/promises'
import { describe, expect } from 'vitest'
import { HookReceiver, type Received } from '../../../../test/hook-receiver.ts'
import { git, temporaryFolder, test } from '../../../../test/world.ts'
import {
  commitBlock,
  commitTo,
  hooked,
  issueAttributes,
  labelBlock,
  longRepositoryBlock,
  mergeRequestAttributes,
  noteAttributes,
  nullOid,
  ofKind,
  oid,
  openTopic,
  projectBlock,
  repositoryBlock,
  text,
  time,
  userBlock,
  withContent,
} from './testing.ts'

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
      ref_protected: true,
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

  test('paths that are not UTF-8 are texts, as in diffs, so that every receiver can parse the payload of a push', async ({
    world,
  }) => {
    await using made = await hooked(world)
    await using work = await temporaryFolder()
    await git(work.path, 'init', '-q', '-b', 'main')
    await writeFile(Buffer.concat([Buffer.from(`${work.path}/`), Buffer.from('gr\xfc\xdfe.txt', 'latin1')]), 'x')
    await git(work.path, 'add', '.')
    await git(work.path, 'commit', '-q', '-m', 'Greet')
    await git(work.path, 'push', '-q', world.remote(made.project, world.root), 'main')
    const { json } = await made.receiver.request(ofKind('push'))
    expect(json.commits).toMatchObject([{ added: ['grüße.txt'] }])
  })

  test('each branch and tag of a push has an event id of its own, the same for all hooks', async ({ world }) => {
    await using made = await hooked(world)
    const { project, receiver } = made
    const second = { url: receiver.url, push_events: true, tag_push_events: true, repository_update_events: true }
    const at = `/projects/${project.id}/hooks`
    const { id } = (await world.root.post(at, second)).json
    await using work = await temporaryFolder()
    await git(work.path, 'init', '-q', '-b', 'main')
    await git(work.path, 'commit', '-q', '--allow-empty', '-m', 'First')
    await git(work.path, 'push', '-q', world.remote(project, world.root), 'main', 'main:topic', 'main:refs/tags/v1')
    const idOf = ({ headers }: Received) => headers['x-gitlab-event-uuid']
    await expect.poll(() => receiver.received.length).toBe(7)
    const ids = Map.groupBy(receiver.received, ({ json }) => json.ref ?? json.event_name)
    expect([...ids].map(([ref, same]) => [ref, same.length, new Set(same.map(idOf)).size]).sort()).toEqual([
      ['refs/heads/main', 2, 1],
      ['refs/heads/topic', 2, 1],
      ['refs/tags/v1', 2, 1],
      ['repository_update', 1, 1],
    ])
    expect(new Set(receiver.received.map(idOf)).size).toBe(4)
    const logged = (await world.root.get(`${at}/${id}/events`)).json.map((event: any) => event.event_uuid)
    expect(new Set(logged)).toEqual(new Set(receiver.received.map(idOf)))
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

  test('times of issues and merge requests are in hours if the settings say so, as in records', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await world.settings({ time_tracking_limit_to_hours: true })
    await withContent(world, project)
    const at = `/projects/${project.id}`
    await world.root.post(`${at}/issues`, { title: 'Long' })
    await openTopic(world, project, 'Long')
    const times = { human_time_estimate: '17h', human_total_time_spent: null }
    for (const [kind, noteables] of Object.entries({ issue: 'issues', merge_request: 'merge_requests' })) {
      const estimated = await world.root.post(`${at}/${noteables}/1/time_estimate`, { duration: '2d 1h' })
      expect(estimated.json).toMatchObject(times)
      await world.root.put(`${at}/${noteables}/1`, { title: 'Longer' })
      const { json } = await receiver.request(
        (each) => ofKind(kind)(each) && each.json.object_attributes.title === 'Longer',
      )
      expect(json.object_attributes).toMatchObject(times)
    }
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

  test('a moved issue names the issue that continues it, also if it was closed before', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    const target = await world.project()
    const at = `/projects/${project.id}/issues`
    const moved = async (iid: number) =>
      (await world.root.post(`${at}/${iid}/move`, { to_project_id: target.id })).json.id
    for (const title of ['Open', 'Closed']) await world.root.post(at, { title })
    await world.root.put(`${at}/2`, { state_event: 'close' })
    const [open, closed] = [await moved(1), await moved(2)]
    const ofIssue = (iid: number, action: string) =>
      receiver.request((one) => ofKind('issue', action)(one) && one.json.object_attributes.iid === iid)
    expect((await ofIssue(1, 'close')).json).toMatchObject({
      object_attributes: { state: 'closed', moved_to_id: open },
      changes: { moved_to_id: { previous: null, current: open } },
    })
    expect((await ofIssue(2, 'update')).json).toMatchObject({
      object_attributes: { state: 'closed', moved_to_id: closed },
      changes: { moved_to_id: { previous: null, current: closed } },
    })
  })

  test('links to uploaded images in descriptions and comments are absolute; a new description is among the changes', async ({
    world,
  }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    const at = `/projects/${project.id}/issues`
    const image = (base = '') =>
      `![A drawing](${base}/uploads/${'a'.repeat(32)}/a.png) [A file](/uploads/${'b'.repeat(32)}/b)`
    const absolute = image(`${world.origin}/${project.full_path}`)
    const { iid } = (await world.root.post(at, { title: 'Drawn', description: image() })).json
    expect((await receiver.request(ofKind('issue', 'open'))).json.object_attributes.description).toBe(absolute)
    await world.root.put(`${at}/${iid}`, { description: 'Nothing' })
    await world.root.post(`${at}/${iid}/notes`, { body: image() })
    expect((await receiver.request(ofKind('issue', 'update'))).json).toMatchObject({
      object_attributes: { description: 'Nothing' },
      changes: { description: { previous: image(), current: 'Nothing' } },
    })
    expect((await receiver.request(ofKind('note'))).json).toMatchObject({
      object_attributes: { note: absolute, description: absolute },
      issue: { description: 'Nothing' },
    })
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
    const mr = await openTopic(world, project, 'Merge me')
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
    const mr = await openTopic(world, project, 'Merge me')
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
    expect(merged.changes).toEqual({ state_id: { previous: 1, current: 3 } })
  })

  test('a merge request names its reviewers and whether it is a draft, also among the changes', async ({ world }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    const mr = await openTopic(world, project, 'Review me')
    const at = `/projects/${project.id}/merge_requests/${mr.iid}`
    await world.root.put(at, { reviewer_ids: [1] })
    const root = { ...userBlock, username: 'root' }
    const asked = (await receiver.request(({ json }) => json.changes?.reviewers !== undefined)).json
    expect(asked).toMatchObject({ reviewers: [root], object_attributes: { reviewer_ids: [1], draft: false } })
    expect(asked.changes).toEqual({ reviewers: { previous: [], current: [root] } })
    await world.root.put(at, { title: 'Draft: Review me', labels: 'bug', reviewer_ids: [] })
    const drafted = (await receiver.request(({ json }) => json.changes?.title !== undefined)).json
    expect(drafted.object_attributes).toMatchObject({
      reviewer_ids: [],
      draft: true,
      work_in_progress: true,
      labels: [{ title: 'bug' }],
    })
    expect(drafted).not.toHaveProperty('reviewers')
    expect(drafted.changes).toEqual({
      title: { previous: 'Review me', current: 'Draft: Review me' },
      draft: { previous: false, current: true },
      labels: { previous: [], current: [expect.objectContaining({ title: 'bug' })] },
      reviewers: { previous: [root], current: [] },
    })
  })

  test('a merge request that is closed because its branch was deleted has its state in the changes', async ({
    world,
  }) => {
    await using made = await hooked(world)
    const { receiver, project } = made
    await withContent(world, project)
    await openTopic(world, project, 'Close me')
    await world.root.delete(`/projects/${project.id}/repository/branches/topic`)
    const closed = (await receiver.request(ofKind('merge_request', 'close'))).json
    expect(closed.changes).toEqual({ state_id: { previous: 1, current: 2 } })
  })
})
