import { describe, expect } from 'vitest'
import { answerDuring } from '../../../../test/during.ts'
import { lockRow } from '../../../../test/tables/instance.ts'
import { latestVersion } from '../../../../test/tables/review.ts'
import { test } from '../../../../test/world.ts'
import { storedProject } from '../../repository/commits/testing.ts'
import { forkOf, openMergeRequest } from './testing.ts'

const wanted = { source_branch: 'topic', target_branch: 'main', title: 'Better' }

describe('POST /projects/:id/merge_requests', () => {
  test('POST creates a merge request and returns its record', async ({ world }) => {
    const dan = await world.user()
    const { project, record, head, base, at } = await openMergeRequest(world, {
      author: dan,
      members: [[dan, 'developer']],
      title: 'WIP: Better',
      description: '- [x] one\n- [ ] two\n',
      assignee_ids: [dan.id],
      labels: 'b,a',
      squash: true,
    })
    expect(record).toMatchObject({
      iid: 1,
      project_id: project.id,
      source_project_id: project.id,
      target_project_id: project.id,
      title: 'WIP: Better',
      state: 'opened',
      author: { id: dan.id },
      assignee: { id: dan.id },
      assignees: [{ id: dan.id }],
      labels: ['a', 'b'],
      work_in_progress: true,
      merge_status: 'unchecked',
      sha: head,
      squash: true,
      changes_count: '1',
      diff_refs: { base_sha: base, head_sha: head, start_sha: base },
      references: { short: '!1', relative: '!1', full: `${project.full_path}!1` },
      task_completion_status: { count: 2, completed_count: 1 },
      subscribed: true,
      user: { can_merge: true },
      web_url: `${world.origin}/${project.full_path}/-/merge_requests/1`,
    })
    expect(record).not.toHaveProperty('allow_collaboration')
    // The check of the unknown status has started.
    expect((await dan.get(at)).json).toEqual({ ...record, merge_status: 'checking' })
    expect(project.repository.git('rev-parse', 'refs/merge-requests/1/head')).toBe(head)
  })

  test('D3-MR-PROJECT-IDS: a merge request from a fork copies its commits', async ({ world }) => {
    const ann = await world.user()
    const project = await storedProject(world)
    project.repository.commit({ a: 'a\n' })
    const fork = await forkOf(world, project, ann)
    const { record, head, at } = await openMergeRequest(world, {
      project,
      source: fork,
      author: ann,
      allow_collaboration: true,
      labels: ['dropped'],
      assignee_ids: [ann.id],
    })
    expect(record).toMatchObject({
      project_id: project.id,
      target_project_id: project.id,
      source_project_id: fork.id,
      allow_collaboration: true,
      allow_maintainer_to_push: true,
      labels: [],
      assignees: [],
      sha: head,
      references: { relative: `${project.full_path}!1` },
    })
    expect((await ann.get(at)).json).toMatchObject({ references: { relative: '!1' } })
    expect(project.repository.git('rev-parse', 'refs/merge-requests/1/head')).toBe(head)
  })

  test('refused merge requests have their reasons', async ({ world }) => {
    const [dan, guest] = [await world.user(), await world.user()]
    const { project } = await openMergeRequest(world, {
      members: [
        [dan, 'developer'],
        [guest, 'guest'],
      ],
    })
    const post = (more: object, who = dan) => who.post(`/projects/${project.id}/merge_requests`, { ...wanted, ...more })
    expect(await post({ target_branch: 'topic' })).toMatchObject({
      status: 422,
      json: { error: ["You can't use same project/branch for source and target"] },
    })
    expect(await post({})).toMatchObject({
      status: 409,
      json: { message: ['Another open merge request already exists for this source branch: !1'] },
    })
    const other = await storedProject(world)
    expect(await post({ target_project_id: other.id })).toMatchObject({
      status: 422,
      json: { error: ['Source project is not a fork of the target project'] },
    })
    const secret = await storedProject(world, { visibility: 'private' })
    expect(await post({ target_project_id: secret.id })).toMatchObject({
      status: 404,
      json: { message: '404 Project Not Found' },
    })
    expect(await post({}, guest)).toMatchObject({ status: 403 })
    expect(await post({ title: ' ' })).toMatchObject({ status: 400, json: { message: { title: ["can't be blank"] } } })
    expect(await post({ title: 'x'.repeat(256) })).toMatchObject({
      status: 400,
      json: { message: { title: ['is too long (maximum is 255 characters)'] } },
    })
    expect(await post({ target_branch: 'a..b' })).toMatchObject({
      status: 400,
      json: { message: { target_branch: ['is invalid'] } },
    })
    expect(await post({ title: undefined })).toMatchObject({ status: 400, json: { error: 'title is missing' } })
    await world.root.put(`/projects/${project.id}`, { merge_requests_access_level: 'disabled' })
    expect(await post({ source_branch: 'other' })).toMatchObject({
      status: 422,
      json: { error: ['Target project has disabled merge requests'] },
    })
  })

  test('a merge request of a missing branch has no commits and cannot be merged', async ({ world }) => {
    const project = await storedProject(world)
    const head = project.repository.commit({ a: 'a\n' })
    const post = (source_branch: string, target_branch: string) =>
      world.root.post(`/projects/${project.id}/merge_requests`, { source_branch, target_branch, title: 'x' })
    expect((await post('nowhere', 'main')).json).toMatchObject({
      merge_status: 'cannot_be_merged',
      sha: null,
      changes_count: null,
      diff_refs: null,
    })
    expect((await post('main', 'nowhere')).json).toMatchObject({ merge_status: 'cannot_be_merged', sha: head, iid: 2 })
  })

  test('concurrent merge requests of one branch: one is created, and iids have no gaps', async ({ world }) => {
    const project = await storedProject(world)
    const base = project.repository.commit({ a: 'a\n' })
    for (let index = 0; index < 4; index++)
      project.repository.commit({ b: `${index}` }, { branch: `t${index}`, parents: [base] })
    const answers = await Promise.all(
      [0, 1, 2, 3, 0, 1, 2, 3].map((index) =>
        world.root.post(`/projects/${project.id}/merge_requests`, { ...wanted, source_branch: `t${index}` }),
      ),
    )
    const made = answers.filter(({ status }) => status === 201)
    expect(made.map(({ json }) => json.iid).sort()).toEqual([1, 2, 3, 4])
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4)
  })
})

test.for(['topic', 'new'])(
  'a merge request gets the commits that are pushed to its branch %s while it is created',
  async (branch, { world }) => {
    const { project, base } = await openMergeRequest(world, { branch: 'other' })
    project.repository.git('branch', 'topic', base)
    const at = `/projects/${project.id}`
    const { namespace } = (await world.root.get(at)).json
    let head: string | undefined
    const made = await answerDuring(
      world,
      () => world.root.post(`${at}/merge_requests`, { ...wanted, source_branch: branch, milestone_id: 1 }),
      async () => {
        const actions = [{ action: 'create', file_path: 'c', content: 'c' }]
        const from = branch === 'new' ? { start_branch: 'main' } : {}
        const pushed = await world.root.post(`${at}/repository/commits`, {
          branch,
          ...from,
          commit_message: 'C',
          actions,
        })
        head = pushed.json.id
        return pushed
      },
      (tx) => lockRow(tx, 'namespaces', namespace.id),
    )
    expect(made.status, made.text).toBe(201)
    await world.runJobs()
    await expect.poll(() => latestVersion(world, made.json.id)).toEqual([{ head_oid: head }])
  },
)
