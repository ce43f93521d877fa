import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { answerDuring } from '../../../../test/during.ts'
import { auditOfNoun, eventsOf } from '../../../../test/tables/events.ts'
import { lockTable } from '../../../../test/tables/instance.ts'
import { approvalsOf } from '../../../../test/tables/review.ts'
import { Client, test, type World } from '../../../../test/world.ts'
import { openMergeRequest } from '../merge-requests/testing.ts'
import { mergeAwaited } from '../merging/awaited-job.ts'
import { afterPush } from '../merging/testing.ts'

/** Runs what is queued to merge. */
async function mergeAwaiting(world: World): Promise<void> {
  for (const { payload } of await world.takeJobs(`${mergeAwaited.name}:%`))
    await mergeAwaited.run(payload, await contextFor(world, null))
}

async function opened(world: World) {
  const [ann, dan] = [await world.user(), await world.user()]
  const made = await openMergeRequest(world, {
    visibility: 'private',
    members: [
      [ann, 'developer'],
      [dan, 'developer'],
    ],
    author: ann,
    approvals_before_merge: 1,
  })
  const configure = (settings: object) => world.root.post(`/projects/${made.project.id}/approvals`, settings)
  return { ...made, ann, dan, configure }
}

const approve = async (who: Client, at: string, more = {}) => (await who.post(`${at}/approve`, more)).status
const isApproved = async (who: Client, at: string) => (await who.get(`${at}/approvals`)).json.approved

describe('approval settings of a project', () => {
  test('they have defaults, are changed by maintainers and recorded in the audit log', async ({ world }) => {
    const { project, dan, configure } = await opened(world)
    const at = `/projects/${project.id}/approvals`
    const defaults = {
      approvals_before_merge: 0,
      reset_approvals_on_push: true,
      selective_code_owner_removals: false,
      disable_overriding_approvers_per_merge_request: false,
      merge_requests_author_approval: false,
      merge_requests_disable_committers_approval: false,
      require_password_to_approve: false,
      approvers: [],
      approver_groups: [],
    }
    expect((await dan.get(at)).json).toEqual(defaults)
    expect((await dan.post(at, { reset_approvals_on_push: false })).status).toBe(403)
    expect(await configure({ reset_approvals_on_push: false, selective_code_owner_removals: false })).toMatchObject({
      status: 201,
      json: { ...defaults, reset_approvals_on_push: false },
    })
    expect((await configure({ selective_code_owner_removals: true })).status).toBe(400)
    expect(await eventsOf(world, { project: project.id, kind: 'approval_settings_changed' }, 'payload')).toEqual([
      { payload: { changed: ['reset_approvals_on_push'] } },
    ])
    expect(await auditOfNoun(world, { noun: 'approval_settings', project: project.id }, 'verb')).toEqual([
      { verb: 'change' },
    ])
  })

  test('an author approves if the project allows it, and no longer counts if it does not', async ({ world }) => {
    const { at, ann, configure } = await opened(world)
    expect(await approve(ann, at)).toBe(403)
    await configure({ merge_requests_author_approval: true })
    expect(await approve(ann, at)).toBe(201)
    expect(await isApproved(ann, at)).toBe(true)
    await configure({ merge_requests_author_approval: false })
    expect(await isApproved(ann, at)).toBe(false)
  })

  test('a committer cannot approve if the project forbids it, by any confirmed address', async ({ world }) => {
    const { at, dan, project, branch, head, configure } = await opened(world)
    await configure({ merge_requests_disable_committers_approval: true, reset_approvals_on_push: false })
    expect(await approve(dan, at)).toBe(201)
    expect(await isApproved(dan, at)).toBe(true)
    // The commit of another author that `dan` commits after the approval.
    const made = await dan.post(`/projects/${project.id}/repository/commits`, {
      branch,
      commit_message: 'more',
      author_email: 'other@example.com',
      actions: [{ action: 'create', file_path: 'more', content: 'x' }],
    })
    expect(made.status).toBe(201)
    await afterPush(world, project)
    expect((await dan.get(at)).json.sha).not.toBe(head)
    expect(await isApproved(dan, at)).toBe(false)
    expect((await dan.get(`${at}/approvals`)).json).toMatchObject({ approved_by: [{ user: { id: dan.id } }] })
    await dan.post(`${at}/unapprove`)
    expect(await approve(dan, at)).toBe(403)
    await configure({ merge_requests_disable_committers_approval: false })
    expect(await approve(dan, at)).toBe(201)
  })

  test('who committed to a merge request may not approve it after a push to another one either', async ({ world }) => {
    const { at, dan, project, branch, configure } = await opened(world)
    await configure({ merge_requests_disable_committers_approval: true })
    const actions = [{ action: 'create', file_path: 'more', content: 'x' }]
    await dan.post(`/projects/${project.id}/repository/commits`, { branch, commit_message: 'more', actions })
    await afterPush(world, project)
    expect(await approve(dan, at)).toBe(403)
    const other = await openMergeRequest(world, {})
    const sha = other.project.repository.commit({ c: 'c' }, { branch: other.branch })
    await afterPush(world, other.project)
    expect((await world.root.get(other.at)).json.sha).toBe(sha)
    expect(await approve(dan, at)).toBe(403)
  })

  test('the settings of a project stay when those of another are changed', async ({ world }) => {
    const [one, other] = [await world.project(), await world.project()]
    const at = ({ id }: { readonly id: number }) => `/projects/${id}/approvals`
    await world.root.post(at(other), { require_password_to_approve: true, approvals_before_merge: 2 })
    const before = (await world.root.get(at(other))).json
    for (const require_password_to_approve of [true, false])
      await world.root.post(at(one), { require_password_to_approve, approvals_before_merge: 1 })
    expect((await world.root.get(at(other))).json).toEqual(before)
  })

  test('a push keeps approvals if the project says so', async ({ world }) => {
    const { at, dan, project, branch, configure } = await opened(world)
    const push = async (file_path: string) => {
      const made = await world.root.post(`/projects/${project.id}/repository/commits`, {
        branch,
        commit_message: 'more',
        actions: [{ action: 'create', file_path, content: 'x' }],
      })
      expect(made.status).toBe(201)
      await afterPush(world, project)
    }
    await approve(dan, at)
    await configure({ reset_approvals_on_push: false })
    await push('one')
    expect(await isApproved(dan, at)).toBe(true)
    await configure({ reset_approvals_on_push: true })
    await push('two')
    expect(await isApproved(dan, at)).toBe(false)
  })

  test.for([
    ['a merge request that is reopened after a push', [{ state_event: 'close' }], { state_event: 'reopen' }],
    ['a merge request whose target branch changes at once after a push', [], { target_branch: 'release' }],
    [
      'a closed merge request whose target branch changes after a push',
      [{ state_event: 'close' }],
      { target_branch: 'release' },
    ],
  ] as const)('%s loses its approvals', async ([, before, after], { world }) => {
    const { at, dan, project, branch, base } = await opened(world)
    project.repository.git('branch', 'release', base)
    await approve(dan, at)
    for (const edit of before) expect((await dan.put(at, edit)).status).toBe(200)
    const made = await world.root.post(`/projects/${project.id}/repository/commits`, {
      branch,
      commit_message: 'more',
      actions: [{ action: 'create', file_path: 'more', content: 'x' }],
    })
    expect(made.status).toBe(201)
    expect(await dan.put(at, after)).toMatchObject({ status: 200, json: { sha: made.json.id } })
    await afterPush(world, project)
    expect(await isApproved(dan, at)).toBe(false)
  })

  test('a merge request keeps its approvals when it is reopened as it was', async ({ world }) => {
    const { at, dan } = await opened(world)
    await approve(dan, at)
    for (const state_event of ['close', 'reopen']) await dan.put(at, { state_event })
    expect(await isApproved(dan, at)).toBe(true)
  })

  test('an approval requires the password of the user if the project says so', async ({ world }) => {
    const { at, project, configure } = await opened(world)
    const zoe = await world.user({ password: 'correct horse battery' })
    await world.root.post(`/projects/${project.id}/members`, { user_id: zoe.id, access_level: 30 })
    await configure({ require_password_to_approve: true })
    expect((await zoe.get(`${at}/approvals`)).json.require_password_to_approve).toBe(true)
    expect(await approve(zoe, at)).toBe(401)
    expect(await approve(zoe, at, { approval_password: 'wrong horse' })).toBe(401)
    expect(await approve(zoe, at, { approval_password: 'correct horse battery' })).toBe(201)
  })

  test('only the bot of a project or group resets approvals, and not those of a merged merge request', async ({
    world,
  }) => {
    const { at, id, dan, project } = await opened(world)
    await approve(dan, at)
    expect((await world.root.put(`${at}/reset_approvals`)).status).toBe(401)
    const made = await world.root.post(`/projects/${project.id}/access_tokens`, {
      name: 'bot',
      scopes: ['api'],
      access_level: 30,
      expires_at: '2099-01-01',
    })
    const bot = new Client(world.origin, { id: made.json.user_id, username: 'bot', token: made.json.token })
    expect(await bot.put(`${at}/reset_approvals`)).toMatchObject({ status: 202 })
    expect(await isApproved(dan, at)).toBe(false)
    expect(await approvalsOf(world, id)).toEqual([])
    await approve(dan, at)
    expect((await world.root.put(`${at}/merge`)).status).toBe(200)
    expect((await bot.put(`${at}/reset_approvals`)).status).toBe(405)
    expect(await approvalsOf(world, id)).toHaveLength(1)
  })

  test('the last approval merges what waits for its pipeline to have succeeded', async ({ world }) => {
    const { at, dan, project, head, branch } = await opened(world)
    const report = (state: string) =>
      world.root.post(`/projects/${project.id}/statuses/${head}`, { state, ref: branch })
    await report('running')
    await approve(dan, at)
    expect((await world.root.put(`${at}/merge`, { merge_when_pipeline_succeeds: true })).status).toBe(200)
    await dan.post(`${at}/unapprove`)
    await report('success')
    await mergeAwaiting(world)
    expect((await dan.get(at)).json.state).toBe('opened')
    await approve(dan, at)
    await mergeAwaiting(world)
    expect((await dan.get(at)).json.state).toBe('merged')
  })
})

test('all settings of approvals change at once', async ({ world }) => {
  const project = await world.project()
  const settings = { approvals_before_merge: 2, require_password_to_approve: true }
  const before = async () => {
    const shown = await world.root.get(`/projects/${project.id}`)
    expect(shown.json.approvals_before_merge).toBe(0)
    return shown
  }
  const changed = await answerDuring(
    world,
    () => world.root.post(`/projects/${project.id}/approvals`, settings),
    before,
    (tx) => lockTable(tx, 'approval_settings'),
  )
  expect(changed.json).toMatchObject(settings)
})
