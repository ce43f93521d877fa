import { describe, expect } from 'vitest'
import { contextFor } from '../../../../test/contexts.ts'
import { isUnlocked, lockRow } from '../../../../test/tables/instance.ts'
import { reopenIssue } from '../../../../test/tables/planning.ts'
import { type Client, test, type World } from '../../../../test/world.ts'
import type { Ctx } from '../../../api/ctx.ts'
import { type OpenedIssue, openIssue } from '../../planning/issues/testing.ts'
import { forkOf, type OpenedMergeRequest, openMergeRequest } from '../merge-requests/testing.ts'
import { afterPush, pushed } from '../merging/testing.ts'
import { closeByMergeRequest } from './close.ts'
import { commitTo, readTexts } from './testing.ts'

const bodiesOf = async (who: Client, at: string): Promise<string[]> =>
  (await who.get(`${at}/notes?sort=asc`)).json.map(({ body }: { body: string }) => body)

const iidsOf = async (who: Client, path: string): Promise<number[]> =>
  (await who.get(path)).json.map(({ iid }: { iid: number }) => iid)

const stateOf = async (world: World, { at }: OpenedIssue): Promise<string> => (await world.root.get(at)).json.state

const merge = async (who: Client, { at }: OpenedMergeRequest): Promise<void> => {
  expect(await who.put(`${at}/merge`)).toMatchObject({ status: 200, json: { state: 'merged' } })
}

/** An issue, and a merge request of its project that says that it closes the issue. */
async function closingPair(world: World, attributes: Record<string, unknown> = {}) {
  const request = await openMergeRequest(world, { description: 'Closes #1', ...attributes })
  const issue = await openIssue(world, { project: request.project })
  await world.root.put(request.at, { description: 'Closes #1.' })
  await readTexts(world)
  return { request, issue }
}

describe('issues that a merge request closes', () => {
  test('its description and its commits name them, and changes of both are followed', async ({ world }) => {
    const { request } = await closingPair(world)
    const { project, at, branch } = request
    for (const title of ['Two', 'Three']) await openIssue(world, { project, title })
    const listed = await world.root.get(`${at}/closes_issues`)
    expect(listed).toMatchObject({
      status: 200,
      json: [{ iid: 1, merge_requests_count: 1, references: { relative: '#1' } }],
    })
    await commitTo(world, project.id, branch, 'Fixes #2', branch)
    await afterPush(world, project)
    await readTexts(world)
    expect(await iidsOf(world.root, `${at}/closes_issues`)).toEqual([1, 2])
    await world.root.put(at, { description: 'Resolves #3. #1 is another matter' })
    await readTexts(world)
    expect(await iidsOf(world.root, `${at}/closes_issues`)).toEqual([2, 3])
    expect(await iidsOf(world.root, `${at}/closes_issues?per_page=1&page=2`)).toEqual([3])
  })

  test('commits that were pushed while it was closed count once it is open again', async ({ world }) => {
    const { request } = await closingPair(world)
    const { project, at, branch } = request
    await openIssue(world, { project, title: 'Two' })
    await world.root.put(at, { state_event: 'close' })
    await commitTo(world, project.id, branch, 'Fixes #2', branch)
    await afterPush(world, project)
    await readTexts(world)
    await world.root.put(at, { state_event: 'reopen' })
    await readTexts(world)
    expect(await iidsOf(world.root, `${at}/closes_issues`)).toEqual([1, 2])
  })

  test('none unless the target is the default branch and the project closes issues by text', async ({ world }) => {
    const { request, issue } = await closingPair(world)
    const { project, at } = request
    const closing = () => iidsOf(world.root, `${at}/closes_issues`)
    const count = async () => (await world.root.get(issue.at)).json.merge_requests_count
    for (const [off, on] of [
      [false, true],
      [false, null],
    ] as const) {
      await world.root.put(`/projects/${project.id}`, { autoclose_referenced_issues: off })
      expect([await closing(), await iidsOf(world.root, `${issue.at}/closed_by`), await count()]).toEqual([[], [], 0])
      await world.root.put(`/projects/${project.id}`, { autoclose_referenced_issues: on })
      expect([await closing(), await iidsOf(world.root, `${issue.at}/closed_by`), await count()]).toEqual([[1], [1], 1])
    }
    await world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'stable', ref: 'main' })
    await world.root.put(at, { target_branch: 'stable' })
    expect([await closing(), await count()]).toEqual([[], 0])
  })

  test('a confidential issue is listed only for users who can read it, until their access is revoked', async ({
    world,
  }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const { request } = await closingPair(world, { members: [[ann, 'reporter']] })
    const { project, at } = request
    await openIssue(world, { project, confidential: true })
    await world.root.put(at, { description: 'Closes #1, #2' })
    await readTexts(world)
    expect(await iidsOf(ann, `${at}/closes_issues`)).toEqual([1, 2])
    expect(await iidsOf(bob, `${at}/closes_issues`)).toEqual([1])
    for (const list of ['closed_by', 'related_merge_requests'])
      expect((await bob.get(`/projects/${project.id}/issues/2/${list}`)).status).toBe(404)
    await world.root.delete(`/projects/${project.id}/members/${ann.id}`)
    expect(await iidsOf(ann, `${at}/closes_issues`)).toEqual([1])
  })

  test('an issue that the author of the merge request cannot read is not among them', async ({ world }) => {
    const ann = await world.user()
    const request = await openMergeRequest(world, { members: [[ann, 'developer']], author: ann })
    const hidden = await openIssue(world, { visibility: 'private' })
    await ann.put(request.at, { description: `Closes ${hidden.project.full_path}#1` })
    await readTexts(world)
    expect(await iidsOf(world.root, `${request.at}/closes_issues`)).toEqual([])
  })

  test('the list follows the texts at once, before any job has read them', async ({ world }) => {
    const request = await openMergeRequest(world, { description: 'Closes #1' })
    const { project, at } = request
    for (const title of ['One', 'Two']) await openIssue(world, { project, title })
    const closing = () => iidsOf(world.root, `${at}/closes_issues`)
    expect(await closing()).toEqual([1])
    await world.root.put(at, { description: 'Closes #2' })
    expect(await closing()).toEqual([2])
    await world.root.put(`/projects/${project.id}`, { autoclose_referenced_issues: false })
    expect(await closing()).toEqual([])
    await world.root.put(`/projects/${project.id}`, { autoclose_referenced_issues: true })
    await merge(world.root, request)
    expect(await closing()).toEqual([2])
  })
})

describe('merge requests of an issue', () => {
  test('those that close it, and those that mention it or that it mentions, of projects that the caller can read', async ({
    world,
  }) => {
    const ann = await world.user()
    const { request, issue } = await closingPair(world)
    const { project } = request
    const mentioning = await openMergeRequest(world, { project, branch: 'two', description: 'Like #1' })
    const mentioned = await openMergeRequest(world, { project, branch: 'three' })
    await openMergeRequest(world, { project, branch: 'four' })
    await world.root.post(`${issue.at}/notes`, { body: `Not like !${mentioned.iid}` })
    const hidden = await openMergeRequest(world, { visibility: 'private', members: [[ann, 'reporter']] })
    await world.root.put(hidden.at, { description: `Closes ${project.full_path}#1` })
    await readTexts(world)
    const ids = async (who: Client, list: string) =>
      (await who.get(`${issue.at}/${list}`)).json.map(({ id }: { id: number }) => id)
    const open = [request.id, mentioning.id, mentioned.id]
    expect(await ids(ann, 'related_merge_requests')).toEqual([...open, hidden.id])
    expect(await ids(ann, 'closed_by')).toEqual([request.id, hidden.id])
    expect((await ann.get(issue.at)).json.merge_requests_count).toBe(2)
    expect((await ann.get(`${issue.at}/related_merge_requests`)).json.at(-1).references).toMatchObject({
      relative: hidden.record.references.full,
    })
    const page = await ann.get(`${issue.at}/related_merge_requests?per_page=1&page=4`)
    expect(page.json.map(({ id }: { id: number }) => id)).toEqual([hidden.id])
    expect(page.headers['x-total']).toBe('4')
    await world.root.delete(`/projects/${hidden.project.id}/members/${ann.id}`)
    expect(await ids(ann, 'related_merge_requests')).toEqual(open)
    expect(await ids(ann, 'closed_by')).toEqual([request.id])
    expect((await ann.get(issue.at)).json.merge_requests_count).toBe(1)
    await world.root.put(`/projects/${project.id}`, { merge_requests_access_level: 'private' })
    expect(await ids(ann, 'related_merge_requests')).toEqual([])
    expect((await ann.get(issue.at)).json.merge_requests_count).toBe(0)
  })
})

describe('a merge', () => {
  test('D3-ISSUE-CLOSED-BY: a merge into the default branch closes the issues that the merge request names, once', async ({
    world,
  }) => {
    const ann = await world.user()
    const { request, issue } = await closingPair(world, { members: [[ann, 'maintainer']] })
    await merge(ann, request)
    const jobs = await readTexts(world)
    const { json: closed } = await world.root.get(issue.at)
    expect(closed).toMatchObject({ state: 'closed', closed_by: { id: ann.id }, closed_at: expect.any(String) })
    const { merge_commit_sha: made } = (await world.root.get(request.at)).json
    const notes = ['mentioned in merge request !1', 'closed via merge request !1', `mentioned in commit ${made}`]
    expect(await bodiesOf(world.root, issue.at)).toEqual(notes)
    expect((await world.root.get(`/projects/${issue.project.id}/events?action=closed`)).json).toMatchObject([
      { target_type: 'Issue', target_iid: 1, author_id: ann.id },
    ])
    await reopenIssue(world, issue.id)
    await jobs.again()
    expect(await stateOf(world, issue)).toBe('opened')
    expect(await bodiesOf(world.root, issue.at)).toEqual(notes)
    expect(await iidsOf(world.root, `${issue.at}/closed_by`)).toEqual([1])
  })

  test('closes the issues that its commits name as the merge request, even if their push is read later', async ({
    world,
  }) => {
    const request = await openMergeRequest(world)
    const { project, branch } = request
    const issue = await openIssue(world, { project })
    await commitTo(world, project.id, branch, 'Closes #1', branch)
    await afterPush(world, project)
    await merge(world.root, request)
    const jobs = await readTexts(world)
    expect(await bodiesOf(world.root, issue.at)).toContain('closed via merge request !1')
    await reopenIssue(world, issue.id)
    await jobs.again()
    expect(await stateOf(world, issue)).toBe('opened')
  })

  test('by a push closes an issue once, by the commit or by the merge request', async ({ world }) => {
    const request = await openMergeRequest(world)
    const { project, branch, base } = request
    const issue = await openIssue(world, { project })
    const head = await commitTo(world, project.id, branch, 'Closes #1', branch)
    await afterPush(world, project)
    await readTexts(world)
    await pushed(await contextFor(world, world.root), project, 'main', base, head)
    await readTexts(world)
    expect((await bodiesOf(world.root, issue.at)).at(-1)).toBe(`closed via commit ${head}`)
    await reopenIssue(world, issue.id)
    await afterPush(world, project)
    expect((await world.root.get(request.at)).json.state).toBe('merged')
    await readTexts(world)
    expect(await stateOf(world, issue)).toBe('opened')
  })

  test('continues with the other issues after a crash, and leaves open what was reopened since', async ({ world }) => {
    const { request, issue } = await closingPair(world)
    const second = await openIssue(world, { project: request.project })
    await world.root.put(request.at, { description: 'Closes #1, #2' })
    await merge(world.root, request)
    const ctx = await contextFor(world, null)
    let transactions = 0
    const crashing: Ctx = {
      ...ctx,
      transaction: (work) => {
        // The first stores what the merge request closes, the second closes the first issue.
        if (++transactions > 2) throw new Error('crash')
        return ctx.transaction(work)
      },
    }
    await expect(closeByMergeRequest(crashing, request.id, world.root.id)).rejects.toThrow('crash')
    expect([await stateOf(world, issue), await stateOf(world, second)]).toEqual(['closed', 'opened'])
    await reopenIssue(world, issue.id)
    await readTexts(world)
    expect([await stateOf(world, issue), await stateOf(world, second)]).toEqual(['opened', 'closed'])
  })

  test('the issue is not locked while its closing waits for the project', async ({ world }) => {
    const { request, issue } = await closingPair(world)
    await merge(world.root, request)
    const ctx = await contextFor(world, null)
    const { closing, unlocked } = await world.db.transaction(async (tx) => {
      await lockRow(tx, 'projects', request.project.id, 'no key update')
      const closing = closeByMergeRequest(ctx, request.id, world.root.id)
      await world.waitsForLock(1)
      return { closing, unlocked: await isUnlocked(tx, 'issues', issue.id) }
    })
    await closing
    expect(unlocked).toBe(true)
    expect(await stateOf(world, issue)).toBe('closed')
  })

  test('closes an issue of another project if the user who merges may change it', async ({ world }) => {
    const [ann, bob] = [await world.user(), await world.user()]
    const issues = await openIssue(world, { members: [[ann, 'reporter']] })
    const { project } = issues
    const second = await openIssue(world, { project })
    for (const [who, issue] of [
      [bob, issues],
      [ann, second],
    ] as const) {
      const request = await openMergeRequest(world, {
        visibility: 'private',
        members: [[who, 'maintainer']],
        description: `Closes ${project.full_path}#${issue.iid}`,
      })
      await merge(who, request)
      await readTexts(world)
      const isAnn = who === ann
      expect(await stateOf(world, issue)).toBe(isAnn ? 'closed' : 'opened')
      const note = `closed via merge request ${request.project.full_path}!1`
      expect((await bodiesOf(world.root, issue.at)).includes(note)).toBe(isAnn)
      // The note names a private project.
      expect(await bodiesOf(isAnn ? bob : ann, issue.at)).toEqual([])
      if (isAnn) {
        expect(await bodiesOf(ann, issue.at)).toContain(note)
        await world.root.delete(`/projects/${request.project.id}/members/${ann.id}`)
        expect(await bodiesOf(ann, issue.at)).toEqual([])
      }
    }
  })

  test('into another branch, or in a project that does not close issues by text, closes none', async ({ world }) => {
    const { request, issue } = await closingPair(world)
    const { project } = request
    await world.root.post(`/projects/${project.id}/repository/branches`, { branch: 'stable', ref: 'main' })
    await world.root.put(request.at, { target_branch: 'stable' })
    await merge(world.root, request)
    await readTexts(world)
    await world.root.put(`/projects/${project.id}`, { autoclose_referenced_issues: false })
    await merge(world.root, await openMergeRequest(world, { project, branch: 'next', description: 'Closes #1' }))
    await commitTo(world, project.id, 'main', 'Closes #1')
    await readTexts(world)
    expect(await stateOf(world, issue)).toBe('opened')
    expect((await world.root.get(issue.at)).json.merge_requests_count).toBe(0)
    expect(await iidsOf(world.root, `${issue.at}/closed_by`)).toEqual([])
  })
})

describe('the message of a merge commit', () => {
  test('names the issues that the merge request closes, but neither confidential ones nor those of other private projects', async ({
    world,
  }) => {
    const { request } = await closingPair(world)
    const { project, at } = request
    const [second, secret] = [
      await openIssue(world, { project }),
      await openIssue(world, { project, confidential: true }),
    ]
    const [open, hidden] = [await openIssue(world), await openIssue(world, { visibility: 'private' })]
    const named = [
      '#1',
      `#${second.iid}`,
      `#${secret.iid}`,
      ...[open, hidden].map((each) => `${each.project.full_path}#1`),
    ]
    await world.root.put(at, { description: `Closes ${named.join(', ')}` })
    await readTexts(world)
    await merge(world.root, request)
    expect(project.repository.git('log', '-1', '--format=%B', 'main')).toContain(
      `\n\nMerge topic\n\nCloses #1, #2 and ${open.project.full_path}#1\n\nSee merge request`,
    )
    await readTexts(world)
    for (const issue of [second, secret, open, hidden]) expect(await stateOf(world, issue)).toBe('closed')
  })

  test('names the issues of a text that was written just before the merge', async ({ world }) => {
    const { request, issue } = await closingPair(world)
    const { project, at, branch } = request
    for (const title of ['Two', 'Three']) await openIssue(world, { project, title })
    await commitTo(world, project.id, branch, 'Fixes #2', branch)
    await afterPush(world, project)
    // No job reads the texts before the merge.
    await world.root.put(at, { description: 'Closes #3' })
    await merge(world.root, request)
    expect(project.repository.git('log', '-1', '--format=%B', 'main')).toContain('\n\nCloses #2 and #3\n\n')
    await readTexts(world)
    expect(await stateOf(world, issue)).toBe('opened')
  })
})

describe('a commit that reaches the default branch', () => {
  test('closes the issues that it names, once, and leaves one note', async ({ world }) => {
    const { project } = await openMergeRequest(world)
    const [issue, mentioned] = [await openIssue(world, { project }), await openIssue(world, { project })]
    const sha = await commitTo(world, project.id, 'main', 'Closes #1, see #2')
    const jobs = await readTexts(world)
    expect((await world.root.get(issue.at)).json).toMatchObject({ state: 'closed', closed_by: { id: world.root.id } })
    expect(await bodiesOf(world.root, issue.at)).toEqual([`closed via commit ${sha}`])
    expect(await bodiesOf(world.root, mentioned.at)).toEqual([`mentioned in commit ${sha}`])
    expect(await stateOf(world, mentioned)).toBe('opened')
    await reopenIssue(world, issue.id)
    await jobs.again()
    const before = project.repository.git('rev-parse', `${sha}^`) as typeof sha
    const ctx = await contextFor(world, world.root)
    await pushed(ctx, project, 'main', sha, before)
    await pushed(ctx, project, 'main', before, sha)
    await readTexts(world)
    expect(await stateOf(world, issue)).toBe('opened')
    expect(await bodiesOf(world.root, issue.at)).toEqual([`closed via commit ${sha}`])
  })

  test('closes what it named on another branch before', async ({ world }) => {
    const { project, base } = await openMergeRequest(world)
    const issue = await openIssue(world, { project })
    const sha = await commitTo(world, project.id, 'side', 'Closes #1')
    await readTexts(world)
    expect(await stateOf(world, issue)).toBe('opened')
    await pushed(await contextFor(world, world.root), project, 'main', base, sha)
    await readTexts(world)
    expect(await stateOf(world, issue)).toBe('closed')
    expect(await bodiesOf(world.root, issue.at)).toEqual([`mentioned in commit ${sha}`, `closed via commit ${sha}`])
  })

  test('closes nothing that the user who pushes may not change, such as a confidential issue or one of an archived project', async ({
    world,
  }) => {
    const ann = await world.user()
    const { project } = await openMergeRequest(world, { members: [[ann, 'maintainer']] })
    const hidden = await openIssue(world, { confidential: true })
    const open = await openIssue(world)
    const archived = await openIssue(world, { members: [[ann, 'maintainer']] })
    await world.root.post(`/projects/${archived.project.id}/archive`)
    const named = [hidden, open, archived].map(({ project }) => `${project.full_path}#1`).join(', ')
    const made = await ann.post(`/projects/${project.id}/repository/commits`, {
      branch: 'main',
      commit_message: `Closes ${named}`,
      actions: [{ action: 'create', file_path: 'c', content: 'x' }],
    })
    expect(made.status).toBe(201)
    await readTexts(world)
    for (const issue of [hidden, open, archived]) expect(await stateOf(world, issue)).toBe('opened')
    expect(await bodiesOf(world.root, hidden.at)).toEqual([])
  })

  test('of a fork closes no issue of its source, nor of the fork if the source has the commit', async ({ world }) => {
    const ann = await world.user()
    const { project, base } = await openMergeRequest(world)
    const issue = await openIssue(world, { project })
    const known = await commitTo(world, project.id, 'side', 'Closes #1')
    const fork = await forkOf(world, project, ann)
    await ann.put(`/projects/${fork.id}`, { issues_access_level: 'enabled' })
    const own = await openIssue(world, { project: fork, author: ann })
    await pushed(await contextFor(world, world.root), fork, 'main', base, known)
    await commitTo(world, fork.id, 'main', `Closes ${project.full_path}#1`)
    await readTexts(world)
    expect([await stateOf(world, issue), await stateOf(world, own)]).toEqual(['opened', 'opened'])
    await commitTo(world, fork.id, 'main', 'Closes #1')
    await readTexts(world)
    expect([await stateOf(world, issue), await stateOf(world, own)]).toEqual(['opened', 'closed'])
  })
})
